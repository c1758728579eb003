"""A boot that fails is recorded up to there; bad input is refused; nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import firstlight
from bundles import make_bundle
from firstlight.bundle.manifest import BootState, Failure
from firstlight.errors import UnhealthyBootError
from firstlight.lab.host.progress import SilentProgress, Snapshot
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.newc import Archive
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions
from short_boots import SHORT, short

pytestmark = pytest.mark.boot


def failing(options: RecordOptions, progress: SilentProgress | None = None) -> Failure:
    """Record a boot that fails; its bundle is whole all the same."""
    with pytest.raises(UnhealthyBootError) as error:
        record(options, progress)
    assert error.value.exit_code == 4
    boot = firstlight.open(options.output)
    assert boot.manifest.status == BootState.FAILED
    assert boot.manifest.failure is not None
    assert not boot.manifest.completeness.complete
    return boot.manifest.failure


@pytest.fixture
def idle_guest(tmp_path: Path) -> Path:
    """An initramfs of a person's own, which sleeps for ever."""
    archive = Archive()
    for directory in ("dev", "bin"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    archive.file("bin/busybox", static_busybox().read_bytes(), 0o755)
    archive.file("init", b"#!/bin/busybox sh\necho idle now\nexec /bin/busybox sleep 1000000\n", 0o755)
    path = tmp_path / "idle.cpio"
    path.write_bytes(archive.bytes())
    return path


def test_a_panic_is_recorded_with_its_last_lines_and_all_that_came_before(tmp_path: Path) -> None:
    failure = failing(short(output=tmp_path / "a.boot", append="rdinit=/nonexistent"))
    assert failure.reason == "panic"
    assert "Kernel panic - not syncing" in failure.detail
    assert any("end Kernel panic" in line for line in failure.console_tail)
    boot = firstlight.open(tmp_path / "a.boot")
    assert boot.marks()["mark"][-1] == "panic"
    assert boot.calls()["self_instructions"].sum() == boot.manifest.totals.instructions
    assert "kernel_start" in boot.marks()["mark"].to_list()


def test_a_guest_that_never_gets_ready_ends_by_virtual_time(tmp_path: Path, idle_guest: Path) -> None:
    options = short(output=tmp_path / "a.boot", initrd=idle_guest, ready="no such line", timeout_virtual_s=20)
    failure = failing(options)
    assert failure.reason == "virtual_timeout"
    assert "idle now" in failure.console_tail
    totals = firstlight.open(tmp_path / "a.boot").manifest.totals
    assert totals.virtual_ns is not None
    assert totals.idle_ns is not None
    assert totals.virtual_ns >= 20_000_000_000
    assert totals.idle_ns > totals.virtual_ns // 2


@pytest.mark.parametrize("timeout_virtual_s", [0.5, 0.7])
def test_a_recording_that_is_cut_by_virtual_time_is_reliable(tmp_path: Path, timeout_virtual_s: float) -> None:
    options = short(output=tmp_path / "a.boot", timeout_virtual_s=timeout_virtual_s)
    assert failing(options).reason == "virtual_timeout"
    invariants = firstlight.open(tmp_path / "a.boot").manifest.invariants
    assert {name for name, invariant in invariants.items() if not invariant.holds} == set()
    assert "entries_counted" in invariants


def test_a_hang_ends_by_the_wall_clock_with_what_was_attributed(tmp_path: Path) -> None:
    failure = failing(RecordOptions(output=tmp_path / "a.boot", timeout_wall_s=4))
    assert failure.reason == "wall_timeout"
    boot = firstlight.open(tmp_path / "a.boot")
    assert boot.calls()["self_instructions"].sum() > 0


class _Killer(SilentProgress):
    """Kills QEMU, as the kernel does when memory runs out, once the guest has printed something."""

    def boot(self, snapshot: Snapshot) -> None:
        if snapshot.console_bytes > 4000:
            for process in qemus_of(os.getpid()):
                os.kill(process, signal.SIGKILL)


def test_a_qemu_that_is_killed_leaves_a_failed_bundle(tmp_path: Path) -> None:
    failure = failing(RecordOptions(output=tmp_path / "a.boot"), _Killer())
    assert failure.reason == "qemu_died"
    assert "SIGKILL" in failure.detail
    boot = firstlight.open(tmp_path / "a.boot")
    assert "Linux version" in boot.log()["text"][0]
    assert "kernel_entry" in boot.phases()["phase"].to_list(), "a copy is kept where a phase begins"
    assert boot.calls()["self_instructions"].sum() > 0
    assert qemus_of(os.getpid()) == []


def test_the_exit_code_of_an_unhealthy_boot_is_4_and_the_bundle_is_there(tmp_path: Path) -> None:
    result = firstlight_command("record", "-o", "a.boot", "--timeout-wall", "2", "--no-profile", cwd=tmp_path)
    assert result.returncode == 4
    assert "error: a.boot: the boot failed (wall_timeout)" in result.stderr
    assert "hint: " in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.boot"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_and_no_bundle(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "firstlight", "record", "-o", "a.boot"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not (running := qemus_of(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        process.communicate(timeout=60)
    assert running
    assert process.returncode != 0
    # Interrupted in the very moment of the start, it is the kernel that ends QEMU, when we have ended.
    deadline = time.monotonic() + 30
    while (left := [pid for pid in running if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
    assert list(tmp_path.iterdir()) == []


def small_kernel(tmp_path: Path, size: int) -> Path:
    """The beginning of a real kernel."""
    path = tmp_path / "cut"
    path.write_bytes(default_kernel().path.read_bytes()[:size])
    return path


def loongarch_kernel(tmp_path: Path) -> Path:
    """The header of a kernel for a processor that Firstlight does not boot."""
    path = tmp_path / "vmlinux"
    path.write_bytes(b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HH", 2, 0x102) + bytes(100))
    return path


def kernel_without_code(tmp_path: Path) -> Path:
    """The header of a kernel for riscv64 that jumps to itself (`Documentation/arch/riscv/boot-image-header.rst`)."""
    path = tmp_path / "Image"
    path.write_bytes(struct.pack("<IIQQQQQQ4sI", 0x5A4D, 0x6F, 0, 1 << 24, 0, 2, 0, 0, b"RSC\x05", 0x40))
    return path


def lone_kernel(tmp_path: Path) -> Path:
    """The default kernel, away from its modules."""
    return Path(shutil.copy(default_kernel().path, tmp_path / "vmlinuz"))


def root(tmp_path: Path) -> Path:
    """A root file system with an init and nothing else."""
    (tmp_path / "root/sbin").mkdir(parents=True)
    shutil.copy(static_busybox(), tmp_path / "root/sbin/init")
    return tmp_path / "root"


def old_qemu(tmp_path: Path) -> Path:
    """A program that says that it is an old QEMU."""
    path = tmp_path / "qemu"
    path.write_text("#!/bin/sh\necho 'QEMU emulator version 6.2.0'\n")
    path.chmod(0o755)
    return path


def text_file(tmp_path: Path) -> Path:
    """Something that is neither kernel nor archive."""
    path = tmp_path / "text"
    path.write_text("hello\n" * 1000)
    return path


BAD_INPUT: dict[str, tuple[Callable[[Path], list[str]], int, str]] = {
    "missing kernel": (lambda there: ["--kernel", str(there / "none")], 2, "none"),
    "no kernel": (lambda there: ["--kernel", str(text_file(there))], 1, "kernel"),
    "truncated kernel": (lambda there: ["--kernel", str(small_kernel(there, 1 << 20))], 1, "truncated"),
    "kernel for another architecture": (lambda there: ["--kernel", str(loongarch_kernel(there))], 1, "LoongArch"),
    "kernel without code": (lambda there: ["--kernel", str(kernel_without_code(there))], 1, "no jump to the code"),
    "missing initramfs": (lambda there: ["--initrd", str(there / "none")], 2, "initramfs"),
    "no initramfs": (lambda there: ["--initrd", str(text_file(there))], 1, "initramfs"),
    "little memory": (lambda there: ["--memory", "40M"], 1, "not enough"),
    "bad memory": (lambda there: ["--memory", "lots"], 2, "`lots` is not a size"),
    "unknown machine": (lambda there: ["--machine", "pc-q35-99.9"], 2, "pc-q35-99.9"),
    "missing file of an option": (lambda there: ["--qemu-option=-bios", f"--qemu-option={there}/none"], 2, "none"),
    "machine without version": (lambda there: ["--machine", "q35"], 2, "breaks exactness"),
    "unknown processor": (lambda there: ["--cpu", "nonsense"], 2, "nonsense"),
    "no QEMU": (lambda there: ["--qemu", str(there / "none")], 2, "there is no QEMU"),
    "old QEMU": (lambda there: ["--qemu", str(old_qemu(there))], 1, "too old"),
    "disk": (lambda there: ["--qemu-option=-hda", "--qemu-option=a.img"], 2, "breaks exactness"),
    "missing root": (lambda there: ["--rootfs", str(there / "none")], 2, "none"),
    "kernel whose modules are elsewhere": (
        lambda there: ["--kernel", str(lone_kernel(there)), "--rootfs", str(root(there)), "--ready", "up"],
        1,
        "`nd_pmem`",
    ),
    "initramfs and a root that the kernel mounts": (
        lambda there: ["--initrd", "a", "--root-as", "ext4"],
        2,
        "cannot be combined",
    ),
    "bad pattern": (lambda there: ["--ready", "("], 2, "regular expression"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_refused_with_a_hint_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    arguments, exit_code, says = BAD_INPUT[case]
    there, here = tmp_path / "inputs", tmp_path / "work"
    there.mkdir()
    here.mkdir()
    result = firstlight_command("record", "-o", "a.boot", *arguments(there), cwd=here)
    assert result.returncode == exit_code, result.stderr
    assert "error: " in result.stderr
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert list(here.iterdir()) == []


def test_a_truncated_initramfs_is_refused_before_the_boot(tmp_path: Path, idle_guest: Path) -> None:
    idle_guest.write_bytes(idle_guest.read_bytes()[:-3000])
    result = firstlight_command("record", "-o", "a.boot", "--initrd", str(idle_guest), cwd=tmp_path)
    assert result.returncode == 1
    assert "truncated" in result.stderr
    assert not (tmp_path / "a.boot").exists()


def test_a_bundle_is_not_overwritten_without_force(short_boot: Path) -> None:
    before = (short_boot / "manifest.json").read_bytes()
    result = firstlight_command("record", "-o", str(short_boot), cwd=short_boot.parent)
    assert result.returncode == 1
    assert "hint: give `--force` to replace it" in result.stderr
    assert (short_boot / "manifest.json").read_bytes() == before


def test_a_file_that_an_option_names_is_an_input_that_verify_knows(tmp_path: Path, idle_guest: Path) -> None:
    (tmp_path / "table").write_text("one")
    options = ["--qemu-option=-fw_cfg", "--qemu-option=name=opt/a,file=table"]
    own = ["--initrd", str(idle_guest), "--ready", "idle now", "--no-profile"]
    assert firstlight_command("record", "-o", "a.boot", *own, *options, cwd=tmp_path).returncode == 0
    (tmp_path / "table").write_text("two")
    result = firstlight_command("verify", str(tmp_path / "a.boot"), cwd=Path("/"))
    assert result.returncode == 1
    assert "not booted, an input differs from the recorded one" in result.stdout
    assert f"option:-fw_cfg name=opt/a,file={tmp_path}/table: " in result.stdout


def test_with_force_a_bundle_is_replaced_and_an_own_initramfs_ends_at_its_line(
    tmp_path: Path, idle_guest: Path
) -> None:
    bundle = make_bundle(tmp_path)
    options = short(output=bundle, force=True, initrd=idle_guest, ready="^idle now", profile=False)
    record(replace(options, append=f"{SHORT} quiet"))
    boot = firstlight.open(bundle)
    # Nothing printed it, and no guest reported it.
    assert boot.manifest.versions["kernel"] == default_kernel().release
    assert boot.log()["text"][-1] == "idle now"
    assert boot.manifest.completeness.missing == [
        "marks and phases: without a profile they come from the guest's report",
    ]
    assert [path.name for path in tmp_path.glob("*.boot")] == [bundle.name]


def firstlight_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person does."""
    command = [sys.executable, "-m", "firstlight", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def qemus_of(parent: int) -> list[int]:
    """The QEMU processes below a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if int(rest.split()[1]) == parent and name.startswith("qemu-system"):
            found.append(int(path.parent.name))
    return found
