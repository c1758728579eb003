"""Laws with names: what a cost may be of a size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """A law of growth: cost = a + b * growth(size).

    >>> BY_NAME["n log n"].growth(np.array([0.0, 1.0, 8.0])).tolist()
    [0.0, 0.0, 24.0]
    """

    name: str
    growth: Callable[[Floats], Floats]

    @property
    def is_constant(self) -> bool:
        """Whether nothing grows."""
        return self.name == "1"


def _log(n: Floats) -> Floats:
    """Logarithm to the base 2; nothing and one thing alike take none."""
    return np.log2(np.maximum(n, 1.0))


#: From the slowest growth to the fastest. Logarithms are to the base 2, and 0 for sizes below 1.
LAWS = (
    Law("1", lambda n: np.ones_like(n)),
    Law("log n", _log),
    Law("sqrt n", np.sqrt),
    Law("n", lambda n: n),
    Law("n log n", lambda n: n * _log(n)),
    Law("n^2", lambda n: n**2),
    Law("n^2 log n", lambda n: n**2 * _log(n)),
    Law("n^3", lambda n: n**3),
)

BY_NAME = {law.name: law for law in LAWS}
