"""The two instants that the figures of a boot lie between."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.boot.boot import Boot


@dataclass(frozen=True)
class Window:
    """From one named instant to another, in nanoseconds of the boot's clock."""

    first: str
    first_ns: int
    last: str
    last_ns: int

    @property
    def length_ns(self) -> int:
        """The time between the two."""
        return self.last_ns - self.first_ns


def window(boot: Boot) -> Window:
    """From the first mark of a boot to its last one; of a boot that failed, or has no mark, to the end of its record.

    >>> import firstlight
    >>> whole = window(firstlight.open(bundle))
    >>> whole.first, whole.last, whole.length_ns
    ('power_on', 'ready', 829882107)
    """
    marks = boot.marks().filter(pl.col("time_ns").is_not_null()).sort("time_ns", maintain_order=True)
    names, times = marks["mark"].to_list(), marks["time_ns"].to_list()
    first, first_ns = (names[0], times[0]) if names else (boot.manifest.clock.origin, 0)
    if len(names) > 1 and boot.manifest.failure is None:
        return Window(first, first_ns, names[-1], times[-1])
    spans = boot.spans()
    figures = [boot.manifest.totals.virtual_ns, *times, spans["end_ns"].max(), spans["start_ns"].max()]
    if boot.log().height:
        figures.append(boot.log()["time_ns"].max())
    known = [figure for figure in figures if isinstance(figure, int)]
    return Window(first, first_ns, "the end of the record", max([first_ns, *known]))
