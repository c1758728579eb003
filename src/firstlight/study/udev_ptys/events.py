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

#: Masters `pty..` and slaves `tty..` of the legacy kind: a letter of the bank, and the number in it.
_LEGACY = re.compile(r"(?:^|/)[pt]ty[a-ep-z][0-9a-f]$")


def is_legacy(device: str) -> bool:
    """Whether a device is half of a legacy pseudo-terminal.

    >>> [is_legacy(name) for name in ("/devices/virtual/tty/ptyp0", "ttyef", "ttyS0", "tty1", "pts")]
    [True, True, False, False, False]
    """
    return _LEGACY.search(device) is not None


def observed(boot: Boot | Hole, record: str, scratch: Path) -> pl.DataFrame | Hole:
    """The uevents of a record that a guest left, as :func:`firstlight.analysis.uevents.uevents` has them.

    :param record: the name of the file: a monitor's output, or udev's debug log.
    :param scratch: where a bundle is made of it.
    """
    if isinstance(boot, Hole):
        return boot
    if not boot.kept(record):
        return Hole(f"the guest left no `{record}`")
    bundle = scratch / f"{boot.path.stem}-{record}.boot"
    shutil.rmtree(bundle, ignore_errors=True)
    try:
        import_records(ImportOptions([str(boot.path / "raw" / "kept" / record)], bundle))
        return uevents(open_boot(bundle))
    except FirstlightError as error:
        return Hole(f"`{record}`: {error.message}")
