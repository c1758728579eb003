"""`firstlight calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForceFile, Json, Trust
from firstlight.errors import UsageError


def calibrate(
    boot: Annotated[
        Path,
        typer.Argument(metavar="BOOT", readable=False, help="A recording, or a directory with boots of one recipe."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the result as JSON, for `compare --band FILE`."),
    ] = None,
    force: ForceFile = False,
    pairs: Annotated[
        int | None,
        typer.Option(metavar="N", min=12, help="For a live recording: number of pairs of boots (default: 12)."),
    ] = None,
    board: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="An experiment on a board with the arms of the exact experiment BOOT: fit a model of the board.",
        ),
    ] = None,
    storage: Annotated[
        bool,
        typer.Option("--storage", help="BOOT is a log with block requests: fit a model for `record --storage FILE`."),
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(metavar="MAJOR,MINOR", help="With --storage: the disk (default: the one with the most reads)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Seed for splitting boots into two arms (default: random).")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="For a live recording: store the boots in this directory.")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Measure the noise band: how much results vary without a real change.

    For an exact recording, boot the recipe under ten changes that should not matter (a longer command line, another
    order in the initramfs, 1 MiB more memory, another seed) and report the range of each figure. For a live recording
    or a directory of boots, compare equal boots with each other and report the noise of the testbed.

    \b
    Examples:
      firstlight calibrate a.boot -o band.json
      firstlight compare a.boot b.boot --band band.json
      firstlight calibrate live.boot --pairs 16 -o testbed.json
      firstlight calibrate boots/ -o testbed.json
      firstlight calibrate exact/ --board board/ -o imx8.model
      firstlight calibrate trace.txt --storage -o disk.toml
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.band import band_report, calibration_report

    if device is not None and not storage:
        raise UsageError("`--device` needs `--storage`")
    if storage:
        if board is not None or pairs is not None or seed is not None or keep is not None:
            raise UsageError("`--storage` cannot be combined with `--board`, `--pairs`, `--seed` or `--keep`")
        from firstlight.render.views.storage_model import storage_report

        fit = api.calibrate_storage(boot, device=device, output=output, force=force)
        if json:
            print_json(fit.model_dump(mode="json", by_alias=True))
        else:
            print_report(storage_report(fit))
        return
    if board is not None:
        if pairs is not None or seed is not None or keep is not None:
            raise UsageError("`--board` cannot be combined with `--pairs`, `--seed` or `--keep`")
        from firstlight.render.views.board_model import model_report

        model = api.calibrate_board(boot, board, output=output, force=force)
        if json:
            print_json(model.model_dump(mode="json"))
        else:
            print_report(model_report(model))
        return
    found = api.calibrate(
        boot, pairs=pairs, seed=seed, keep=keep, output=output, force=force, trust=trust, progress=True
    )
    if json:
        print_json(found.model_dump(mode="json"))
    elif isinstance(found, api.NoiseBand):
        print_report(band_report(found))
    else:
        print_report(calibration_report(found))
