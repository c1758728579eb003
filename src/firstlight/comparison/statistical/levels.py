"""Rows on means over the same boots: they add up, and each has an interval and a test of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.comparison.exact.rows import Key
from firstlight.comparison.statistical.breakdown import BootParts
from firstlight.frozen import FrozenModel
from firstlight.stats.estimate import fewest_boots, fewest_pairs
from firstlight.stats.multiple_testing import LEAF_FLOOR, benjamini_hochberg, holm
from firstlight.stats.significance import paired_p, unpaired_p

_RESAMPLES = 2_000
#: Few rows, of which any false alarm hurts; all other levels have hundreds.
_FEW = ("phases",)

Counts = npt.NDArray[np.int64]
Bounds = list[float] | list[None]


class MeanRow(FrozenModel):
    """One thing in both arms. Sums are whole numbers; means and changes are these divided by the boots."""

    name: str = Field(description="phase, initcall, device or unit")
    module: str = Field(description="kernel module, or empty")
    kind: str = Field(description="what sort of thing it is; `rest` is what the level does not attribute")
    a_sum_ns: int = Field(description="over all boots of a that take part")
    b_sum_ns: int = Field(description="over those of b")
    a_boots: int = Field(description="boots of a in which it is there at all")
    b_boots: int = Field(description="of b")
    a_mean_ns: float = Field(description="a_sum_ns divided by the boots of a")
    b_mean_ns: float = Field(description="b_sum_ns divided by the boots of b")
    change_ns: float = Field(description="b_mean_ns less a_mean_ns")
    change_scaled: int = Field(description="change_ns times the level's `scale`, whole: these add up without rounding")
    low_ns: float | None = Field(
        description="lower bound of the change, of this row alone, by resampling whole boots; none of too few boots"
    )
    high_ns: float | None = Field(description="upper bound")
    p: float | None = Field(description="of this row alone; none where there is too little to be tested")
    adjusted_p: float | None = Field(description="among all rows of the level")
    differs: bool = Field(description="adjusted_p is below the level of the test, and the change is beyond unsure_ns")
    unsure_ns: float | None = Field(
        default=0.0, description="how far the change may be off because records do not show when a phase began or "
        "ended; none without a bound",
    )  # fmt: skip


class MeanLevel(FrozenModel):
    """One way to part the whole; the rows' changes add up to that of the whole, in whole numbers."""

    name: str = Field(description="`phases`, `initcalls`, `devices`, `units`")
    family: Literal["holm", "benjamini-hochberg"] = Field(description="how p was adjusted")
    floor_ns: float = Field(description="no smaller change counts, and what takes no longer was not tested")
    tested: int = Field(description="rows that were tested")
    needed: int = Field(description="from so many pairs (boots of each arm) one row can differ where no other does")
    scale: int = Field(description="least common multiple of the boots of both arms")
    rows: list[MeanRow] = Field(description="largest change first")
    whole: MeanRow = Field(description="all of it")
    sum_less_whole_scaled: int = Field(description="sum of the rows' changes less the whole's: 0")


def mean_level(
    name: str, a: Sequence[BootParts], b: Sequence[BootParts], *, paired: bool, seed: int, alpha: float = 0.05
) -> MeanLevel:
    """Compare the means of every part of a level.

    :param a: boots of one arm; with pairs, place by place those of *b*.
    :param seed: of resampling, and of tests by permutation.
    :raises AssertionError: when the sums do not hold: a fault of the program.

    Source: additive decomposition on arithmetic means; bootstrap percentile intervals with one draw of boots for all
    rows, so that every resample adds up, too (Efron 1979, Hesterberg 2015); Holm 1979 for phases, else Benjamini and
    Hochberg 1995.
    """
    keys: list[Key] = list(dict.fromkeys(key for boot in (*a, *b) for key in boot.levels[name]))
    one, other = (_table(name, arm, keys) for arm in (a, b))
    whole_a, whole_b = (np.array([[boot.whole_ns] for boot in arm], dtype=np.int64) for arm in (a, b))
    floor = LEAF_FLOOR * float(whole_a.mean()) if name not in _FEW else 0.0
    tests = [_p(one[:, row], other[:, row], paired, seed, floor) for row in range(len(keys))]
    family = holm if name in _FEW else benjamini_hochberg
    adjusted = family(tests)
    lows, highs = _intervals(one, other, paired, seed, alpha)
    scale = math.lcm(len(a), len(b))
    rows = []
    for number, key in enumerate(keys):
        row = _row(key, one[:, number], other[:, number], scale, (lows[number], highs[number]))
        unsure = _unsure_ns(key, name, a, b)
        rows.append(row.model_copy(update={
            "a_boots": sum(key in boot.levels[name] for boot in a),
            "b_boots": sum(key in boot.levels[name] for boot in b),
            "p": tests[number],
            "adjusted_p": adjusted[number],
            "differs": _differs(adjusted[number], alpha) and abs(row.change_ns) > floor
            and _is_beyond(row.change_ns, unsure),
            "unsure_ns": unsure,
        }))  # fmt: skip
    ends = _intervals(whole_a, whole_b, paired, seed, alpha)
    whole = _row(Key("all", kind="whole"), whole_a[:, 0], whole_b[:, 0], scale, (ends[0][0], ends[1][0]))
    left = sum(row.change_scaled for row in rows) - whole.change_scaled
    if left:
        raise AssertionError(f"{name}: the changes of the means add up to {left} more than the whole's")
    return MeanLevel(
        name=name, family="holm" if name in _FEW else "benjamini-hochberg", floor_ns=floor,
        tested=(tested := sum(p is not None for p in tests)), needed=_fewest(tested, paired, alpha), scale=scale,
        rows=sorted(rows, key=lambda row: (-abs(row.change_scaled), row.name, row.module, row.kind)),
        whole=whole, sum_less_whole_scaled=left,
    )  # fmt: skip


def _unsure_ns(key: Key, level: str, a: Sequence[BootParts], b: Sequence[BootParts]) -> float | None:
    """How far the change of a phase may be off: what the means of both arms may be."""
    if level != "phases":
        return 0.0
    means = []
    for arm in (a, b):
        bounds = [boot.unsure_ns.get(key.name, 0) for boot in arm]
        known = [ns for ns in bounds if ns is not None]
        if len(known) < len(bounds):
            return None
        means.append(sum(known) / len(known))
    return sum(means)


def _is_beyond(change_ns: float, unsure_ns: float | None) -> bool:
    return unsure_ns == 0.0 or (unsure_ns is not None and abs(change_ns) > unsure_ns)


def _differs(p: float | None, alpha: float) -> bool:
    return p is not None and p < alpha


def _fewest(tested: int, paired: bool, alpha: float) -> int:
    """From how many pairs (boots of each arm) one row of so many can differ alone."""
    return (fewest_pairs if paired else fewest_boots)(alpha / max(tested, 1))


def _table(name: str, boots: Sequence[BootParts], keys: Sequence[Key]) -> Counts:
    return np.array([[boot.levels[name].get(key, 0) for key in keys] for boot in boots], dtype=np.int64)


def _row(key: Key, a: Counts, b: Counts, scale: int, interval: tuple[float | None, float | None]) -> MeanRow:
    sum_a, sum_b = int(a.sum()), int(b.sum())
    scaled = sum_b * (scale // b.size) - sum_a * (scale // a.size)
    return MeanRow(
        **key._asdict(), a_sum_ns=sum_a, b_sum_ns=sum_b, a_boots=a.size, b_boots=b.size,
        a_mean_ns=sum_a / a.size, b_mean_ns=sum_b / b.size, change_ns=scaled / scale, change_scaled=scaled,
        low_ns=interval[0], high_ns=interval[1],
        p=None, adjusted_p=None, differs=False,
    )  # fmt: skip


def _p(a: Counts, b: Counts, paired: bool, seed: int, floor: float) -> float | None:
    """None where it was clear without looking which arm is which that the row shows nothing.

    A row that no boot spends much in cannot have changed much, and one in which nothing varies cannot differ: neither
    the sum of both arms nor the set of their figures distinguishes the arms, so that leaving these out of the family
    makes no alarm likelier (Tarone 1990; Bourgon, Gentleman and Huber 2010).
    """
    if (float(a.mean()) + float(b.mean())) / 2.0 <= floor:
        return None
    found = paired_p((b - a).astype(np.float64), seed) if paired else unpaired_p(a, b, seed)
    return None if found.smallest >= 1.0 else found.p


def _intervals(a: Counts, b: Counts, paired: bool, seed: int, alpha: float) -> tuple[Bounds, Bounds]:
    """Where the change of every column's mean lies, by one draw of whole boots; none of too few boots for a headline.

    The percentiles are taken farther out than `alpha` says, by what Student's t and the n - 1 of a variance ask for:
    the plain ones hold the truth in 86 % of sessions of six normal pairs where they promise 95 %, these in 93 %.

    Source: the expanded percentile interval, Hesterberg (2015), What Teachers Should Know About the Bootstrap, 4.
    """
    few = min(len(a), len(b))
    if few < (fewest_pairs if paired else fewest_boots)(alpha):
        return [None] * a.shape[1], [None] * a.shape[1]
    from scipy.stats import norm, t

    source = np.random.default_rng(seed)
    weights_a = _weights(source, len(a))
    weights_b = weights_a if paired else _weights(source, len(b))
    changes = weights_b @ b.astype(np.float64) - weights_a @ a.astype(np.float64)
    far = float(t.ppf(alpha / 2.0, few - 1)) * math.sqrt(few / (few - 1))
    tail = 100.0 * float(norm.cdf(far))
    low, high = np.percentile(changes, [tail, 100.0 - tail], axis=0)
    return low.tolist(), high.tolist()


def _weights(source: np.random.Generator, boots: int) -> npt.NDArray[np.float64]:
    """Of every resample, the share of each boot."""
    return source.multinomial(boots, [1.0 / boots] * boots, size=_RESAMPLES) / boots
