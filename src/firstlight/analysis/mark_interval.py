"""How long a boot took between two marks: virtual time, instructions and idle time, apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.bundle.reliability import check_reliable
from firstlight.errors import BundleError
from firstlight.suggest import unknown_name


@dataclass(frozen=True)
class IntervalMeasurement:
    """The figures of one boot between two marks, in whole nanoseconds of its clock and whole instructions."""

    first: str
    last: str
    time_ns: int
    instructions: int | None
    idle_ns: int | None


def measure(boot: Boot, first: str | None = None, last: str | None = None) -> IntervalMeasurement:
    """Measure a boot from one mark to another.

    :param first: a mark; the boot's first one when not given.
    :param last: a mark; the boot's last one when not given.
    :raises BundleError: when the boot has no such mark, or never reached it, or its figures are not reliable.

    >>> import firstlight
    >>> measure(firstlight.open(bundle)).time_ns
    829882107
    """
    marks = [row for row in boot.marks().iter_rows(named=True) if row["time_ns"] is not None]
    where = str(boot.directory)
    check_reliable(boot.manifest, where, Concern.EVERYTHING)
    if len(marks) < 2:
        raise BundleError("it has fewer than two marks to measure between", where=where)
    by_name: dict[str, dict[str, Any]] = {}
    for row in marks:
        by_name.setdefault(row["mark"], row)
    names = list(by_name)
    for name in (first, last):
        if name is not None:
            unknown_name("mark", name, names, where)
    begin = by_name[first] if first is not None else marks[0]
    end = by_name[last] if last is not None else marks[-1]
    time_ns = end["time_ns"] - begin["time_ns"]
    if time_ns <= 0:
        raise BundleError(f"mark `{end['mark']}` does not come after `{begin['mark']}`", where=where)

    def between(column: str) -> int | None:
        return None if None in (begin[column], end[column]) else end[column] - begin[column]

    return IntervalMeasurement(begin["mark"], end["mark"], time_ns, between("instructions"), between("idle_ns"))
