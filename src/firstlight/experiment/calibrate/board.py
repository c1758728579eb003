"""A model of a board, fitted to experiments with the same arms: one exact, one on the board."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field, ValidationError

from firstlight.analysis.mark_interval import measure
from firstlight.atomic import atomic_write
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.errors import MISSING_INPUT, FirstlightError, UsageError
from firstlight.experiment.cell_result import CellResult
from firstlight.experiment.results import Results, read_results
from firstlight.frozen import FrozenModel
from firstlight.recipe.mode import RecordMode
from firstlight.stats.board_model import BoardPrediction, CostModel, KnownChange, fit_costs

_HINT = "`firstlight calibrate exact/ --board board/ -o FILE` writes one"
_READS = ("read", "pread64", "readv", "preadv")
#: Of so many pairs the board's change has a standard error.
_LEAST_PAIRS = 3


class BoardModel(FrozenModel):
    """What `calibrate --board` writes."""

    kind: Literal["board_model"] = "board_model"
    board: str = Field(description="the board's file")
    baseline: dict[str, float] = Field(description="the costs of the exact baseline")
    baseline_key: str = Field(description="of its boot: which guest the model is of")
    model: CostModel = Field(description="the prices")
    known: list[KnownChange] = Field(description="the changes that it was fitted to")


@dataclass(frozen=True)
class PredictedChange:
    """What an exact change means on a board."""

    board: str
    level: float
    """How often such an interval is to contain the truth."""
    prediction: BoardPrediction


def costs_of(boot: Boot) -> dict[str, float]:
    """What an exact boot consists of, by the kind of cost.

    Instructions, idle nanoseconds (waits), bytes of the console, and bytes that processes read, if they were followed.

    :raises FirstlightError: for a boot that is not exact, or has no counts.

    >>> import firstlight
    >>> sorted(costs_of(firstlight.open(bundle)))
    ['console_bytes', 'instructions', 'wait_ns']
    """
    where = str(boot.directory)
    if boot.manifest.mode != RecordMode.EXACT:
        raise UsageError("a model of a board starts from exact boots", where=where, hint="record without `--live`")
    found = measure(boot)
    if found.instructions is None or found.idle_ns is None:
        raise UsageError("this boot has no counts of instructions", where=where, hint="record without `--no-profile`")
    lines = boot.log().filter(pl.col("channel").is_null() | (pl.col("channel") == "console"))["text"]
    costs = {
        "instructions": float(found.instructions),
        "wait_ns": float(found.idle_ns),
        "console_bytes": float(sum(len(text) + 17 for text in lines.drop_nulls())),
    }
    if boot.table("system_calls").height:
        reads = boot.table("system_calls").filter(pl.col("name").is_in(_READS) & (pl.col("result") > 0))
        costs["read_bytes"] = float(reads["result"].sum() or 0)
    return costs


def calibrate_board(exact: Path, board: Path, level: float = 0.95) -> BoardModel:
    """Fit a model of a board to two experiments with arms of the same names.

    :param exact: the directory of an exact experiment; its first arm is the baseline.
    :param board: the directory of an experiment on the board.
    :param level: how often the interval of a prediction is to contain the truth.
    :raises UsageError: when they are not such experiments, or have fewer than eight changes in common.
    :raises FirstlightError: when one cannot be read.
    """
    ours, theirs = read_results(exact), read_results(board)
    if ours.plan.mode != RecordMode.EXACT:
        raise UsageError("this experiment is not exact", where=str(exact), hint=_HINT)
    if theirs.plan.board is None:
        raise UsageError(
            "this experiment was not run on a board", where=str(board), hint='its plan needs `board = "…"`'
        )
    before = open_boot(_first(ours, ours.cells[0]))
    baseline = costs_of(before)
    cells = {cell.name: cell for cell in theirs.cells}
    if ours.cells[0].name != theirs.cells[0].name:
        message = f"the baselines differ: `{ours.cells[0].name}` and `{theirs.cells[0].name}`"
        raise UsageError(message, where=str(board), hint="give the first arms one name")
    known = []
    for cell in ours.cells[1:]:
        other = cells.get(cell.name)
        if other is None or not cell.counted:
            continue
        changes = _pairs(theirs.cells[0], other)
        if len(changes) < _LEAST_PAIRS:
            continue
        after = costs_of(open_boot(_first(ours, cell)))
        known.append(
            KnownChange(
                name=cell.name,
                exact=difference(baseline, after),
                board_ns=statistics.fmean(changes),
                error_ns=statistics.stdev(changes) / math.sqrt(len(changes)),
            )
        )
    model = fit_costs(known, level)
    key = ours.cells[0].key
    return BoardModel(board=theirs.plan.board, baseline=baseline, baseline_key=key, model=model, known=known)


def difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What changed, of the costs that both boots have.

    >>> difference({"instructions": 5.0, "wait_ns": 1.0}, {"instructions": 7.0})
    {'instructions': 2.0}
    """
    return {name: after[name] - value for name, value in before.items() if name in after}


def predict_change(model: BoardModel, before: Boot | None, after: Boot) -> BoardPrediction:
    """What the change from one exact boot to another means on the board.

    :param before: by default the baseline that the model was fitted with.
    :raises FirstlightError: for boots that are not exact.
    """
    first = model.baseline if before is None else costs_of(before)
    return model.model.predict(difference(first, costs_of(after)))


def write_model(model: BoardModel, path: Path) -> None:
    """Write a model as JSON; what is there is replaced.

    :raises FirstlightError: when it cannot be written.
    """
    with atomic_write(path, force=True) as written:
        written.write_text(model.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_model(path: Path) -> BoardModel:
    """Read what :func:`write_model` wrote.

    :raises UsageError: when the file is missing, is something else, or is damaged.
    """
    where = str(path)
    try:
        text = path.read_text(encoding="utf-8")
        if not isinstance(data := json.loads(text), dict) or data.get("kind") != "board_model":
            raise UsageError("this is not a model of a board", where=where, hint=_HINT)
        return BoardModel.model_validate(data)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise UsageError(message, where=where, hint=_HINT, exit_code=MISSING_INPUT) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"the model is damaged: `{place}`: {first['msg']}", where=where, hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise UsageError("this is not a model of a board: it is not JSON", where=where, hint=_HINT) from error


def _first(results: Results, cell: CellResult) -> Path:
    for boot in cell.boots:
        if boot.measured is not None:
            return boot.path
    raise FirstlightError(f"`{cell.name}` has no boot that counts: {cell.why_not}", where=str(results.path))


def _pairs(before: CellResult, after: CellResult) -> list[float]:
    """The change of each block in which both count, in nanoseconds."""
    first = {boot.repeat: boot.measured for boot in before.boots if boot.measured is not None}
    return [
        float(boot.measured.time_ns - first[boot.repeat].time_ns)
        for boot in after.boots
        if boot.measured is not None and boot.repeat in first
    ]
