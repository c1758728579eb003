"""The comparison of two arms whose boots vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.analysis.window import window
from firstlight.comparison.sides.arms import BootSet, CompareError, Excluded
from firstlight.comparison.sides.machines import machine_flags
from firstlight.comparison.sides.method import keep_alike
from firstlight.comparison.sides.preconditions import check_comparable
from firstlight.comparison.statistical.breakdown import BootParts, levels_of_all, parts_of
from firstlight.comparison.statistical.headline import Headline, Session, estimate_session
from firstlight.comparison.statistical.levels import MeanLevel, mean_level
from firstlight.comparison.statistical.pairing import How, Pairing, pair
from firstlight.comparison.statistical.quantiles import Statistic, StatisticChange, compare_statistics
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.errors import UsageError
from firstlight.frozen import FrozenModel
from firstlight.recipe.mode import RecordMode
from firstlight.stats.descriptive import Description, describe
from firstlight.stats.drift import drift_percent
from firstlight.stats.estimate import Estimate, Floats
from firstlight.stats.looks import look_level
from firstlight.stats.order import OrderEffect, are_alike, session_changes
from firstlight.stats.sample_size import robust_sigma
from firstlight.stats.significance import Significance
from firstlight.stats.spread import Spread, spread
from firstlight.stats.verdict import Verdict, VerdictThresholds

#: A boot that lies so many robust standard deviations from the median of its arm is named.
_OUTLYING = 5.0
#: A drift over the session of so many percent is reported.
_DRIFT_TOLD = 0.5
#: An effect of the order with a lower probability is taken out of the estimate.
_ORDER_LEVEL = 0.05


class Exclusion(FrozenModel):
    """A boot that does not take part, and why."""

    boot: str
    reason: str


class Bridge(FrozenModel):
    """From the headline, which no outlier moves, to the difference of means, which the parts add up to."""

    headline_ns: float = Field(description="the estimate, as a part of the median of a")
    mean_ns: float = Field(description="difference of the means")
    bridge_ns: float = Field(description="mean_ns less headline_ns")
    outliers: list[str] = Field(description="boots far from the others of their arm: what the bridge is made of")


class NoisyComparison(FrozenModel):
    """What changed from arm a to arm b; every figure with its interval, every p with its method."""

    a: str = Field(description="the arm that is the baseline")
    b: str = Field(description="the other arm")
    mode: str = Field(description="how the boots were recorded: `live`, `imported` or `exact`")
    clock: str = Field(description="kind of their clock: `host`, `imported` or `virtual`")
    first: str = Field(description="the mark that every time begins at")
    last: str = Field(description="the mark that it ends at")
    a_boots: list[str] = Field(description="the boots of a that take part; with pairs in the order of those of b")
    b_boots: list[str] = Field(description="of b")
    a_ns: list[int] = Field(description="their times from the first mark to the last")
    b_ns: list[int] = Field(description="of b")
    paired: bool = Field(description="whether a_boots and b_boots are pairs, place by place")
    pairing: str = Field(description="how they were paired, or why not, as text")
    excluded: list[Exclusion] = Field(description="boots that do not take part")
    soft_percent: float = Field(description="a difference within this either way does not matter")
    floor_percent: float = Field(description="the smallest change that the testbed can detect; 0 without a calibration")
    seed: int = Field(description="of resampling and permutation")
    estimate: Estimate = Field(description="Hodges-Lehmann on log ratios")
    percent: float = Field(description="the same in percent of a")
    interval_percent: tuple[float, float] | None = Field(description="none: too few boots for an interval")
    test: Significance = Field(description="whether it could be chance")
    verdict: Verdict = Field(description="what it comes to")
    order: OrderEffect | None = Field(description="which boots of the pairs were first; none without known pairs")
    look: int | None = Field(description="the number of this look; none where the number of boots was fixed before")
    alpha: float = Field(description="level of this comparison: how often it calls equal arms different")
    quantiles: list[StatisticChange] = Field(description="on request: quantiles, and the share of slow boots")
    spread: Spread = Field(description="spread, shape and modes of both arms")
    bridge: Bridge = Field(description="from the headline to the means")
    levels: list[MeanLevel] = Field(description="means of phases, and of everything else that both arms have")
    notes: list[str] = Field(description="what a reader has to know")
    description: dict[str, Description] | None = Field(description="on request: mean, median, mode, ... of `a` and `b`")

    def to_data(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {"regime": "noisy", **self.model_dump(mode="json")}


def compare_noisy(
    a: BootSet,
    b: BootSet,
    *,
    soft_percent: float = 1.0,
    seed: int = 1,
    alpha: float = 0.05,
    pairing: How = "auto",
    statistics: Sequence[Statistic] = (),
    look: int | None = None,
    calibration: Calibration | None = None,
    describing: bool = False,
    bin_ns: float | None = None,
) -> NoisyComparison:
    """Compare two arms whose boots vary, from their first mark to their last.

    :param a: the baseline.
    :param soft_percent: a difference within this either way does not matter; above 0.
    :param seed: of resampling and permutation: the same boots and seed give the same answer.
    :param alpha: level of the test; the interval covers `1 - alpha`.
    :param pairing: see :func:`firstlight.comparison.statistical.pairing.pair`.
    :param statistics: quantiles, and the share of slow boots, to compare too; see
        :func:`firstlight.comparison.statistical.quantiles.compare_statistics`.
    :param look: the number of this look at the arms, where boots are added from look to look; see
        :func:`firstlight.stats.looks.look_level`.
    :param calibration: of the testbed; below its noise nothing is called a change.
    :param describing: give mean, median, mode and standard deviation of each arm, too.
    :param bin_ns: width of the mode's bins; by default chosen from the spread.
    :raises UsageError: for a limit or a level that cannot be.
    :raises CompareError: when the arms cannot be compared, or the testbed was found unstable.
    :raises UnhealthyBootError: when the boots of an arm do not do the same.

    Source: `docs/design/statistics.md`.
    """
    limits = _limits(soft_percent, alpha)
    flags = [*check_comparable(a.boots[0], b.boots[0]), *machine_flags(a, b)]
    sides = pair(keep_alike(a), keep_alike(b), pairing)
    if not sides.a or not sides.b:
        reasons = "; ".join(dict.fromkeys(each.reason for each in sides.excluded))
        raise CompareError(f"no boots are left to compare: {reasons}", where=b.name)
    parts_a, parts_b = ([parts_of(boot) for boot in boots] for boots in (sides.a, sides.b))
    times_a, times_b = _times(a.name, parts_a), _times(b.name, parts_b)
    logs_a, logs_b = np.log(times_a), np.log(times_b)
    number = min(times_a.size, times_b.size)
    level = look_level(alpha, look)
    limits = limits.model_copy(update={"alpha": level})
    if calibration is not None:
        calibration.check(a.boots[0].manifest, b.boots[0].manifest, where=b.name)
        limits = limits.model_copy(update={"floor": calibration.noise_floor(number)})
    session = Session(logs_a, logs_b, sides.paired, sides.in_turns, sides.a_first)
    headline = estimate_session(session, limits, seed)
    found = headline.estimate
    levels = [
        mean_level(name, parts_a, parts_b, paired=sides.paired, seed=seed, alpha=level)
        for name in levels_of_all([*parts_a, *parts_b])
        # The critical path of a boot that was recorded is its phases.
        if name != "path" or a.mode == RecordMode.IMPORTED
    ]
    spreads, whole = spread(times_a, times_b), window(a.boots[0])
    return NoisyComparison(
        a=a.name, b=b.name, mode=a.mode, clock=a.boots[0].manifest.clock.kind, first=whole.first, last=whole.last,
        a_boots=[str(boot.directory) for boot in sides.a], b_boots=[str(boot.directory) for boot in sides.b],
        a_ns=[boot.whole_ns for boot in parts_a], b_ns=[boot.whole_ns for boot in parts_b],
        paired=sides.paired, pairing=sides.how,
        excluded=[_exclusion(each) for each in sides.excluded],
        soft_percent=soft_percent, floor_percent=math.expm1(limits.floor) * 100.0, seed=seed,
        estimate=found, percent=found.percent, interval_percent=found.interval_percent, test=headline.test,
        verdict=headline.verdict, order=headline.order, look=look, alpha=level,
        quantiles=compare_statistics(
            times_a, times_b, list(dict.fromkeys(statistics)), paired=sides.paired, seed=seed, alpha=level,
            soft_percent=soft_percent, doubt=session.order_doubt,
        ),
        spread=spreads, bridge=_bridge(found, sides, times_a, times_b), levels=levels,
        notes=[*(flag.text for flag in flags), *_notes(sides, headline, times_a, times_b, spreads)],
        description={"a": describe(times_a, bin_ns), "b": describe(times_b, bin_ns)} if describing else None,
    )  # fmt: skip


def _limits(soft_percent: float, alpha: float) -> VerdictThresholds:
    if not (math.isfinite(soft_percent) and soft_percent > 0.0):
        raise UsageError("the soft limit must be more than 0 %", hint="below it a difference does not matter")
    if not 0.0 < alpha < 1.0:
        raise UsageError("the level of a test must be between 0 and 1", hint="0.05 is usual")
    return VerdictThresholds(soft=math.log1p(soft_percent / 100.0), alpha=alpha)


def _times(name: str, boots: list[BootParts]) -> Floats:
    times = np.array([boot.whole_ns for boot in boots], dtype=np.float64)
    if times.min() <= 0:
        hint = "`firstlight show` lists the marks of a boot"
        raise CompareError("a boot has no time between its first mark and its last", where=name, hint=hint)
    return times


def _exclusion(each: Excluded) -> Exclusion:
    return Exclusion(boot=str(each.path), reason=each.reason)


def _bridge(found: Estimate, sides: Pairing, a: Floats, b: Floats) -> Bridge:
    headline = math.expm1(found.log_ratio) * float(np.median(a))
    mean = float(b.mean() - a.mean())
    outliers = [
        str(boot.directory) for boots, times in ((sides.a, a), (sides.b, b))
        for boot, far in zip(boots, _outlying(times), strict=True) if far
    ]  # fmt: skip
    return Bridge(headline_ns=headline, mean_ns=mean, bridge_ns=mean - headline, outliers=outliers)


def _outlying(times: Floats) -> npt.NDArray[np.bool_]:
    logs = np.log(times)
    sigma = robust_sigma(logs)
    return np.asarray(np.abs(logs - np.median(logs)) > max(_OUTLYING * sigma, 1e-9))


def _notes(sides: Pairing, headline: Headline, a: Floats, b: Floats, spreads: Spread) -> list[str]:
    notes = []
    if sides.in_turns is None:
        notes.append("the order of recording is unknown: a change of the machine looks like a difference of the arms")
    if sides.in_turns is False:
        notes.append("record the arms in turns, in random order: `firstlight experiment` does")
    notes += _order_notes(headline)
    for name, times in (("A", a), ("B", b)):
        if times.size > 1 and np.ptp(times) == 0:
            notes.append(
                f"every boot of {name} took exactly the same time: they are copies of one boot, or exact boots"
            )
    logs_a, logs_b = np.log(a), np.log(b)
    if sides.paired and a.size >= 8:
        drift = drift_percent((logs_a + logs_b) / 2.0)
        if abs(drift) >= _DRIFT_TOLD:
            notes.append(f"both arms drifted together by {drift:+.1f} % over the session; pairs remove this")
    residuals = sides.in_order(logs_a - np.median(logs_a), logs_b - np.median(logs_b))
    notes += [] if residuals is None else _session_notes(residuals)
    for name, found in (("A", spreads.a_modes), ("B", spreads.b_modes)):
        if len(found) > 1:
            notes.append(f"the boots of {name} come in {len(found)} modes: `--quantile slow-share` compares them")
    return notes


def _order_notes(headline: Headline) -> list[str]:
    order = headline.order
    if order is None:
        return []
    if order.is_fixed:
        return [
            f"fixed order: A was recorded first in {order.a_first} pairs, B in {order.b_first}; `firstlight "
            "experiment` randomises the order"
        ]
    if order.p is None or order.percent is None or order.p >= _ORDER_LEVEL:
        return []
    return [f"the second boot of a pair takes {order.percent:+.2f} % (p = {order.p:.2g}), which is not in the estimate"]


def _session_notes(residuals: Floats) -> list[str]:
    """Where the machine changed during the session."""
    changes = session_changes(residuals)
    edges = [0, *changes, residuals.size]
    levels = [float(np.median(residuals[first:end])) for first, end in pairwise(edges)]
    notes = [
        f"the machine changed by {math.expm1(after - before) * 100.0:+.1f} % before boot {place + 1} of "
        f"{residuals.size} of the session"
        for place, before, after in zip(changes, levels, levels[1:], strict=False)
    ]
    if not notes and are_alike(residuals):
        notes.append("boots that were recorded next to each other are alike: the machine drifts or switches states")
    return notes
