"""From exact changes to those of a board: a model of costs, and intervals from the model's own misses.

A change of an exact boot is a change of instructions, of waits, of bytes on the console and of bytes that were read. A
board pays for each of them a price of its own, and no price is negative. The prices are fitted by non-negative least
squares with weights. How far the model misses is measured by leaving out each known change in turn: the misses grow
with what a change costs, because not every instruction costs the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy.optimize import nnls
from scipy.stats import t as student

from firstlight.errors import UsageError
from firstlight.frozen import FrozenModel

#: Fewer known changes say nothing of the misses.
LEAST_CHANGES = 8

Floats = npt.NDArray[np.float64]


class KnownChange(FrozenModel):
    """One change, exactly and on the board."""

    name: str
    exact: dict[str, float] = Field(description="what changed in the exact boot, by the kind of cost")
    board_ns: float = Field(description="what changed on the board, in nanoseconds")
    error_ns: float = Field(ge=0, description="standard error of the board's change")


class BoardPrediction(FrozenModel):
    """What a change means on a board, in nanoseconds."""

    ns: float
    low_ns: float
    high_ns: float
    parts: dict[str, float] = Field(description="of the prediction, by the kind of cost")
    beyond: list[str] = Field(description="kinds of cost that no known change has, so that nothing is known of them")


class CostModel(FrozenModel):
    """Prices of a board."""

    prices: dict[str, float] = Field(description="nanoseconds of the board for one unit of each cost")
    miss: float = Field(description="standard deviation of the normalised misses")
    share: float = Field(description="how much of a change's size a miss is, before it is scaled")
    floor_ns: float = Field(description="how exactly the board's changes are known")
    changes: int = Field(description="known changes")
    level: float = Field(description="how often the interval is to contain the truth")

    def predict(self, exact: Mapping[str, float]) -> BoardPrediction:
        """What an exact change means on the board.

        :param exact: the change, by the kind of cost.

        >>> model = CostModel(prices={"instructions": 2.0}, miss=1.0, share=0.1, floor_ns=0.0, changes=12, level=0.95)
        >>> found = model.predict({"instructions": -1000.0})
        >>> found.ns, found.low_ns < -2000 < found.high_ns < 0
        (-2000.0, True)
        """
        parts = {name: self.prices[name] * value for name, value in exact.items() if name in self.prices}
        beyond = sorted(name for name, value in exact.items() if name not in self.prices and value)
        size = _norm(sum(abs(part) for part in parts.values()), self.floor_ns, self.share)
        free = max(1, self.changes - len(self.prices))
        half = float(student.ppf(0.5 + self.level / 2, free)) * self.miss * size * math.sqrt(1 + 1 / self.changes)
        total = sum(parts.values())
        return BoardPrediction(ns=total, low_ns=total - half, high_ns=total + half, parts=parts, beyond=beyond)


def fit_costs(changes: Sequence[KnownChange], level: float = 0.95, share: float = 0.1) -> CostModel:
    """Fit the prices of a board to known changes.

    :param changes: at least eight; a kind of cost that fewer than two of them have gets no price.
    :param level: how often an interval is to contain the truth.
    :param share: the first guess of how much of a change's size a miss is; the misses scale it.
    :raises UsageError: for too few changes.

    Source: Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23; prediction intervals from residuals of
    leaving one out as in Barber et al. (2021), Predictive inference with the jackknife+, with Student's quantile in
    place of the empirical one, which dozens of changes would be needed for.

    >>> known = [KnownChange(name=str(n), exact={"instructions": 1e6 * n}, board_ns=2e6 * n, error_ns=1e4)
    ...          for n in range(1, 9)]
    >>> round(fit_costs(known).prices["instructions"], 6)
    2.0
    """
    if len(changes) < LEAST_CHANGES:
        hint = f"at least {LEAST_CHANGES} changes that a board and an exact boot both have"
        raise UsageError(f"{len(changes)} known changes are too few for a model", hint=hint)
    names = sorted({name for change in changes for name in change.exact})
    names = [name for name in names if sum(change.exact.get(name, 0.0) != 0.0 for change in changes) >= 2]
    if not names:
        raise UsageError("the known changes change nothing in the exact boots", hint="choose changes with an effect")
    costs = np.array([[change.exact.get(name, 0.0) for name in names] for change in changes])
    truth = np.array([change.board_ns for change in changes])
    floor = float(np.sqrt(np.mean([change.error_ns**2 for change in changes])))
    prices = _fit(costs, truth, floor, share)
    misses = []
    for left in range(len(changes)):
        kept = np.arange(len(changes)) != left
        without = _fit(costs[kept], truth[kept], floor, share)
        size = _norm(float(np.abs(costs[left] * without).sum()), floor, share)
        misses.append((truth[left] - float(costs[left] @ without)) / size)
    miss = float(np.sqrt(np.mean(np.square(misses))))
    return CostModel(
        prices=dict(zip(names, map(float, prices), strict=True)), miss=miss, share=share, floor_ns=floor,
        changes=len(changes), level=level,
    )  # fmt: skip


def _fit(costs: Floats, truth: Floats, floor: float, share: float) -> Floats:
    """Prices by non-negative least squares; large changes, which are missed by more, weigh less."""
    scale = np.maximum(np.abs(costs).max(axis=0), 1e-300)
    scaled = costs / scale
    weights = np.ones(len(truth))
    prices: Floats = np.zeros(costs.shape[1])
    for _ in range(4):
        prices, _ = nnls(scaled * weights[:, None], truth * weights)
        sizes = np.array([_norm(float(size), floor, share) for size in np.abs(scaled * prices).sum(axis=1)])
        weights = 1 / sizes
    return np.asarray(prices / scale)


def _norm(size: float, floor: float, share: float) -> float:
    return math.hypot(floor, share * size) or 1.0
