"""The verdict of one session: from two arms' times and the order in which they were recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from firstlight.stats.estimate import Estimate, Floats, paired, unpaired
from firstlight.stats.order import Bools, OrderEffect, order_effect, without_order_effect
from firstlight.stats.sample_size import robust_sigma
from firstlight.stats.significance import Significance, paired_p, unpaired_p
from firstlight.stats.verdict import Verdict, VerdictThresholds, decide

_IF_UNCHANGED = "it holds only if the machine did not change between the arms, as the order is unknown"


@dataclass(frozen=True)
class Session:
    """Two arms as logarithms of their times, and what is known of the order of recording."""

    a: Floats
    b: Floats
    """With pairs, place by place those of *a*."""
    paired: bool
    in_turns: bool | None
    """Whether boots of both arms took turns; None where the order is unknown."""
    a_first: Bools | None = None
    """Of each pair whether the boot of a was recorded first; None where that is unknown."""

    @property
    def order_doubt(self) -> str | None:
        """Why the order of recording may be all of a change; None where it is not, or where it is unknown."""
        if self.in_turns is False:
            return "the arms were not recorded in turns: a change of the machine could cause the difference or hide one"
        if self.paired and self.a_first is not None and order_effect(self.b - self.a, self.a_first, 1).is_fixed:
            first = "A" if self.a_first.mean() > 0.5 else "B"
            return f"{first} was recorded first in nearly every pair: the order could cause the difference or hide one"
        return None


@dataclass(frozen=True)
class Headline:
    """How the arms differ, and what it comes to."""

    estimate: Estimate
    test: Significance
    verdict: Verdict
    order: OrderEffect | None
    """None without pairs of known order."""


def estimate_session(session: Session, limits: VerdictThresholds, seed: int) -> Headline:
    """Estimate, test and decide.

    Where the order of recording matters, its effect is taken out. Where it cannot be, or where the arms were not
    recorded in turns, the verdict is inconclusive. Where the order is unknown, the verdict states what it rests on.

    :param limits: `alpha` is the level; the interval covers the rest.
    :param seed: of tests by permutation.

    Source: `docs/design/statistics.md`.
    """
    ratios, confidence, order = session.b - session.a if session.paired else None, 1.0 - limits.alpha, None
    if ratios is None:
        found = unpaired(session.a, session.b, confidence)
        tested = unpaired_p(session.a, session.b, seed)
        sigma = math.hypot(robust_sigma(session.a), robust_sigma(session.b))
    else:
        found, tested, sigma = paired(ratios, confidence), paired_p(ratios, seed), robust_sigma(ratios)
        if session.a_first is not None:
            order = order_effect(ratios, session.a_first, seed)
            if order.p is not None and order.p < limits.alpha and not order.is_fixed:
                found, tested = without_order_effect(ratios, session.a_first, seed, confidence)
                sigma = robust_sigma(ratios - np.where(session.a_first, 1, -1) * math.log1p((order.percent or 0) / 100))
    number = min(session.a.size, session.b.size)
    verdict = decide(found, tested.p, number, sigma, limits, paired=session.paired)
    doubt = session.order_doubt
    if doubt is not None and found.low is not None:
        verdict = Verdict(word="inconclusive", reason=doubt)
    if session.in_turns is None and verdict.word in ("regression", "improvement", "equivalent"):
        verdict = verdict.model_copy(update={"reason": f"{verdict.reason}; {_IF_UNCHANGED}"})
    return Headline(found, tested, verdict, order)
