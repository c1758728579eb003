"""Models of boards: fitted to experiments, and asked what an exact change means there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.record_boots import PathLike
from firstlight.api.write import check_free

if TYPE_CHECKING:
    from firstlight.experiment.calibrate.board import BoardModel, PredictedChange


def calibrate_board(
    exact: PathLike, board: PathLike, *, output: PathLike | None = None, force: bool = False
) -> BoardModel:
    """Fit a model of a board to two experiments with arms of the same names.

    :param exact: the directory of an exact experiment; its first arm is the baseline.
    :param board: the directory of an experiment on the board, with the same first arm.
    :param output: also write the model as JSON, for :func:`predict_on_board`.
    :param force: replace an existing file.
    :raises UsageError: when they are not such experiments, or have fewer than eight changes in common.
    :raises FirstlightError: when one cannot be read, or the file cannot be written.

    Source: docs/guides/boards.md.

    Example: ``firstlight.calibrate_board("exact", "board", output="imx8.model").model.prices``.
    """
    from firstlight.experiment.calibrate.board import calibrate_board as calibrate
    from firstlight.experiment.calibrate.board import write_model

    if output is not None:
        check_free(Path(output), force=force)
    found = calibrate(Path(exact), Path(board))
    if output is not None:
        write_model(found, Path(output))
    return found


def predict_on_board(boot: PathLike, model: PathLike, *, before: PathLike | None = None) -> PredictedChange:
    """Predict what a change between exact boots means on a board.

    :param boot: the exact boot with the change.
    :param model: a file of :func:`calibrate_board`.
    :param before: the exact boot without it; by default the baseline that the model was fitted with.
    :returns: the change in nanoseconds of the board, with its interval and its parts.
    :raises UsageError: for a file that is no model, or boots that are not exact.
    :raises FirstlightError: when a boot cannot be read.

    Source: docs/guides/boards.md.

    Example: ``firstlight.predict_on_board("quiet.boot", "imx8.model").prediction.ns``.
    """
    from firstlight.bundle.open import open
    from firstlight.experiment.calibrate.board import PredictedChange, predict_change, read_model

    found = read_model(Path(model))
    first = None if before is None else open(Path(before))
    return PredictedChange(found.board, found.model.level, predict_change(found, first, open(Path(boot))))
