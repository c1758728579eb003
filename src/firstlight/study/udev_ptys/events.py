"""Uevents as the observers of an arm saw them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl

from firstlight.analysis.uevents import uevents
from firstlight.boot.boot import Boot
from firstlight.boot.open import open as open_boot
from firstlight.errors import FirstlightError
from firstlight.intake.importing import ImportOptions, import_records
from firstlight.study.table import Hole

#: A line of udev's log: when it was read, who said it, and what.
_LINE = re.compile(r"(\d+)\.(\d{6}) \((\d+)\) (.*)")
#: Masters `pty..` and slaves `tty..` of the legacy kind: a letter of the bank, and the number in it.
_LEGACY = re.compile(r"(?:^|/)[pt]ty[a-ep-z][0-9a-f]$")


def is_legacy(device: str) -> bool:
    """Whether a device is half of a legacy pseudo-terminal.

    >>> [is_legacy(name) for name in ("/devices/virtual/tty/ptyp0", "ttyef", "ttyS0", "tty1", "pts")]
    [True, True, False, False, False]
    """
    return _LEGACY.search(device) is not None


def with_kernel_stamps(text: str) -> str:
    """The lines of a log of udev with stamps as the kernel's messages have them, from the first whole second on.

    >>> with_kernel_stamps("1777319336.250000 (61) ttyp0: Device processed (SEQNUM=9, ACTION=add)")
    '[    0.250000] systemd-udevd[61]: ttyp0: Device processed (SEQNUM=9, ACTION=add)'
    """
    found = [(line, _LINE.fullmatch(line)) for line in text.splitlines()]
    first = next((int(match[1]) for _, match in found if match is not None), 0)
    return "\n".join(
        line if match is None else f"[{int(match[1]) - first:5}.{match[2]}] systemd-udevd[{match[3]}]: {match[4]}"
        for line, match in found
    )


def observed(boot: Boot | Hole, record: str, scratch: Path) -> pl.DataFrame | Hole:
    """The uevents of a record that a guest left, as :func:`firstlight.analysis.uevents.uevents` has them.

    :param record: the name of the file: a monitor's output, or udev's debug log.
    :param scratch: where a bundle is made of it.
    """
    if isinstance(boot, Hole):
        return boot
    if not (content := boot.kept(record)):
        return Hole(f"the guest left no `{record}`")
    name = f"{boot.path.stem}-{record}"
    taken, bundle = scratch / f"{name}.txt", scratch / f"{name}.boot"
    shutil.rmtree(bundle, ignore_errors=True)
    try:
        taken.write_text(with_kernel_stamps(content.decode(errors="replace")), encoding="utf-8")
        import_records(ImportOptions([str(taken)], bundle))
        return uevents(open_boot(bundle))
    except FirstlightError as error:
        return Hole(f"`{record}`: {error.message}")
