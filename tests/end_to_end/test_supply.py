"""What is supplied really boots: the default initramfs, the probe for symbols, and a root in persistent memory.

QEMU is started directly here, without the launcher and without the plugin.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

from firstlight.assets import asset_path
from firstlight.lab.guest.report import Report, facts_from_report, read_report
from firstlight.lab.kernel.kernel import Kernel, default_kernel
from firstlight.lab.kernel.modules import modules_for
from firstlight.lab.rootfs.busybox import static_busybox
from firstlight.lab.rootfs.image import root_image
from firstlight.lab.rootfs.initramfs import GuestConfig, build_initramfs
from firstlight.recipe.isa.x86_64 import X86_64
from short_boots import SHORT

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(shutil.which(X86_64.qemu_binary) is None, reason="QEMU is not installed"),
]


@dataclass(frozen=True)
class Booted:
    """What a guest left behind."""

    console: bytes
    report: Report

    def facts(self) -> dict[str, str]:
        return dict(facts_from_report(self.report, self.console.decode(errors="replace")))


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return default_kernel()


def boot(folder: Path, kernel: Kernel, initrd: Path, *more: str, machine: str = "") -> Booted:
    folder.mkdir()
    command = [X86_64.qemu_binary, "-machine", f"{X86_64.machine},accel=tcg{machine}", "-cpu", X86_64.cpu]
    command += ["-m", "512M,slots=1,maxmem=4G", "-kernel", str(kernel.path), "-initrd", str(initrd)]
    command += ["-append", f"console={X86_64.console_device} nokaslr {SHORT}", "-nodefaults", "-no-user-config"]
    command += ["-display", "none", "-no-reboot", "-icount", "shift=0,sleep=off,align=off", "-seed", "1"]
    command += ["-rtc", "base=2024-01-01T00:00:00,clock=vm"]
    for name, file in (("console", "console.log"), ("report", "report.bin")):
        command += ["-chardev", f"file,id={name},path={folder / file}", "-serial", f"chardev:{name}"]
    subprocess.run([*command, *more], check=True, timeout=600, capture_output=True)
    return Booted((folder / "console.log").read_bytes(), read_report((folder / "report.bin").read_bytes()))


def boot_root(folder: Path, kernel: Kernel, members: Sequence[tuple[str, bytes]], config: GuestConfig) -> Booted:
    """Boot a root file system of the given programs and scripts."""
    source = folder.with_suffix(".tar")
    with tarfile.open(source, "w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755
            archive.addfile(info, BytesIO(content))
    image = root_image(source)
    before = image.digest
    initrd = build_initramfs(config, modules_for(kernel, X86_64.pmem_modules)).path
    memory = f"memory-backend-file,id=root,share=off,mem-path={image.path},size={image.size_bytes}"
    device = ("-object", memory, "-device", "nvdimm,memdev=root")
    booted = boot(folder, kernel, initrd, *device, machine=f",{X86_64.nvdimm_property}")
    assert root_image(source).digest == before
    return booted


def test_the_default_initramfs_boots_to_ready_and_reports_the_same_each_time(tmp_path: Path, kernel: Kernel) -> None:
    initrd = build_initramfs(GuestConfig()).path
    first, second = (boot(tmp_path / name, kernel, initrd) for name in ("first", "second"))
    assert first == second
    assert first.report.complete
    assert first.report.problems == []
    facts = first.facts()
    assert facts["kernel.release"] == kernel.release
    assert facts["kernel.command_line"] == f"console=ttyS0 nokaslr {SHORT}"
    assert "error" not in facts
    # The user land's own mounts show that its script ran.
    assert facts["mount./dev/shm"].startswith("tmpfs tmpfs rw,nosuid,nodev")
    assert facts["device.platform/serial8250"] == "serial8250"
    assert int(facts["memory.total_bytes"]) < int(facts["memory.present_bytes"]) <= 512 << 20
    lines = first.console.decode(errors="replace").splitlines()
    assert [line for line in lines if line.startswith("firstlight: ")] == ["firstlight: ready"]


def test_the_probe_reports_the_kernels_symbols(tmp_path: Path, kernel: Kernel) -> None:
    initrd = build_initramfs(GuestConfig(action="symbols")).path
    report = boot(tmp_path / "boot", kernel, initrd).report
    assert report.complete
    symbols = [line.split() for line in report.records["kallsyms"].decode().splitlines()]
    addresses = {words[2]: int(words[0], 16) for words in symbols}
    assert addresses["start_kernel"] > 0xFFFF_FFFF_8000_0000
    assert all(len(words) == 3 for words in symbols)


def test_a_root_in_persistent_memory_is_mounted_and_its_init_executed(tmp_path: Path, kernel: Kernel) -> None:
    # This init is not systemd, so it calls the helper itself, as the unit would.
    script = b"#!/bin/sh\necho init of the image >/dev/console\n/run/firstlight/guest ready &\nwait\n"
    members = [("bin/busybox", static_busybox().read_bytes()), ("sbin/init", script), ("bin/sh", b"")]
    members[2] = ("bin/sh", members[0][1])
    booted = boot_root(tmp_path / "boot", kernel, members, GuestConfig(root=X86_64.pmem_device))
    facts = booted.facts()
    assert b"init of the image" in booted.console
    assert facts["mount./"].startswith("/dev/pmem0 ext4 rw")
    assert {name for name in facts if name.startswith("module.")} == {
        "module.libnvdimm",
        "module.nd_btt",
        "module.nd_pmem",
        "module.nfit",
    }
    assert facts["mount./run"].startswith("tmpfs tmpfs rw")


def test_an_init_that_is_missing_is_reported_and_the_guest_powers_off(tmp_path: Path, kernel: Kernel) -> None:
    config = GuestConfig(root=X86_64.pmem_device, init="/sbin/absent")
    booted = boot_root(tmp_path / "boot", kernel, [("sbin/init", b"#!/bin/sh\n")], config)
    assert booted.facts()["error"] == "the new root has no `/sbin/absent`"
    assert b"firstlight: error: the new root has no `/sbin/absent`" in booted.console
    assert b"firstlight: ready" not in booted.console


def test_a_root_whose_device_never_comes_is_reported(tmp_path: Path, kernel: Kernel) -> None:
    initrd = build_initramfs(GuestConfig(root="/dev/absent")).path
    error = boot(tmp_path / "boot", kernel, initrd).facts()["error"]
    assert error == "`/dev/absent` did not appear within 30 s; are its modules loaded?"


def test_the_helper_outside_of_a_guest_says_how_it_is_used() -> None:
    for arguments in ([], ["fly"], ["ready", "a", "b"]):
        run = subprocess.run([asset_path("firstlight-guest"), *arguments], capture_output=True, text=True)
        assert run.returncode == 2
        assert run.stderr.startswith("usage: firstlight-guest ready")
