"""The wording of evidence: times with their share of the boot, names and lines."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.advise.observed import Observed
from firstlight.escape import printable
from firstlight.quantities import share_text, time_text

_SHOWN = 160


def takes(observed: Observed, ns: int) -> str:
    """A time in nanoseconds, with its share of the boot."""
    return f"{time_text(ns)} ({share_text(ns, observed.whole_ns)})" if observed.whole_ns else time_text(ns)


def names_text(names: Sequence[str]) -> str:
    """The first three of some names.

    >>> names_text(["a", "b", "a", "c", "d", "e"])
    '`a`, `b`, `c` and 2 more'
    """
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - 3} more" if len(unique) > 3 else ""
    return ", ".join(f"`{shown(name)}`" for name in unique[:3]) + more


def shown(text: str) -> str:
    """A line or name as a terminal may show it, cut where it is long."""
    return printable(text, _SHOWN)
