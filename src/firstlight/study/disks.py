"""Disks that are there before the boot: images in persistent memory, written once by a preparing boot."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight.cache import digest_of, entry, place
from firstlight.errors import LabError
from firstlight.lab.guest.report import Report, read_report
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.qemu.command_line import RunFiles, check_memory, quote_value
from firstlight.lab.run.record import run_exact
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import FailureReason

_KIND = "prepared"
#: Raised when another way of preparing gives other disks.
_VERSION = "1"
_SAID = "prepared"


@dataclass(frozen=True)
class Disk:
    """An image as the preparing boot finds it."""

    name: str
    """Of its file."""
    size: int
    """Bytes, a multiple of 2 MiB."""
    fill: Callable[[Path], None] | None = None
    """Writes into the file, which has its size and holds zeros; what it does belongs in *key*."""
    key: str = ""
    """What decides what *fill* writes."""


def attach(disks: Sequence[Path], *, keep: bool = False) -> tuple[str, ...]:
    """Words of QEMU's command line that give a guest images as persistent memory, one above the other.

    Their physical addresses (`/sys/block/pmem0/device/resource`) ascend in this order, above a root's. The numbers in
    their names are given in the order of the firmware's table, into which QEMU puts them by a hash of their
    identifiers: several disks have to be distinguished by their addresses, or by what they hold.

    :param keep: what the guest writes stays in the files; else each boot finds them as they were.
    """
    words: list[str] = []
    for number, disk in enumerate(disks, 1):
        backend = f"memory-backend-file,id=disk{number},share={'on' if keep else 'off'},size={disk.stat().st_size}"
        words += ["-object", f"{backend},mem-path={quote_value(str(disk))}"]
        words += ["-device", f"nvdimm,id=nvdimm{number},memdev=disk{number}"]
    return tuple(words)


def prepare(
    options: RecordOptions,
    disks: Iterable[Disk],
    progress: Progress | None = None,
    *,
    crash: bool = False,
    fresh: bool = False,
) -> tuple[Path, ...]:
    """Let a guest write to disks, once; they are kept by the digest of all that decides what it writes.

    The guest has to leave a file `prepared` with the text `yes` in `/run/firstlight/export`: without it the disks are
    not what was asked for. The boot counts instructions like any other, so that the disks are the same whenever they
    are made: random numbers and dates in them, too.

    :param options: of the preparing boot, without the disks; where its bundle would go is not looked at.
    :param crash: the guest shall say `prepared` on its console instead, and then reset the machine (`echo b
        >/proc/sysrq-trigger`), so that the disks are those of a system that was not shut down.
    :param fresh: let it write again what was kept.
    :returns: the images in the order of *disks*; use them by :func:`attach`.
    :raises LabError: when the guest does not come up, or does not say that it is done; with what it said last.
    """
    progress = progress or SilentProgress()
    wanted = list(disks)
    # The profile is only for looking at, and costs time.
    options = replace(options, profile=False)
    inputs = resolve(options, progress)
    about = (f"{disk.name} {disk.size} {disk.key}" for disk in wanted)
    digest = digest_of(_VERSION, *(["crash"] if crash else []), inputs.key, *about)
    if fresh:
        shutil.rmtree(place(_KIND, digest), ignore_errors=True)
    folder = entry(_KIND, digest, lambda folder: _make(folder, inputs, wanted, progress, crash=crash))
    return tuple(folder / disk.name for disk in wanted)


def _make(folder: Path, inputs: Inputs, disks: Sequence[Disk], progress: Progress, *, crash: bool) -> None:
    for disk in disks:
        path = folder / disk.name
        with path.open("xb") as file:
            file.truncate(disk.size)
        if disk.fill is not None:
            disk.fill(path)
    words = attach([folder / disk.name for disk in disks], keep=True)
    recipe = inputs.recipe.choosing(qemu_options=(*inputs.recipe.chosen.qemu_options, *words))
    check_memory(recipe)
    progress.step("preparing disks")
    with tempfile.TemporaryDirectory(prefix="firstlight-prepare-") as directory:
        outcome = run_exact(replace(inputs, recipe=recipe), RunFiles(Path(directory)), progress)
    report = read_report(outcome.report)
    if crash:
        done = outcome.reason == FailureReason.NEVER_READY and _SAID.encode() in outcome.console.splitlines()
    else:
        done = outcome.reason is None and _said_so(report)
    if not done:
        said = "; ".join(outcome.console_tail()[-3:])
        why = outcome.detail or report.text("kept.errors") or said
        raise LabError(f"the disks cannot be prepared: {why}")


def _said_so(report: Report) -> bool:
    return report.kept().get(_SAID, b"").strip() == b"yes"
