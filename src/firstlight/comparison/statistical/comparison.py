"""The comparison of two arms whose boots vary."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.analysis.window import window
from firstlight.comparison.common.arms import BootSet, CompareError, Excluded
from firstlight.comparison.common.method import keep_alike
from firstlight.comparison.common.preconditions import check_comparable
from firstlight.comparison.statistical.breakdown import BootParts, levels_of_all, parts_of
from firstlight.comparison.statistical.levels import MeanLevel, mean_level
from firstlight.comparison.statistical.pairing import How, Pairing, pair
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.errors import UsageError
from firstlight.frozen import FrozenModel
from firstlight.stats.descriptive import Description, describe
from firstlight.stats.drift import doubt, drift_percent
from firstlight.stats.estimate import Estimate, Floats, paired, unpaired
from firstlight.stats.sample_size import robust_sigma
from firstlight.stats.significance import Significance, paired_p, unpaired_p
from firstlight.stats.spread import Spread, spread
from firstlight.stats.verdict import Verdict, VerdictThresholds, decide

#: A boot that lies so many robust standard deviations from the median of its arm is named.
_OUTLYING = 5.0
#: A drift over the session of so many percent is told.
_DRIFT_TOLD = 0.5


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
    pairing: str = Field(description="how they were paired, or why not, in words")
    excluded: list[Exclusion] = Field(description="boots that do not take part")
    soft_percent: float = Field(description="a difference within this either way does not matter")
    floor_percent: float = Field(description="what the testbed cannot tell from nothing; 0 without a calibration")
    seed: int = Field(description="of resampling and permutation")
    estimate: Estimate = Field(description="Hodges-Lehmann on log ratios")
    percent: float = Field(description="the same in percent of a")
    interval_percent: tuple[float, float] | None = Field(description="none: too few boots for an interval")
    test: Significance = Field(description="whether it could be chance")
    verdict: Verdict = Field(description="what it comes to")
    spread: Spread = Field(description="spread, shape and modes of both arms")
    bridge: Bridge = Field(description="from the headline to the means")
    levels: list[MeanLevel] = Field(description="phases and what else both arms tell, on means")
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
    :param calibration: of the testbed; below its noise nothing is called a change.
    :param describing: give mean, median, mode and standard deviation of each arm, too.
    :param bin_ns: width of the mode's bins; by default chosen from the spread.
    :raises UsageError: for a limit or a level that cannot be.
    :raises CompareError: when the arms cannot be compared, or the testbed was found unstable.
    :raises UnhealthyBootError: when the boots of an arm do not do the same.

    Source: `docs/design/statistics.md`.
    """
    limits = _limits(soft_percent, alpha)
    flags = check_comparable(a.boots[0], b.boots[0])
    sides = pair(keep_alike(a), keep_alike(b), pairing)
    if not sides.a or not sides.b:
        reasons = "; ".join(dict.fromkeys(each.reason for each in sides.excluded))
        raise CompareError(f"no boots are left to compare: {reasons}", where=b.name)
    parts_a, parts_b = ([parts_of(boot) for boot in boots] for boots in (sides.a, sides.b))
    times_a, times_b = _times(a.name, parts_a), _times(b.name, parts_b)
    logs_a, logs_b = np.log(times_a), np.log(times_b)
    number = min(times_a.size, times_b.size)
    if sides.paired:
        found, tested = paired(logs_b - logs_a, 1.0 - alpha), paired_p(logs_b - logs_a, seed)
        sigma = robust_sigma(logs_b - logs_a)
    else:
        found, tested = unpaired(logs_a, logs_b, 1.0 - alpha), unpaired_p(times_a, times_b, seed)
        sigma = math.hypot(robust_sigma(logs_a), robust_sigma(logs_b))
    if calibration is not None:
        calibration.check(a.boots[0].manifest, b.boots[0].manifest, where=b.name)
        limits = limits.model_copy(update={"floor": calibration.noise_floor(number)})
    verdict = decide(found, tested.p, number, sigma, limits, paired=sides.paired)
    if sides.interleaved is False and not sides.paired:
        verdict = doubt(verdict, found, logs_a, logs_b, a_first=sides.a_first)
    levels = [
        mean_level(name, parts_a, parts_b, paired=sides.paired, seed=seed, alpha=alpha)
        for name in levels_of_all([*parts_a, *parts_b])
        # The critical path of a boot that was recorded is its phases.
        if name != "path" or a.mode == "imported"
    ]
    spreads, whole = spread(times_a, times_b), window(a.boots[0])
    return NoisyComparison(
        a=a.name, b=b.name, mode=a.mode, clock=a.boots[0].manifest.clock.kind, first=whole.first, last=whole.last,
        a_boots=[str(boot.directory) for boot in sides.a], b_boots=[str(boot.directory) for boot in sides.b],
        a_ns=[boot.whole_ns for boot in parts_a], b_ns=[boot.whole_ns for boot in parts_b],
        paired=sides.paired, pairing=sides.how,
        excluded=[_exclusion(each) for each in sides.excluded],
        soft_percent=soft_percent, floor_percent=math.expm1(limits.floor) * 100.0, seed=seed,
        estimate=found, percent=found.percent, interval_percent=found.interval_percent, test=tested,
        verdict=verdict,
        spread=spreads, bridge=_bridge(found, sides, times_a, times_b), levels=levels,
        notes=[*(flag.text for flag in flags), *_notes(sides, times_a, times_b, spreads)],
        description={"a": describe(times_a, bin_ns), "b": describe(times_b, bin_ns)} if describing else None,
    )  # fmt: skip


def _limits(soft_percent: float, alpha: float) -> VerdictThresholds:
    if not (math.isfinite(soft_percent) and soft_percent > 0.0):
        raise UsageError("the soft limit has to be more than 0 %", hint="below it a difference does not matter")
    if not 0.0 < alpha < 1.0:
        raise UsageError("the level of a test lies between 0 and 1", hint="0.05 is usual")
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


def _notes(sides: Pairing, a: Floats, b: Floats, spreads: Spread) -> list[str]:
    notes = []
    if sides.interleaved is False:
        notes.append(
            "all boots of one arm were recorded before all of the other: a drift of the machine looks like a change, "
            "or hides one; record them in turns"
        )
    for name, times in (("A", a), ("B", b)):
        if times.size > 1 and np.ptp(times) == 0:
            notes.append(f"every boot of {name} took exactly as long: copies of one boot, or an exact one")
    if sides.paired and a.size >= 8:
        drift = drift_percent((np.log(a) + np.log(b)) / 2.0)
        if abs(drift) >= _DRIFT_TOLD:
            notes.append(f"both arms drifted together by {drift:+.1f} % over the session; pairs take that out")
    for name, found in (("A", spreads.a_modes), ("B", spreads.b_modes)):
        if len(found) > 1:
            notes.append(f"the boots of {name} come in {len(found)} sorts: one figure hides them")
    return notes
