"""The kernel's symbols, read from the running kernel once per kernel."""

from __future__ import annotations

import tempfile
from pathlib import Path

from firstlight.cache import entry, entry_damage, place
from firstlight.errors import LabError
from firstlight.lab.guest.report import read_report
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.kernel.system_map import chosen_symbols
from firstlight.lab.qemu.command_line import RunFiles, check_memory, kernel_command_line
from firstlight.lab.qemu.confinement import launch
from firstlight.lab.qemu.console import last_lines
from firstlight.lab.qemu.emulator import Qemu
from firstlight.lab.rootfs.initramfs import GuestConfig, build_initramfs
from firstlight.lab.run.runner import Watch, run
from firstlight.recipe.choices import Choices
from firstlight.recipe.recipe import Files, Recipe
from firstlight.schema.records import FailureReason

_NAME = "kallsyms"
_TIMEOUT_S = 300.0


def known_symbols(kernel: Kernel) -> Path | None:
    """The symbols of a kernel that was asked for them before; nothing of any other."""
    if entry_damage("symbols", kernel.digest) is not None:
        return None
    return place("symbols", kernel.digest) / _NAME


def kernel_symbols(kernel: Kernel, qemu: Qemu, progress: Progress | None = None, timeout_s: float = _TIMEOUT_S) -> Path:
    """The symbols of a kernel at the addresses that it has with `nokaslr`, in the form of `/proc/kallsyms`.

    Distributions do not ship them beside the kernel, so a probe boot without instruction counting prints them on the
    second serial port. Of a kernel that has none, or keeps their addresses, the `System.map` beside it is taken. Cached
    by the kernel's digest.

    :param timeout_s: how long the probe may take on the host, five minutes at most.
    :raises LabError: when the probe does not boot, the kernel has no `/proc/kallsyms`, or its symbols do not say where
        its code begins and ends.
    """

    def probe(directory: Path) -> None:
        (progress or SilentProgress()).step("asking the kernel for its symbols (once for each kernel)")
        (directory / _NAME).write_bytes(_probe(kernel, qemu, min(timeout_s, _TIMEOUT_S)))

    return entry("symbols", kernel.digest, probe) / _NAME


def _probe(kernel: Kernel, qemu: Qemu, timeout_s: float) -> bytes:
    architecture = kernel.architecture
    initramfs = build_initramfs(GuestConfig.of(architecture, action="symbols"))
    recipe = Recipe(
        architecture=architecture.name,
        machine=architecture.machine,
        cpu=architecture.cpu,
        memory=512 << 20,
        # A kernel with threaded interrupts would give up the port when so much is written to it.
        command_line=kernel_command_line(architecture, "quiet noirqdebug"),
        chosen=Choices(live=True),
        files=Files(kernel=kernel.path.absolute(), initrd=initramfs.path, qemu=qemu.path),  # QEMU runs elsewhere
    )
    check_memory(recipe)
    with tempfile.TemporaryDirectory(prefix="firstlight-symbols-") as directory:
        files = RunFiles(Path(directory))
        outcome = run(launch(qemu, recipe, files), files, Watch(timeout_s, profile=False, report=True))
    report = read_report(outcome.report)
    symbols = report.records.get("kallsyms", b"")
    chosen = chosen_symbols(kernel, symbols if report.complete else b"")
    if chosen is None:
        said = report.records.get("error", b"").decode(errors="replace").strip()
        detail = said or outcome.detail or "the guest said nothing"
        if symbols:
            detail = "its `/proc/kallsyms` has no addresses"
        tail = "".join(f"\n  {line}" for line in last_lines(outcome.console, 5))
        raise LabError(
            f"the kernel did not print its symbols: {detail}{tail}",
            where=str(kernel.path),
            hint="raise `--timeout`, or record with `--no-profile`"
            if outcome.reason == FailureReason.WALL_TIMEOUT and timeout_s < _TIMEOUT_S
            else "record with `--no-profile`, put the kernel's own `System.map` next to it, or use a kernel with "
            "CONFIG_KALLSYMS",
        )
    return chosen
