"""Models of boards: fitted to experiments, and asked what an exact change means there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike
from firstlight.api.write import check_free

if TYPE_CHECKING:
    from firstlight.experiment.calibrate.board import BoardModel, PredictedChange
    from firstlight.lab.storage.fit import StorageFit


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


def calibrate_storage(
    log: PathLike, *, device: str | None = None, output: PathLike | None = None, force: bool = False
) -> StorageFit:
    """Fit a model of a disk to the block requests in one log of a board.

    :param log: a text with the kernel's events `block_rq_issue` and `block_rq_complete`: a trace, or a console.
    :param device: `MAJOR,MINOR` of the disk; by default that with the most reads.
    :param output: also write the model as TOML, for `storage` of :func:`record`.
    :param force: replace an existing file.
    :raises UsageError: when the log cannot be read, or lacks what a model needs.
    :raises FirstlightError: when the file cannot be written.

    Source: docs/guides/storage.md.

    Example: ``firstlight.calibrate_storage("trace.txt", output="board.toml").model.read``.
    """
    from firstlight.atomic import atomic_write
    from firstlight.lab.storage.fit import fit_storage, log_lines
    from firstlight.lab.storage.model import model_text

    path = Path(log)
    if output is not None:
        check_free(Path(output), force=force)
    name = "fitted" if output is None else Path(output).stem
    found = fit_storage(log_lines(path), name, str(path), device)
    if output is not None:
        with atomic_write(Path(output), force=force) as made:
            made.write_text(model_text(found.model), encoding="utf-8")
    return found


def predict_on_board(boot: PathLike, model: PathLike, *, before: PathLike | None = None) -> PredictedChange:
    """Predict what a change between exact boots means on a board.

    :param boot: the exact boot with the change.
    :param model: a file of :func:`calibrate_board`.
    :param before: the exact boot without it; by default the baseline that the model was fitted with.
    :returns: the change in nanoseconds of the board, with its interval and its parts.
    :raises UsageError: for a file that is not a model, or boots that are not exact.
    :raises FirstlightError: when a boot cannot be read.

    Source: docs/guides/boards.md.

    Example: ``firstlight.predict_on_board("quiet.boot", "imx8.model").prediction.ns``.
    """
    from firstlight.bundle.open import open
    from firstlight.experiment.calibrate.board import PredictedChange, predict_change, read_model

    found = read_model(Path(model))
    first = None if before is None else open(Path(before))
    return PredictedChange(found.board, found.model.level, predict_change(found, first, open(Path(boot))))
