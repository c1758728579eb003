"""The two instants that the figures of a boot lie between."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.schema.marks import MarkSource

_OWN_MARK = MarkSource.INSTRUCTION


@dataclass(frozen=True)
class Window:
    """From one named instant to another, in nanoseconds of the boot's clock."""

    first: str
    first_ns: int
    last: str
    last_ns: int
    ended_by: str | None = None
    """What the end was seen by, of a recording that somebody's own condition ended."""

    @property
    def end(self) -> str:
        """The last instant in full: two ends are the same only when this is.

        >>> Window("power_on", 0, "ready", 7, "console:login:").end
        'ready (console:login:)'
        """
        return self.last if self.ended_by is None else f"{self.last} ({self.ended_by})"

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
        # Without a profile nobody stamps the line that ended the recording: the mark is the guest's own.
        chosen = names[-1] == "ready" and marks["source"][-1] != "guest"
        return Window(first, first_ns, names[-1], times[-1], _condition(boot) if chosen else None)
    spans = boot.spans()
    figures = [boot.manifest.totals.virtual_ns, *times, spans["end_ns"].max(), spans["start_ns"].max()]
    if boot.log().height:
        figures.append(boot.log()["time_ns"].max())
    known = [figure for figure in figures if isinstance(figure, int)]
    return Window(first, first_ns, "the end of the record", max([first_ns, *known]))


def _condition(boot: Boot) -> str | None:
    """The condition that `record --ready` was given; the guest's own mark is nobody's choice."""
    condition = boot.manifest.recipe_text("ready")
    return None if condition == _OWN_MARK else condition
