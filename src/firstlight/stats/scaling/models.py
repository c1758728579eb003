"""The models of a cost by size: named laws, sums of two, powers, exponentials, and models in segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Growth = Callable[[Floats], Floats]


@dataclass(frozen=True)
class ScalingModel:
    """A model that is linear in its coefficients: cost = constant + the sum of coefficient * growth(size).

    >>> BY_NAME["n log n"].growths[0](np.array([0.0, 1.0, 8.0])).tolist()
    [0.0, 0.0, 24.0]
    """

    name: str
    growths: tuple[Growth, ...] = ()
    family: str = "law"
    """`law` for one named term or the constant, `sum`, `power`, `exponential`, `segments`, `saturation`, `term`."""
    parameter: float | None = None
    """The exponent, rate or place that was searched for, which is one more coefficient."""

    @property
    def is_constant(self) -> bool:
        """Whether nothing grows."""
        return not self.growths


def _log(n: Floats) -> Floats:
    """Logarithm to the base 2; nothing and one thing alike take none."""
    return np.log2(np.maximum(n, 1.0))


#: From the slowest growth to the fastest. Logarithms are to the base 2, and 0 for sizes below 1.
_GROWTHS: dict[str, Growth] = {
    "log n": _log,
    "sqrt n": np.sqrt,
    "n": lambda n: n,
    "n log n": lambda n: n * _log(n),
    "n^2": lambda n: n**2,
    "n^2 log n": lambda n: n**2 * _log(n),
    "n^3": lambda n: n**3,
}
LAWS = (ScalingModel("1"), *(ScalingModel(name, (growth,)) for name, growth in _GROWTHS.items()))
SUMS = tuple(
    ScalingModel(f"{one} + {other}", (_GROWTHS[one], _GROWTHS[other]), "sum")
    for one, other in combinations(("log n", "sqrt n", "n", "n log n", "n^2", "n^3"), 2)
)
BY_NAME = {law.name: law for law in LAWS}


def power(exponent: float) -> ScalingModel:
    """A power of the size.

    >>> power(1.5).name, power(1.5).growths[0](np.array([4.0])).tolist()
    ('n^1.50', [8.0])
    """
    return ScalingModel(f"n^{exponent:.2f}", (lambda n: n**exponent,), "power", exponent)


def power_and_line(exponent: float) -> ScalingModel:
    """A power of the size, and the size."""
    return ScalingModel(f"n + n^{exponent:.2f}", (lambda n: n, lambda n: n**exponent), "sum", exponent)


def exponential(doubling: float) -> ScalingModel:
    """A cost that doubles whenever the size grows by so much."""
    name = f"2^(n/{doubling:.3g})"
    return ScalingModel(name, (lambda n: np.exp2(np.minimum(n / doubling, 900.0)) - 1.0,), "exponential", doubling)


def saturation(half: float) -> ScalingModel:
    """A cost that ends: half of it at a size."""
    return ScalingModel(f"n/(n + {half:.3g})", (lambda n: n / (n + half),), "saturation", half)


def decay(scale: float) -> ScalingModel:
    """A cost that ends, exponentially."""
    return ScalingModel(f"1 - e^(-n/{scale:.3g})", (lambda n: -np.expm1(-n / scale),), "saturation", scale)


def hinge(place: float) -> ScalingModel:
    """Two slopes, of which the second begins at a size."""
    name = f"hinge at {place:.3g}"
    return ScalingModel(name, (lambda n: np.minimum(n, place), lambda n: np.maximum(n - place, 0.0)), "segments", place)


def step(place: float) -> ScalingModel:
    """A slope, and a step above a size."""
    return ScalingModel(f"n, step above {place:.3g}", (lambda n: n, lambda n: np.where(n > place, 1.0, 0.0)),
                        "segments", place)  # fmt: skip


#: So many places of a hinge or a step are tried.
_MOST_PLACES = 100
#: One size in so many lies beyond a hinge.
_BEYOND_HINGE = 5


@dataclass(frozen=True)
class Search:
    """Models of which one parameter is searched for, from the least to the largest value."""

    make: Callable[[float], ScalingModel]
    values: tuple[float, ...]
    smooth: bool = True
    """Values between those listed are other models; a step has the same costs at all sizes."""
    others: tuple[float, ...] = ()
    """Not smooth: every value, if too many to try them all; those near the best of *values* are tried."""


def searches(sizes: Floats) -> Iterator[Search]:
    """The models with a parameter that sizes can distinguish from others."""
    distinct: Sequence[float] = np.unique(sizes[sizes > 0]).tolist()
    last = distinct[-1]
    yield Search(power, tuple(np.linspace(0.1, 4.0, 27)))
    yield Search(power_and_line, tuple(np.linspace(1.2, 4.0, 12)))
    yield Search(exponential, tuple(np.geomspace(last / 60, 2 * last, 16)))
    for make in (saturation, decay):
        yield Search(make, tuple(np.geomspace(distinct[0], 2 * last, 16)))
    # The slope beyond a hinge rests on a fifth of many sizes: two neighbours would show nothing but their noise.
    end = distinct[-1 - max(1, len(distinct) // _BEYOND_HINGE)]
    yield Search(hinge, tuple(np.geomspace(distinct[1], end, min(2 * len(distinct), _MOST_PLACES))))
    every = tuple(distinct[:-1])
    if len(every) <= _MOST_PLACES:
        yield Search(step, every, smooth=False)
    else:
        some = np.unique(np.linspace(0, len(every) - 1, _MOST_PLACES).round().astype(int))
        yield Search(step, tuple(every[each] for each in some), smooth=False, others=every)
