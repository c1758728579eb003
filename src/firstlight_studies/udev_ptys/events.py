"""Uevents as the observers of an arm saw them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl

from firstlight import FirstlightError
from firstlight.study import Boot, ImportOptions, MissingValue, import_records, open_boot, uevents

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


#: Of the kernel's list of timers: how far a clock is ahead of the monotonic one.
_AHEAD = re.compile(r"ktime_get_real\s+\.offset:\s+(\d+) nsecs")


def clock_ahead(text: str) -> int | None:
    """What the realtime clock is ahead of the monotonic one, in nanoseconds; `None` where it is unknown.

    >>> clock_ahead("  .get_time:   ktime_get_real\\n  .offset:     1777319331250000123 nsecs\\n")
    1777319331250000123
    """
    found = _AHEAD.search(text)
    return None if found is None else int(found[1])


def with_kernel_stamps(text: str, ahead_ns: int | None = None) -> str:
    """The lines of a log of udev with stamps as the kernel's messages have them.

    :param ahead_ns: what the clock of the stamps is ahead of the monotonic one, in which they then are; from the first
        whole second on when not given.

    >>> with_kernel_stamps("1777319336.250000 (61) ttyp0: Device processed (SEQNUM=9, ACTION=add)")
    '[    0.250000] systemd-udevd[61]: ttyp0: Device processed (SEQNUM=9, ACTION=add)'
    """
    found = [(line, _LINE.fullmatch(line)) for line in text.splitlines()]
    first = next((int(match[1]) for _, match in found if match is not None), 0)
    ahead = first * 1_000_000_000 if ahead_ns is None else ahead_ns

    def stamped(match: re.Match[str]) -> str:
        microseconds = max(0, (int(match[1]) * 1_000_000_000 + int(match[2]) * 1000 - ahead) // 1000)
        second, part = divmod(microseconds, 1_000_000)
        return f"[{second:5}.{part:06}] systemd-udevd[{match[3]}]: {match[4]}"

    # An import counts from a log's first line.
    origin = [] if ahead_ns is None else ["[    0.000000] the monotonic clock begins"]
    return "\n".join((*origin, *(line if match is None else stamped(match) for line, match in found)))


def observed(
    boot: Boot | MissingValue, record: str, scratch: Path, ahead_ns: int | None = None
) -> pl.DataFrame | MissingValue:
    """The uevents of a record that a guest left, as :func:`firstlight.analysis.uevents.uevents` has them.

    :param record: the name of the file: a monitor's output, or udev's debug log.
    :param scratch: where a bundle is made of it.
    :param ahead_ns: what the clock of a log is ahead of the monotonic one; see :func:`with_kernel_stamps`.
    """
    if isinstance(boot, MissingValue):
        return boot
    if not (content := boot.kept(record)):
        return MissingValue(f"the guest left no `{record}`")
    name = f"{boot.directory.stem}-{record}"
    taken, bundle = scratch / f"{name}.txt", scratch / f"{name}.boot"
    shutil.rmtree(bundle, ignore_errors=True)
    try:
        taken.write_text(with_kernel_stamps(content.decode(errors="replace"), ahead_ns), encoding="utf-8")
        import_records(ImportOptions([str(taken)], bundle))
        return uevents(open_boot(bundle))
    except FirstlightError as error:
        return MissingValue(f"`{record}`: {error.message}")
