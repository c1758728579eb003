"""What an experiment says, as data: `docs/formats/experiment.md` is the shape's specification."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

from firstlight.compare.experiment.results import CellResult, Results


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


def results_data(results: Results) -> dict[str, Any]:
    """The cells of an experiment."""
    span = results.span
    baseline = results.cells[0].time
    return {
        "experiment": str(results.path),
        "title": results.plan.title,
        "mode": results.plan.mode,
        "unit": "ns",
        "from": span[0] if span else None,
        "to": span[1] if span else None,
        "seed": results.state.seed,
        "exact": {"canary": results.canary},
        "notes": results.notes,
        "cells": [_cell(cell, baseline) for cell in results.cells],
    }


def _cell(cell: CellResult, baseline: Fraction | None) -> dict[str, Any]:
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
