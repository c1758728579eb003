"""How often noisy mode calls equal arms different, and how often its interval holds the truth, in simulated sessions.

A session is 12 pairs of boots on a machine that drifts by 2 % from its first boot to its last; log-normal noise of
0.6 %, and 4 % of the boots 3 to 10 % slower than they ought to be. The order within a pair is drawn by lot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from measuring.figures import arguments, line, title
from scipy.stats import binomtest

from firstlight.stats.drift import doubt
from firstlight.stats.estimate import Floats, paired, unpaired
from firstlight.stats.randomization import draw_order
from firstlight.stats.sample_size import robust_sigma
from firstlight.stats.significance import paired_p, unpaired_p
from firstlight.stats.verdict import VerdictThresholds, decide

PAIRS = 12
DRIFT = 0.02
NOISE = 0.006
OUTLIERS = 0.04
OUTLYING = (0.03, 0.10)
ALPHA = 0.05
#: So small that no session is called equivalent: what is asked is whether equal arms are called different.
SOFT = 1e-6


@dataclass(frozen=True)
class Tally:
    """What came of some sessions."""

    sessions: int
    alarms: int
    """Sessions that ended in a regression or an improvement."""
    covered: int
    """Sessions whose interval held the true change."""

    def share(self, hits: int) -> str:
        """A share with its binomial 95 % interval."""
        spread = binomtest(hits, self.sessions).proportion_ci(method="wilson")
        return f"{hits / self.sessions:.1%} of {self.sessions:,} ({spread.low:.1%} to {spread.high:.1%})"


def session(seed: int, change: float, *, pairs: int = PAIRS, in_turns: bool = True) -> tuple[Floats, Floats]:
    """The logarithms of the times of two arms.

    :param change: of the second arm; 0.01 is 1 %.
    :param in_turns: in randomised pairs; else all boots of one arm before the other.
    """
    source = np.random.default_rng(seed)
    boots = 2 * pairs
    times = np.linspace(0.0, math.log1p(DRIFT), boots) + source.normal(0.0, NOISE, boots)
    times += np.where(source.random(boots) < OUTLIERS, np.log1p(source.uniform(*OUTLYING, boots)), 0.0)
    if in_turns:
        second = np.array([slot.arm == "b" for slot in draw_order(["a", "b"], pairs, seed).slots()])
    else:
        second = np.arange(boots) >= pairs
    return times[~second], times[second] + math.log1p(change)


def simulate(
    sessions: int, change: float, *, first_seed: int = 1, in_turns: bool = True, doubting: bool = True
) -> Tally:
    """Judge simulated sessions as `firstlight compare` judges recorded ones.

    :param in_turns: see :func:`session`; arms that were not recorded in turns are judged without pairs.
    :param doubting: take back what a drift could be all of, where they were not.
    """
    alarms = covered = 0
    truth = math.log1p(change)
    for seed in range(first_seed, first_seed + sessions):
        a, b = session(seed, change, in_turns=in_turns)
        found = paired(b - a) if in_turns else unpaired(a, b)
        p = (paired_p(b - a, seed) if in_turns else unpaired_p(a, b, seed)).p
        sigma = robust_sigma(b - a) if in_turns else math.hypot(robust_sigma(a), robust_sigma(b))
        verdict = decide(found, p, a.size, sigma, VerdictThresholds(soft=SOFT, alpha=ALPHA), paired=in_turns)
        if doubting and not in_turns:
            verdict = doubt(verdict, found, a, b, a_first=True)
        alarms += verdict.word in ("regression", "improvement")
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
    return Tally(sessions, alarms, covered)


def main() -> None:
    """Simulate, print."""
    sessions = 200 if arguments(__doc__ or "").quick else 1_000
    title(f"Noisy mode: {sessions:,} sessions of {PAIRS} pairs, drift 2 %, noise 0.6 %, 4 % outliers")
    equal = simulate(sessions, 0.0)
    line("equal arms called different, in pairs", equal.share(equal.alarms), "at most 6 %")
    line("interval holds the truth, no change", equal.share(equal.covered), "at least 94 %")
    for change in (0.005, 0.01):
        found = simulate(sessions, change, first_seed=1_000_001)
        line(f"interval holds the truth, change {change:.1%}", found.share(found.covered), "at least 94 %")
        line(f"change of {change:.1%} found", found.share(found.alarms))
    blocks = simulate(sessions, 0.0, in_turns=False, doubting=False)
    line("one arm first: equal arms called different by U test", blocks.share(blocks.alarms), "why arms take turns")
    doubted = simulate(sessions, 0.0, in_turns=False)
    line("one arm first: the same, where drift is doubted", doubted.share(doubted.alarms))
    large = simulate(sessions, 0.05, in_turns=False)
    line("one arm first: change of 5 % found all the same", large.share(large.alarms))


if __name__ == "__main__":
    main()
