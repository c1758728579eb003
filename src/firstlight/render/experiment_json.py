"""What an experiment says, as data: `docs/reference/formats/experiment.md` is the shape's specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from firstlight.experiment.cell_result import CellResult
from firstlight.experiment.effects import MainEffect, aliases, interactions, main_effects
from firstlight.experiment.estimates import (
    EffectEstimate,
    estimate_cells,
    estimate_effects,
    estimate_interactions,
    varies,
)
from firstlight.experiment.quantiles import cell_quantiles
from firstlight.experiment.results import Results
from firstlight.experiment.schedule import Prepared
from firstlight.experiment.shapley import Shares, shapley
from firstlight.experiment.stage_table import percent_of, stage_table


def exact_number(value: Fraction | None) -> int | float | None:
    """A figure as JSON has it: whole where it is whole.

    >>> exact_number(Fraction(6, 2)), exact_number(Fraction(1, 2)), exact_number(None)
    (3, 0.5, None)
    """
    if value is None:
        return None
    return value.numerator if value.denominator == 1 else float(value)


def fraction_text(value: Fraction | None) -> str | None:
    """A figure in full: `numerator/denominator`, or the whole number."""
    return None if value is None else str(value)


def results_data(results: Results, statistics: Sequence[str] = ()) -> dict[str, Any]:
    """Everything that an experiment says.

    :param statistics: statistics of the cells of boots that vary, each against the first cell.
    """
    span = results.span
    baseline = results.cells[0].time
    noisy = varies(results)
    cells = estimate_cells(results) if noisy else {}
    effects = estimate_effects(results) if noisy else {}
    both = estimate_interactions(results) if noisy else {}
    return {
        "experiment": str(results.path),
        "title": results.plan.title,
        "mode": results.plan.mode,
        "unit": "ns",
        "from": span[0] if span else None,
        "to": span[1] if span else None,
        "seed": results.state.seed,
        "exact": {"canary": results.canary, "varies": noisy},
        "notes": results.notes,
        "cells": [_cell(cell, baseline, cells.get(cell.name)) for cell in results.cells],
        "factors": [
            {"name": factor.name, "kind": factor.kind, "levels": list(factor.levels)} for factor in results.plan.factors
        ],
        "design": results.plan.design.kind if results.plan.factors else None,
        "effects": [_effect(each, effects.get((each.factor, each.level))) for each in main_effects(results)],
        "interactions": [
            {
                "factors": list(each.factors),
                "levels": list(each.levels),
                "interaction_ns": exact_number(each.effect),
                "exact": fraction_text(each.effect),
                "squares": each.squares,
                "judged": (found := both.get((each.factors, each.levels))) and asdict(found),
            }
            for each in interactions(results)
        ],
        "aliases": [{"factor": name, "with": mixed} for name, mixed in aliases(results)],
        "shares": _shares(shapley(results)),
        "stages": stages_data(results),
        "quantiles": [
            {"cell": each.cell, **each.found.model_dump(mode="json")} for each in cell_quantiles(results, statistics)
        ],
    }


def stages_data(results: Results) -> dict[str, Any] | None:
    """The table of stages; `None` where no boot counts."""
    if not any(cell.counted for cell in results.cells):
        return None
    table = stage_table(results)
    rows = []
    for row in table.rows:
        times = row.times
        rows.append(
            {
                "stage": row.name,
                "times_ns": [exact_number(time) for time in times],
                "share_of": row.share_of,
                "shares_percent": row.percents,
                "changes": [_change(times, one, other) for one, other in table.steps],
                "total": None if table.from_first else _change(times, 0, len(table.arms) - 1),
            }
        )
    convention = "trunc(100 * new / old)"
    against = "first" if table.from_first else "before"
    return {"arms": table.arms, "against": against, "percent": convention, "rows": rows, "why_not": table.why_not}


def _change(times: list[Fraction | None], one: int, other: int) -> dict[str, Any]:
    before, after = times[one], times[other]
    change = None if before is None or after is None else after - before
    return {"change_ns": exact_number(change), "percent": percent_of(after, before)}


def _effect(each: MainEffect, estimate: EffectEstimate | None) -> dict[str, Any]:
    return {
        "factor": each.factor,
        "level": each.level,
        "baseline": each.baseline,
        "effect_ns": exact_number(each.effect),
        "exact": fraction_text(each.effect),
        "least_ns": exact_number(each.least),
        "most_ns": exact_number(each.most),
        "pairs": each.pairs,
        "possible": each.possible,
        "nothing": each.nothing,
        "judged": estimate and asdict(estimate),
    }


def _shares(shares: Shares | str) -> dict[str, Any]:
    if isinstance(shares, str):
        return {"why_not": shares, "total_ns": None, "factors": []}
    return {
        "why_not": None,
        "total_ns": exact_number(shares.total),
        "exact": fraction_text(shares.total),
        "factors": [
            {
                "factor": each.factor,
                "level": each.level,
                "share_ns": each.whole,
                "exact": fraction_text(each.share),
                "first_in_ns": exact_number(each.first_in),
                "last_out_ns": exact_number(each.last_out),
            }
            for each in shares.shares
        ],
    }


def _cell(cell: CellResult, baseline: Fraction | None, estimate: EffectEstimate | None) -> dict[str, Any]:
    change = None if None in (cell.time, baseline) else cell.time - baseline  # type: ignore[operator]
    return {
        "name": cell.name,
        "directory": cell.directory,
        "levels": cell.levels,
        "key": cell.key,
        "counted": len(cell.counted),
        "time_ns": exact_number(cell.time),
        "instructions": exact_number(cell.instructions),
        "idle_ns": exact_number(cell.idle),
        "change_ns": exact_number(change),
        "judged": estimate and asdict(estimate),
        "why_not": cell.why_not,
        "boots": [
            {
                "repeat": boot.repeat,
                "path": str(boot.path),
                "recorded": boot.recorded,
                "excluded": boot.excluded,
                **({} if boot.measured is None else asdict(boot.measured)),
            }
            for boot in cell.boots
        ],
    }


def plan_data(prepared: Prepared) -> dict[str, Any]:
    """What would be booted, as data."""
    state, store = prepared.state, prepared.store
    return {
        "experiment": str(store.path),
        "mode": prepared.plan.mode,
        "seed": state.seed,
        "cells": [cell.model_dump(mode="json") for cell in state.cells],
        "boots": [
            {"cell": state.cells[number].name, "repeat": repeat, "there": store.has(state.cells[number], repeat)}
            for number, repeat in prepared.boots()
        ],
    }
