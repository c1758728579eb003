"""The whole of two boots: virtual nanoseconds, instructions and idle, three figures apart."""

from __future__ import annotations

from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.rows import Row, RowDelta
from firstlight.recipe.mode import RecordMode


def whole(a: Boot, b: Boot) -> Row:
    """Both boots from their first mark to their last one.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> whole(boot, boot).a
    RowDelta(ns=829882107, instructions=705881580, idle_ns=124000527, calls=None)
    """
    return Row("all", _whole(a), _whole(b), kind="whole")


def _whole(boot: Boot) -> RowDelta:
    totals = boot.manifest.totals
    if boot.manifest.mode == RecordMode.EXACT and totals.virtual_ns is not None:
        return RowDelta(totals.virtual_ns, totals.instructions, totals.idle_ns)
    # Other recordings go on after their last mark; what they count, if they count, is no part of the window.
    return RowDelta(window(boot).length_ns)
