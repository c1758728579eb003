"""Which combinations of levels an experiment boots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from firstlight.experiment.change import SINGLE, RecipeChange, combine
from firstlight.experiment.factor import Factor
from firstlight.experiment.plan import MOST_CELLS, ExperimentPlan
from firstlight.experiment.plan_parser import PlanError

if TYPE_CHECKING:
    import numpy as np

_LONGEST_NAME = 100


@dataclass(frozen=True)
class Cell:
    """One recipe of an experiment."""

    name: str
    directory: str
    """Below the experiment's; the name, where that is short enough."""
    levels: dict[str, str]
    """Of each factor; empty for an arm."""
    change: RecipeChange


def cells_of(plan: ExperimentPlan) -> list[Cell]:
    """The cells of a plan; the first one is the baseline (of a Plackett-Burman design: the one with most baselines).

    :raises PlanError: when there are too many, or two levels contradict one another.
    """
    if plan.arms:
        return [Cell(arm.name, arm.name, {}, _change(arm)) for arm in plan.arms]
    cells = []
    for number, levels in enumerate(_combinations(plan)):
        name = _cell_name(plan, levels)
        directory = name if len(name) <= _LONGEST_NAME else f"cell-{number + 1:04}"
        change = RecipeChange()
        for factor in plan.factors:
            addition = factor.levels[levels[factor.name]]
            _check_together(change, addition, factor.name)
            change = combine(change, addition)
        cells.append(Cell(name, directory, levels, change))
    return cells


def _cell_name(plan: ExperimentPlan, levels: dict[str, str]) -> str:
    """All levels; one at a time the level that is not the baseline's."""
    shown = levels
    if plan.design.kind == "one-at-a-time":
        shown = {f.name: levels[f.name] for f in plan.factors if levels[f.name] != next(iter(f.levels))}
    return ",".join(f"{factor}={level}" for factor, level in shown.items()) or "baseline"


def _change(arm: RecipeChange) -> RecipeChange:
    return RecipeChange.model_validate({name: getattr(arm, name) for name in RecipeChange.model_fields}, by_name=True)


def _check_together(change: RecipeChange, addition: RecipeChange, factor: str) -> None:
    for name in SINGLE:
        if name in change.given() & addition.given():
            raise PlanError(f"factor `{factor}` and an earlier factor both set `{name.replace('_', '-')}`")


def _combinations(plan: ExperimentPlan) -> list[dict[str, str]]:
    factors = plan.factors
    if plan.design.kind == "full":
        number = 1
        for factor in factors:
            number *= len(factor.levels)
        if number > MOST_CELLS:
            raise PlanError(
                f"a full design of these factors has {number:,} cells, {MOST_CELLS:,} are the most",
                hint='`design = "plackett-burman"` screens many factors with few boots',
            )
        # The last factor varies fastest.
        return [_named(factors, levels) for levels in product(*(factor.levels for factor in factors))]
    if plan.design.kind == "one-at-a-time":
        baseline = {factor.name: next(iter(factor.levels)) for factor in factors}
        if (number := 1 + sum(len(factor.levels) - 1 for factor in factors)) > MOST_CELLS:
            raise PlanError(f"one at a time these factors have {number:,} cells, {MOST_CELLS:,} are the most")
        others = [{**baseline, f.name: level} for f in factors for level in list(f.levels)[1:]]
        return [baseline, *others]
    return [_named(factors, levels) for levels in _two_levels(plan)]


def _named(factors: Sequence[Factor], levels: Sequence[str]) -> dict[str, str]:
    return {factor.name: level for factor, level in zip(factors, levels, strict=True)}


def _two_levels(plan: ExperimentPlan) -> list[list[str]]:
    """Rows of a design of two levels, from pydoe; the row nearest to the baseline first."""
    signs = signs_of(plan.design.kind, len(plan.factors), plan.design.resolution, plan.design.fold_over)
    names = [list(factor.levels) for factor in plan.factors]
    return [[levels[sign > 0] for levels, sign in zip(names, row, strict=True)] for row in signs]


def signs_of(kind: str, factors: int, resolution: int, fold_over: bool) -> list[tuple[int, ...]]:
    """The rows of a fractional or Plackett-Burman design, -1 for the first level and +1 for the second.

    :raises PlanError: when there is no such design.

    >>> len(signs_of("plackett-burman", 11, 4, True)), len(signs_of("fractional", 5, 4, True))
    (24, 16)
    """
    import pydoe  # type: ignore[import-untyped]  # it loads scipy

    if kind == "plackett-burman":
        matrix = _plackett_burman(factors)
        matrix = pydoe.fold(matrix) if fold_over else matrix
    else:
        try:
            matrix = pydoe.fracfact_by_res(factors, resolution)
        except ValueError as error:
            raise PlanError(
                f"there is no fractional design of resolution {resolution} for {factors} factors",
                hint='take another `resolution`, or `design = "full"`',
            ) from error
    rows = sorted({tuple(int(sign) for sign in row) for row in matrix.tolist()})
    if len(rows) > MOST_CELLS:
        raise PlanError(f"this design has {len(rows):,} cells, {MOST_CELLS:,} are the most")
    return sorted(rows, key=lambda row: (sum(row), row))


def _plackett_burman(factors: int) -> np.ndarray:
    """The columns of the smallest design that has so many; pydoe knows none of 28, 36 or 44 boots."""
    import pydoe

    for columns in range(factors, 48):
        try:
            design: np.ndarray = pydoe.pbdesign(columns)
            return design[:, :factors]
        except ValueError:
            continue
    raise PlanError(f"{factors} factors: a Plackett-Burman design takes at most 47")
