"""`firstlight predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Json


def predict(
    boot: Annotated[Path, typer.Argument(metavar="BOOT", readable=False, help="The exact boot with the change.")],
    board_model: Annotated[
        Path,
        typer.Option(
            "--board-model", metavar="FILE", readable=False, help="The model of a board, from `calibrate --board`."
        ),
    ],
    before: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="BOOT",
            readable=False,
            help="The exact boot without the change (default: the baseline that the model was fitted with).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Predict what a change between exact boots means on a board, with an interval.

    The model has the board's price of an instruction, of a waited nanosecond, of a byte on the console and of a byte
    that is read. The interval comes from the changes that the model was fitted to.

    \b
    Examples:
      firstlight predict quiet.boot --board-model imx8.model
      firstlight predict b.boot --from a.boot --board-model imx8.model --json
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.board_model import prediction_report

    found = api.predict_on_board(boot, board_model, before=before)
    if json:
        print_json(found.prediction.model_dump(mode="json") | {"board": found.board, "level": found.level})
    else:
        print_report(prediction_report(found))
