"""`firstlight calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight.cli.output import Json, Trust, print_json, refuse_to_overwrite
from firstlight.errors import UsageError


def calibrate(
    boot: Annotated[
        Path,
        typer.Argument(metavar="BOOT", readable=False, help="A recording, or a directory of boots of one recipe."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Keep it, for `compare --band FILE`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    pairs: Annotated[
        int | None, typer.Option(metavar="N", min=12, help="Of a live recording: so many pairs (default: 12).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Of the lot that makes two arms (default: drawn).")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Of a live recording: keep the boots in this directory.")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Find out how far figures move by themselves: what changes have to be told apart from.

    Of an exact recording: its nuisance band, by booting the recipe under ten changes that ought not to matter (a longer
    command line, another order in the initramfs, 1 MiB more memory, another seed). Of a live recording or a directory
    of boots: the noise of the testbed, by comparing equal boots with each other.

    \b
    Examples:
      firstlight calibrate a.boot -o band.json
      firstlight compare a.boot b.boot --band band.json
      firstlight calibrate live.boot --pairs 16 -o testbed.json
      firstlight calibrate boots/ -o testbed.json
    """
    from firstlight.bundle.open import read_manifest
    from firstlight.comparison.noise_band import Band
    from firstlight.comparison.statistical.calibration import Calibration
    from firstlight.experiment.calibrate.file import write_band
    from firstlight.experiment.calibrate.perturbations import make_band
    from firstlight.experiment.calibrate.testbed import calibrate_by_boots, calibrate_by_recording
    from firstlight.lab.host.progress import progress_for
    from firstlight.render.terminal.console import console
    from firstlight.render.views.band import print_band, print_calibration

    if output is not None:
        refuse_to_overwrite(output, force)
    directory = boot.is_dir() and not (boot / "manifest.json").exists()
    exact = not directory and read_manifest(boot).mode == "exact"
    for option, given in (("--pairs", pairs), ("--keep", keep)):
        if given is not None and (directory or exact):
            raise UsageError(f"`{option}` is for a live recording", where=str(boot), hint="leave it out")
    if exact and seed is not None:
        raise UsageError("`--seed` is for arms that are drawn by lot", where=str(boot), hint="leave it out")
    found: Band | Calibration
    if directory:
        found = calibrate_by_boots(boot, seed=seed)
    elif exact:
        found = make_band(boot, progress_for(), trust=trust)
    else:
        found = calibrate_by_recording(boot, pairs or 12, seed=seed, keep=keep, progress=progress_for(), trust=trust)
    if output is not None:
        write_band(found, output)
    if json:
        print_json(found.model_dump(mode="json"))
    elif isinstance(found, Band):
        print_band(console(), found)
    else:
        print_calibration(console(), found)
