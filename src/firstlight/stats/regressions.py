"""Regressions of a series: the changes for the worse that no later change took back, and what remains of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from firstlight.stats.change_points import FENCE, ChangePoint


def regressions(changes: Sequence[ChangePoint]) -> list[ChangePoint]:
    """The changes for the worse whose former level no later step reached again.

    A level is reached again within the fence of the series and a third of the change: a wide fence is one of single
    points. Where a later step took a part back, `remains` is the rest.

    >>> rise = ChangePoint(1, 100, 110, 0.1, "lasts", "large", 2, "")
    >>> regressions([rise]) == [rise], regressions([rise, ChangePoint(3, 110, 100, -0.09, "lasts", "large", 2, "")])
    (True, [])
    >>> [each.remains for each in regressions([rise, ChangePoint(3, 110, 103, -0.06, "lasts", "large", 2, "")])]
    [0.03]
    """
    found = []
    for number, change in enumerate(changes):
        steps = [each for each in changes[number + 1 :] if each.kind == change.kind == "step"]
        # One point that went back again took nothing back; several are a machine that alternates.
        back = [each for each in steps if each.went_back]
        later = [each.after for each in steps if len(back) > 1 or each not in back]
        lowest = min(later, default=change.after)
        fence = change.before * math.expm1(change.fence)
        near = max(change.before * FENCE, min(fence, (change.after - change.before) / 3))
        returned = change.went_back or (bool(later) and lowest <= change.before + near)
        if change.rises and not returned:
            partly = lowest < change.after and change.before
            found.append(replace(change, remains=round(lowest / change.before - 1, 6)) if partly else change)
    return found
