"""How often a history of boots reports a planted change, and how often one that nobody planted, in simulated series.

A series has 60 to 100 points. An alert is what `firstlight history regressions --fail` fails on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from measuring.figures import arguments, line, title
from scipy.stats import binomtest

from firstlight.stats.change_points import change_points
from firstlight.stats.estimate import Floats
from firstlight.stats.regressions import regressions

Make = Callable[[np.random.Generator], Floats]

_LEVEL_NS = 1e9


def step(source: np.random.Generator) -> Floats:
    """1 % at any point that leaves five before and two after it, and 0.05 % of jitter."""
    place = source.integers(5, 59)
    return np.where(np.arange(60) >= place, 1.01, 1.0) * _noise(source, 0.0005, 60)


def creep(source: np.random.Generator) -> Floats:
    """0.1 % at each of 50 points, after 10 to 29 steady ones, with up to 0.05 % of jitter."""
    steady = np.ones(10 + source.integers(0, 20))
    levels = np.concatenate([steady, 1.001 ** np.arange(1, 51)])
    return levels * _noise(source, float(source.choice([0.0, 0.0002, 0.0005])), levels.size)


def steady(source: np.random.Generator) -> Floats:
    """Noise of 0.05 to 2 %, and nothing else."""
    return _noise(source, float(source.choice([0.0005, 0.002, 0.005, 0.02])), 100)


def outliers(source: np.random.Generator) -> Floats:
    """Noise of 0.6 %, and 4 % of the boots 3 to 10 % too slow."""
    slow = np.where(source.random(100) < 0.04, 1 + source.uniform(0.03, 0.1, 100), 1.0)
    return slow * _noise(source, 0.006, 100)


def alternating(source: np.random.Generator) -> Floats:
    """A machine that stays in either of two states for 2 to 20 boots on average."""
    stay = float(source.choice([2, 3, 5, 10, 20]))
    state = (np.cumsum(source.random(100) < 1 / stay) + source.integers(2)) % 2
    return np.where(state == 1, 1.05, 1.0) * _noise(source, 0.003, 100)


def strict_turns(source: np.random.Generator) -> Floats:
    """A machine whose every other boot is 5 % slower."""
    return np.where(np.arange(100) % 2, 1.05, 1.0) * _noise(source, 0.002, 100)


def two_states(source: np.random.Generator) -> Floats:
    """A machine of which 10 to 70 % of the boots are 10 % slower, at random."""
    slow = source.random(100) < source.choice([0.1, 0.2, 0.3, 0.5, 0.7])
    return np.where(slow, 1.1, 1.0) * _noise(source, 0.003, 100)


def slow_mode(source: np.random.Generator) -> Floats:
    """From the 41st of 80 points on 35 % of the boots are 10 % slower."""
    slow = (np.arange(80) >= 40) & (source.random(80) < 0.35)
    return np.where(slow, 1.1, 1.0) * _noise(source, 0.003, 80)


def _noise(source: np.random.Generator, sigma: float, points: int) -> Floats:
    return np.exp(source.normal(0.0, sigma, points))


def alerts(make: Make, series: int, *, exact: bool, boots: int = 1, first_seed: int = 1) -> int:
    """How many series have an alert.

    :param boots: of each point.
    """
    found = 0
    for seed in range(first_seed, first_seed + series):
        source = np.random.default_rng(seed)
        columns = np.round(np.array([make(source) for _ in range(boots)]).T * _LEVEL_NS).astype(np.int64)
        changes = regressions(change_points(columns.tolist(), exact=exact))
        found += any(each.status == "lasts" and each.kind != "spread" for each in changes)
    return found


def main() -> None:
    """Simulate, print."""
    series = 100 if arguments(__doc__ or "").quick else 1_000
    title(f"Histories: alerts in {series:,} series each")
    wanted: list[tuple[str, Make, bool, int, str]] = [
        ("exact: step of 1 %, jitter 0.05 %", step, True, 1, "100 %"),
        ("exact: creep of 0.1 % at 50 points", creep, True, 1, "100 %"),
        ("exact: noise alone", steady, True, 1, "at most 1 %"),
        ("noisy: step of 1 %, jitter 0.05 %", step, False, 1, ""),
        ("noisy: creep of 0.1 % at 50 points", creep, False, 1, "100 %"),
        ("noisy: noise alone", steady, False, 1, "at most 1 %"),
        ("noisy: noise alone, 5 boots a point", steady, False, 5, "at most 1 %"),
        ("noisy: noise with outliers", outliers, False, 1, "at most 1 %"),
        ("noisy: alternating states", alternating, False, 1, "at most 5 %"),
        ("noisy: every other boot slower", strict_turns, False, 1, "at most 5 %"),
        ("noisy: two states at random", two_states, False, 1, "at most 5 %"),
        ("exact: alternating states", alternating, True, 1, "at most 5 %"),
        ("noisy: 35 % of the boots become slower", slow_mode, False, 1, ""),
        ("the same, 5 boots a point", slow_mode, False, 5, ""),
    ]
    for text, make, exact, boots, aim in wanted:
        found = alerts(make, series, exact=exact, boots=boots)
        spread = binomtest(found, series).proportion_ci(method="wilson")
        line(text, f"{found / series:.1%} ({spread.low:.1%} to {spread.high:.1%})", aim)


if __name__ == "__main__":
    main()
