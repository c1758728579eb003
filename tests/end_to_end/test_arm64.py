"""An arm64 boot is equal each time, with the minimal guest and with one program of a few instructions."""

from __future__ import annotations

import hashlib
import shutil
import struct
from pathlib import Path

import polars as pl
import pytest

import firstlight
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.errors import LabError
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions
from other_guests import (
    SCRIPT,
    assert_all_hold,
    assert_as_long,
    assert_minimal_guest_came_up,
    assert_profile_is_sound,
    assert_ran_script,
    boots_of,
)

pytestmark = boots_of("arm64")

BASE = 0x40_0000
WRITE, REBOOT = 64, 142
POWER_OFF = (0xFEE1_DEAD, 672_274_793, 0x4321_FEDC)


def set_register(register: int, value: int) -> bytes:
    """`movz` and `movk` of a value of 32 bits."""
    low, high = value & 0xFFFF, value >> 16
    return struct.pack("<II", 0xD280_0000 | low << 5 | register, 0xF2A0_0000 | high << 5 | register)


def system_call(number: int, *arguments: int) -> bytes:
    registers = [*enumerate(arguments), (8, number)]
    return b"".join(set_register(*each) for each in registers) + struct.pack("<I", 0xD400_0001)


def program(text: bytes) -> bytes:
    """An ELF file that prints a text and powers off."""
    header = 64 + 56
    length = len(system_call(WRITE, 1, 0, 0)) + len(system_call(REBOOT, *POWER_OFF))
    code = system_call(WRITE, 1, BASE + header + length, len(text)) + system_call(REBOOT, *POWER_OFF) + text
    size = header + len(code)
    elf = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 0xB7, 1, BASE + header, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return elf + struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, size, size, 0x1000) + code


def member(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    fields = (1, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % each for each in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)


@pytest.fixture
def initramfs(tmp_path: Path) -> Path:
    path = tmp_path / "initramfs"
    path.write_bytes(
        member("dev", 0o040755)
        + member("dev/console", 0o020600, device=(5, 1))
        + member("init", 0o100755, program(b"the guest is up\n"))
        + member("TRAILER!!!", 0)
    )
    return path


def record(output: Path, initramfs: Path) -> bytes:
    options = RecordOptions(output, arch="arm64", initrd=initramfs, ready="the guest is up", profile=False)
    boot = firstlight.record_with(options)
    assert boot.manifest.mode == "exact"
    return (output / "raw/console.log").read_bytes()


def test_two_boots_print_the_same_bytes_at_the_same_times(tmp_path: Path, initramfs: Path) -> None:
    first = record(tmp_path / "a.boot", initramfs)
    assert b"the guest is up" in first
    assert b"crng init done" in first
    assert record(tmp_path / "b.boot", initramfs) == first


def test_the_minimal_guest_is_equal_each_time_and_a_profile_changes_nothing(tmp_path: Path) -> None:
    boot, _ = (firstlight.record_with(RecordOptions(tmp_path / f"{name}.boot", arch="arm64")) for name in ("a", "b"))
    plain = firstlight.record_with(RecordOptions(tmp_path / "plain.boot", arch="arm64", profile=False))
    one, other = tmp_path / "a.boot", tmp_path / "b.boot"
    assert_equal(one, other)
    assert_undisturbed(one, tmp_path / "plain.boot")
    # The guest's own clock has a period of 16 ns.
    assert_as_long(boot, plain, 16)
    assert_minimal_guest_came_up(plain, "aarch64", b"Machine model: linux,dummy-virt")
    assert plain.marks()["mark"].to_list() == ["power_on", "ready"]
    marks, invariants = assert_profile_is_sound(boot), boot.manifest.invariants
    assert invariants["returns_matched"].value == 0
    assert invariants["frames_returned"].value == 0
    assert invariants["entries_counted"].value == 0
    assert invariants["registers_confirmed"].value == 0
    assert marks[:3] == ["power_on", "kernel_entry", "kernel_start"]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    output = tmp_path_factory.mktemp("arm64") / "script.boot"
    return firstlight.record_with(RecordOptions(output, arch="arm64", guest_commands=(SCRIPT,), user_functions=True))


def test_processes_and_their_system_calls_are_those_of_the_script(script: Boot) -> None:
    calls = assert_ran_script(script)
    copied = calls.filter(pl.col("name").is_in(["read", "sendfile"]), pl.col("argument_0") != 0)["result"]
    assert len("hello\n") in copied.to_list()


def test_all_of_user_mode_is_placed_in_files(script: Boot) -> None:
    functions = script.user_functions()
    entry = script.marks().filter(pl.col("mark") == "kernel_entry")["instructions"].item()
    assert script.processes()["instructions"].sum() + entry == script.manifest.totals.instructions
    assert functions["self_instructions"].sum() == script.processes()["user_instructions"].sum()
    assert set(functions["kind"]) <= {"file", "vdso", "anonymous"}
    # Programs of arm64 need not describe where their functions begin.
    placed = functions.filter(pl.col("kind") == "file", pl.col("offset").is_not_null())
    assert int(placed["self_instructions"].sum()) > 0.99 * int(functions["self_instructions"].sum())


def test_following_user_code_changes_nothing_and_is_equal_each_time(script: Boot, tmp_path: Path) -> None:
    again = RecordOptions(tmp_path / "a.boot", arch="arm64", guest_commands=(SCRIPT,), user_functions=True)
    plain = RecordOptions(tmp_path / "b.boot", arch="arm64", guest_commands=(SCRIPT,), profile=False)
    firstlight.record_with(again)
    firstlight.record_with(plain)
    assert_equal(script.directory, tmp_path / "a.boot")
    assert_undisturbed(script.directory, tmp_path / "b.boot")


def test_arguments_and_results_of_kernel_functions_are_those_of_the_system_calls(script: Boot) -> None:
    answers = firstlight.ask(script.directory, "do_sys_openat2(dfd, filename, how->flags:u64)", results=True)
    assert answers.unaffected, answers.differences
    opened = script.system_calls().filter(pl.col("name") == "openat")
    columns = ["path", "result", "pid"]
    asked = answers.rows.select(pl.col("filename").alias("path"), "result", pl.col("tgid").alias("pid"))
    assert asked.rows() == opened.select(columns).rows()


INIT = """#!/bin/sh
/bin/busybox mount -t proc proc /proc
/bin/busybox grep ' / ' /proc/mounts
/bin/busybox cp /bin/busybox /copy
/bin/busybox md5sum /copy
echo the root is up
/bin/busybox poweroff -f
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root file system of one program."""
    tree = tmp_path_factory.mktemp("root")
    for name in ("bin", "sbin", "dev", "proc", "sys"):
        (tree / name).mkdir()
    shutil.copy(static_busybox(architecture_of("aarch64")), tree / "bin/busybox")
    (tree / "bin/sh").symlink_to("busybox")
    (tree / "sbin/init").write_text(INIT)
    (tree / "sbin/init").chmod(0o755)
    return tree


def test_a_root_file_system_in_memory_is_mounted_and_equal_each_time(root: Path, tmp_path: Path) -> None:
    def boot(name: str, profile: bool = True) -> Boot:
        output = tmp_path / name
        ready = "the root is up"
        return firstlight.record_with(
            RecordOptions(output, arch="arm64", rootfs=str(root), ready=ready, memory="512M", profile=profile)
        )

    first, _ = boot("a.boot"), boot("b.boot")
    boot("plain.boot", profile=False)
    console = (tmp_path / "a.boot/raw/console.log").read_text(errors="replace")
    assert "/dev/pmem0 / ext4 rw" in console
    assert hashlib.md5((root / "bin/busybox").read_bytes()).hexdigest() in console
    assert_all_hold(first)
    assert "/bin/sh /sbin/init" in first.processes()["arguments"].to_list()
    modules = first.functions().filter(pl.col("module").is_not_null())
    assert {"of_pmem", "nd_pmem", "libnvdimm"} <= set(modules["module"])
    assert "pmem_submit_bio" in modules["function"].to_list()
    assert set(first.manifest.digests) >= {"image", "device tree"}
    assert_equal(tmp_path / "a.boot", tmp_path / "b.boot")
    assert_undisturbed(tmp_path / "a.boot", tmp_path / "plain.boot")


def test_user_mode_is_seen_behind_the_trampoline_of_page_table_isolation(tmp_path: Path) -> None:
    def user(append: str) -> set[str]:
        boot = firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="arm64", append=append, force=True))
        assert all(invariant.holds for invariant in boot.manifest.invariants.values())
        functions = boot.functions()["function"].to_list()
        return {name for name in functions if name.startswith("[user ")}

    assert user("kpti=on") == user("")


def test_a_console_line_of_the_users_choice_ends_the_recording(tmp_path: Path) -> None:
    boot = firstlight.record_with(RecordOptions(tmp_path / "a.boot", arch="arm64", ready="Run /init as init process"))
    assert boot.marks()["mark"].to_list()[-1] == "ready"
    assert boot.log()["time_ns"].is_not_null().any()


def test_a_command_of_the_minimal_guest_runs(tmp_path: Path) -> None:
    options = RecordOptions(
        tmp_path / "a.boot", arch="arm64", profile=False, guest_commands=("uname -m >/dev/console",)
    )
    assert "\naarch64" in "\n".join(firstlight.record_with(options).log()["text"])


def test_a_kernel_of_another_architecture_is_named(tmp_path: Path) -> None:
    kernel = tmp_path / "Image"
    kernel.write_bytes((0x1400_0010).to_bytes(4, "little") + bytes(0x34) + b"ARM\x64" + bytes(100))
    with pytest.raises(LabError, match="this is a kernel for aarch64, not for x86_64"):
        firstlight.record_with(RecordOptions(tmp_path / "a.boot", kernel=kernel, arch="amd64"))
