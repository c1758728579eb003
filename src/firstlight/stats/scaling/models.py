"""The named models of a cost by size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScalingModel:
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
    ScalingModel("1", lambda n: np.ones_like(n)),
    ScalingModel("log n", _log),
    ScalingModel("sqrt n", np.sqrt),
    ScalingModel("n", lambda n: n),
    ScalingModel("n log n", lambda n: n * _log(n)),
    ScalingModel("n^2", lambda n: n**2),
    ScalingModel("n^2 log n", lambda n: n**2 * _log(n)),
    ScalingModel("n^3", lambda n: n**3),
)

BY_NAME = {law.name: law for law in LAWS}
