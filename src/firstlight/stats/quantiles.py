"""Differences of quantiles, and of the share of slow boots, between two arms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from pydantic import Field

from firstlight.frozen import FrozenModel
from firstlight.stats.estimate import Floats
from firstlight.stats.modality import LEAST_SHARE, modes

_RESAMPLES = 1_999
#: How exactly the bounds of an interval are found, as a logarithm of a ratio.
_PRECISION = 1e-4


class QuantileChange(FrozenModel):
    """How a statistic of the times differs between two arms; shares in percentage points, else percent of a."""

    a: float = Field(description="of arm a: nanoseconds, or a share")
    b: float = Field(description="of arm b")
    percent: float = Field(description="the change in percent of a; of a share in percentage points")
    low_percent: float = Field(description="lower bound of the interval")
    high_percent: float = Field(description="upper bound")
    p: float = Field(description="two-sided probability, by exchanging the arms' labels")


def quantile_change(
    a_ns: npt.ArrayLike, b_ns: npt.ArrayLike, quantile: float, *, paired: bool, seed: int, alpha: float = 0.05
) -> QuantileChange:
    """Compare a quantile of two arms by its Harrell-Davis estimate, on logarithms of times.

    :param a_ns: times above 0; with pairs, place by place those of *b_ns*.
    :param quantile: above 0, below 1.
    :param paired: exchange labels within pairs only, so that a drift of the machine stays out.
    :param seed: of the random exchanges.
    :param alpha: the interval covers 1 - *alpha*.

    Source: Harrell and Davis (1982); permutation test (Pitman 1937), inverted for the interval (Garthwaite 1996).

    >>> found = quantile_change(range(100, 140), range(110, 150), 0.95, paired=False, seed=1)
    >>> round(found.percent, 1), found.p < 0.05
    (7.3, True)
    """
    a, b = (np.log(np.asarray(times, dtype=np.float64)) for times in (a_ns, b_ns))
    weights = {size: harrell_davis(size, quantile) for size in {a.size, b.size}}

    source = np.random.default_rng(seed)
    exchanges = _exchanges(a.size, b.size, source, paired=paired)

    def p_of(shift: float) -> float:
        """The probability of a difference as large as this one, if b is a shifted by so much."""
        moved = b - shift
        one, other = _exchanged(a, moved, exchanges)
        exchanged = _quantiles(other, weights[b.size]) - _quantiles(one, weights[a.size])
        return _p(exchanged, float(_quantiles(moved, weights[b.size]) - _quantiles(a, weights[a.size])))

    at_a, at_b = float(_quantiles(a, weights[a.size])), float(_quantiles(b, weights[b.size]))
    change, widest = at_b - at_a, float(np.ptp(np.concatenate([a, b])) + 0.01)
    low, high = (_bound(p_of, change, change + side * 2 * widest, alpha) for side in (-1, 1))
    return QuantileChange(
        a=math.exp(at_a), b=math.exp(at_b), percent=math.expm1(change) * 100,
        low_percent=math.expm1(low) * 100, high_percent=math.expm1(high) * 100, p=p_of(0.0),
    )  # fmt: skip


def _bound(p_of: Callable[[float], float], inside: float, outside: float, alpha: float) -> float:
    """Where the test begins to reject, between a shift that it accepts and one that it rejects."""
    while abs(outside - inside) > _PRECISION:
        middle = (inside + outside) / 2
        if p_of(middle) >= alpha:
            inside = middle
        else:
            outside = middle
    return outside


def harrell_davis(size: int, quantile: float) -> Floats:
    """The weights of the sorted values in the estimate of a quantile.

    >>> harrell_davis(3, 0.5).round(3).tolist()
    [0.259, 0.481, 0.259]
    """
    from scipy.stats import beta

    edges = beta.cdf(np.linspace(0.0, 1.0, size + 1), (size + 1) * quantile, (size + 1) * (1 - quantile))
    return np.asarray(np.diff(edges))


def slow_share_change(
    a_ns: npt.ArrayLike, b_ns: npt.ArrayLike, *, paired: bool, seed: int, alpha: float = 0.05
) -> QuantileChange | None:
    """Compare the share of boots in the slowest mode; None where neither arm has boots of two modes.

    The threshold is found from all boots together, without their labels, so that the test stays valid. Where they have
    no second mode of 15 %, three slow boots are one: slow boots of one arm alone are few of both. A shift of all boots
    changes no share: two modes that are one arm each are not counted, and if both arms have as many modes by
    themselves, the fastest modes are aligned first.

    Source: modes as :func:`firstlight.stats.modality.modes`; permutation test; interval by Newcombe (1998), method 10.

    >>> a, b = [100, 101, 102, 103] * 10, [100, 101, 102, 120, 121] * 8
    >>> found = slow_share_change(a, b, paired=False, seed=1)
    >>> found.a, found.b, found.p < 0.001
    (0.0, 0.4, True)
    """
    from scipy.stats import binomtest

    a, b = (np.asarray(times, dtype=np.float64) for times in (a_ns, b_ns))
    own_a, own_b = modes(a), modes(b)
    if len(own_a) == len(own_b) > 1:
        b = b * (own_a[0].at_ns / own_b[0].at_ns)
    both = np.sort(np.concatenate([a, b]))
    found = modes(both)
    if len(found) < 2:
        found = modes(both, least_share=0.0)
    if len(found) < 2:
        return None
    threshold = both[both.size - found[-1].boots]
    if _is_shift(a, b, threshold):
        return None
    slow_a, slow_b = ((times >= threshold).astype(np.float64) for times in (a, b))
    share_a, share_b = float(slow_a.mean()), float(slow_b.mean())
    exchanges = _exchanges(a.size, b.size, np.random.default_rng(seed), paired=paired)
    one, other = _exchanged(slow_a, slow_b, exchanges)
    wilson = [
        binomtest(int(slow.sum()), slow.size).proportion_ci(1 - alpha, method="wilson") for slow in (slow_a, slow_b)
    ]
    change = share_b - share_a
    low = change - math.hypot(share_b - wilson[1].low, wilson[0].high - share_a)
    high = change + math.hypot(wilson[1].high - share_b, share_a - wilson[0].low)
    return QuantileChange(
        a=share_a, b=share_b, percent=100 * change, low_percent=100 * low, high_percent=100 * high,
        p=_p(other.mean(axis=1) - one.mean(axis=1), change),
    )  # fmt: skip


def _is_shift(a: Floats, b: Floats, threshold: float) -> bool:
    """Whether a threshold separates the arms, and no sorts of boots of either of them."""
    medians = [float(np.median(times)) >= threshold for times in (a, b)]
    if medians[0] == medians[1]:
        return False
    fewest = [min(np.count_nonzero(times >= threshold), np.count_nonzero(times < threshold)) for times in (a, b)]
    return all(few < max(3, LEAST_SHARE * times.size) for few, times in zip(fewest, (a, b), strict=True))


def _quantiles(rows: Floats, weights: Floats) -> Floats:
    return np.asarray(np.sort(rows, axis=-1) @ weights)


def _p(exchanged: Floats, observed: float) -> float:
    """Phipson and Smyth (2010): the observed exchange is one of all."""
    extreme = int(np.count_nonzero(np.abs(exchanged) >= abs(observed) * (1 - 1e-9)))
    return (extreme + 1) / (exchanged.size + 1)


def _exchanges(a: int, b: int, source: np.random.Generator, *, paired: bool) -> npt.NDArray[np.intp]:
    """Random exchanges of labels: places of the boots of both arms, one exchange a row, those of a first."""
    if not paired:
        return source.permuted(np.tile(np.arange(a + b), (_RESAMPLES, 1)), axis=1)
    turned = source.random((_RESAMPLES, a)) < 0.5
    places = np.arange(a)
    return np.hstack([np.where(turned, places + a, places), np.where(turned, places, places + a)])


def _exchanged(a: Floats, b: Floats, exchanges: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    both = np.concatenate([a, b])[exchanges]
    return both[:, : a.size], both[:, a.size :]
