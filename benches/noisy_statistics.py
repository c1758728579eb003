"""How often noisy mode calls equal arms different on machines of several kinds, and what it finds, by simulation.

A session is 12 pairs of boots with log-normal noise of 0.6 %, of which 4 % are 3 to 10 % slower than they ought to be,
on a machine of one of the kinds below. Every share has its binomial 95 % interval, the Monte-Carlo error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from measuring.figures import arguments, line, title
from scipy.stats import binomtest

from firstlight.comparison.statistical.headline import Session, estimate_session
from firstlight.comparison.statistical.quantiles import Statistic, compare_statistics
from firstlight.stats.estimate import Floats
from firstlight.stats.looks import look_level
from firstlight.stats.order import are_alike, session_changes
from firstlight.stats.randomization import draw_order
from firstlight.stats.verdict import VerdictThresholds

PAIRS = 12
NOISE = 0.006
OUTLIERS = 0.04
OUTLYING = (0.03, 0.10)
ALPHA = 0.05
#: So small that no session is called equivalent: what is asked is whether equal arms are called different.
SOFT = 1e-6

Machine = Callable[[Floats, np.random.Generator], Floats]
"""What a machine makes of the logarithms of times, in the order of recording."""


def drifts(logs: Floats, _: np.random.Generator) -> Floats:
    """It becomes slower by 2 % from the first boot to the last."""
    return np.asarray(logs + np.linspace(0.0, math.log1p(0.02), logs.size))


def slows_second(logs: Floats, _: np.random.Generator) -> Floats:
    """The second boot of each pair takes 1 % longer."""
    return np.asarray(logs + np.where(np.arange(logs.size) % 2, math.log1p(0.01), 0.0))


def switches(logs: Floats, source: np.random.Generator) -> Floats:
    """It switches between two states, 10 % apart, about every eighth boot."""
    return np.asarray(logs + np.log1p(0.1) * (np.cumsum(source.random(logs.size) < 1 / 8) % 2))


def ticks(logs: Floats, _: np.random.Generator) -> Floats:
    """Its clock counts in steps of 4 ms, of a boot of 1 s."""
    return np.asarray(np.log(np.maximum(np.round(np.exp(logs) / 0.004), 1.0) * 0.004))


def bimodal(logs: Floats, source: np.random.Generator) -> Floats:
    """Of its boots 35 % take 10 % longer."""
    return np.asarray(logs + np.where(source.random(logs.size) < 0.35, math.log1p(0.1), 0.0))


MACHINES: dict[str, Machine] = {
    "steady": lambda logs, _: logs,
    "drift of 2 %": drifts,
    "second place 1 % slower": slows_second,
    "switches between two states": switches,
    "ticks of 4 ms": ticks,
    "bimodal": bimodal,
}

ORDERS = ("random", "fixed", "one arm first")


@dataclass(frozen=True)
class Tally:
    """What came of some sessions."""

    sessions: int
    alarms: int
    """Sessions that ended in a regression or an improvement."""
    covered: int = 0
    """Sessions whose interval held the true change."""

    def share(self, hits: int) -> str:
        """A share with its binomial 95 % interval."""
        spread = binomtest(hits, self.sessions).proportion_ci(method="wilson")
        return f"{hits / self.sessions:.1%} of {self.sessions:,} ({spread.low:.1%} to {spread.high:.1%})"


def session(
    seed: int, change: float, machine: str = "drift of 2 %", order: str = "random", pairs: int = PAIRS
) -> Session:
    """One session of equal arms, but for the change of the second; 0.01 is 1 %."""
    source = np.random.default_rng(seed)
    boots = 2 * pairs
    logs = source.normal(0.0, NOISE, boots)
    logs += np.where(source.random(boots) < OUTLIERS, np.log1p(source.uniform(*OUTLYING, boots)), 0.0)
    if order == "one arm first":
        second = np.arange(boots) >= pairs
    elif order == "fixed":
        second = np.arange(boots) % 2 == 1
    else:
        second = np.array([slot.arm == "b" for slot in draw_order(["a", "b"], pairs, seed).slots()])
    logs = MACHINES[machine](logs + second * math.log1p(change), source)
    in_turns = order != "one arm first"
    return Session(logs[~second], logs[second], in_turns, in_turns, ~second[::2] if in_turns else None)


def simulate(
    sessions: int, change: float, machine: str = "drift of 2 %", order: str = "random", *, first_seed: int = 1
) -> Tally:
    """Judge simulated sessions as `firstlight compare` judges recorded ones."""
    alarms = covered = 0
    truth, limits = math.log1p(change), VerdictThresholds(soft=SOFT, alpha=ALPHA)
    for seed in range(first_seed, first_seed + sessions):
        found = estimate_session(session(seed, change, machine, order), limits, seed)
        alarms += found.verdict.word in ("regression", "improvement")
        low, high = found.estimate.low, found.estimate.high
        covered += low is not None and high is not None and low <= truth <= high
    return Tally(sessions, alarms, covered)


def simulate_statistic(
    sessions: int, statistic: Statistic, change: float, machine: str = "drift of 2 %", *, pairs: int = 40
) -> Tally:
    """Compare a quantile, or the share of slow boots, of simulated sessions."""
    alarms = 0
    for seed in range(1, sessions + 1):
        each = session(seed, change, machine, pairs=pairs)
        a, b = (np.exp(logs) * 1e9 for logs in (each.a, each.b))
        (row,) = compare_statistics(a, b, [statistic], paired=True, seed=seed, alpha=ALPHA, soft_percent=1e-4)
        alarms += row.word in ("regression", "improvement")
    return Tally(sessions, alarms)


def simulate_slow_boots(sessions: int, share: float, *, boots: int = 40) -> Tally:
    """Compare the share of slow boots where so many of the second arm alone take 10 % longer; noise 0.6 %, no pairs."""
    alarms = 0
    for seed in range(1, sessions + 1):
        source = np.random.default_rng(seed)
        a, b = (np.exp(source.normal(0.0, NOISE, boots)) * 1e9 for _ in "ab")
        b[source.random(boots) < share] *= 1.1
        (row,) = compare_statistics(a, b, [Statistic.SLOW_SHARE], paired=False, seed=seed, alpha=ALPHA)
        alarms += row.word == "regression"
    return Tally(sessions, alarms)


def simulate_looks(sessions: int, change: float, looks: int = 5, *, spending: bool = True) -> Tally:
    """Look at growing sessions and stop at the first alarm.

    :param spending: use the levels of `--look`; else the full level at each look.
    """
    alarms = 0
    for seed in range(1, sessions + 1):
        every = session(seed, change, pairs=8 * looks)
        for look in range(1, looks + 1):
            part = slice(8 * look)
            assert every.a_first is not None
            seen = Session(every.a[part], every.b[part], True, True, every.a_first[part])
            level = look_level(ALPHA, look if spending else None)
            word = estimate_session(seen, VerdictThresholds(soft=SOFT, alpha=level), seed).verdict.word
            if word in ("regression", "improvement"):
                alarms += 1
                break
    return Tally(sessions, alarms)


def simulate_scan(sessions: int, machine: str) -> Tally:
    """Scan sessions of equal arms for changes of the machine."""
    alarms = 0
    for seed in range(1, sessions + 1):
        each = session(seed, 0.0, machine)
        assert each.a_first is not None
        pairs = [(a, b) if first else (b, a) for a, b, first in zip(each.a, each.b, each.a_first, strict=True)]
        logs = np.array(pairs).ravel()
        alarms += bool(session_changes(logs)) or are_alike(logs)
    return Tally(sessions, alarms)


def main() -> None:
    """Simulate, print."""
    quick = arguments(__doc__ or "").quick
    sessions, fewer = (200, 50) if quick else (1_000, 250)
    title(f"Noisy mode: {sessions:,} sessions of {PAIRS} pairs, noise 0.6 %, 4 % outliers; equal arms called different")
    for machine in MACHINES:
        for order in ORDERS:
            found = simulate(sessions, 0.0, machine, order)
            line(f"{machine}, {order} order", found.share(found.alarms), "at most 6 %")
    title("What is found, and whether the interval contains the true change; drift of 2 %, random order")
    for change in (0.0, 0.005, 0.01):
        found = simulate(sessions, change, first_seed=1_000_001)
        line(f"change of {change:.1%} found", found.share(found.alarms))
        line("interval contains it", found.share(found.covered), "at least 94 %")
    found = simulate(sessions, 0.01, "second place 1 % slower", first_seed=1_000_001)
    line("change of 1.0% found, second place 1 % slower", found.share(found.alarms))
    title(f"Scan of {sessions:,} sessions for changes of the machine: reported")
    for machine in MACHINES:
        found = simulate_scan(sessions, machine)
        line(machine, found.share(found.alarms), "few" if machine in ("steady", "ticks of 4 ms", "bimodal") else "")
    title("Five looks, at 8, 16, 24, 32 and 40 pairs, stopping at the first alarm; drift of 2 %")
    naive, spent = (simulate_looks(fewer, 0.0, spending=spending) for spending in (False, True))
    line("equal arms called different, full level at each look", naive.share(naive.alarms))
    line("equal arms called different, `--look`", spent.share(spent.alarms), "at most 6 %")
    spent = simulate_looks(fewer, 0.01)
    line("change of 1 % found, `--look`", spent.share(spent.alarms))
    title(f"Quantiles: {fewer:,} sessions of 40 pairs")
    for statistic in Statistic:
        for machine in MACHINES:
            found = simulate_statistic(fewer, statistic, 0.0, machine)
            line(f"{statistic.value}, {machine}: equal arms called different", found.share(found.alarms), "at most 6 %")
    for machine in ("steady", "drift of 2 %", "bimodal"):
        found = simulate_statistic(fewer, Statistic.P95, 0.05, machine)
        line(f"p95 slower by 5 %, {machine}: found", found.share(found.alarms), "at least 80 %")
    title(f"Share of slow boots: {fewer:,} sessions of 40 boots a side, some of B alone 10 % slower")
    for share in (0.15, 0.25, 0.35, 0.5):
        found = simulate_slow_boots(fewer, share)
        line(f"{share:.0%} of B: found", found.share(found.alarms))


if __name__ == "__main__":
    main()
