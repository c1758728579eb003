"""The verbs of the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight.cli.audit import audit
from firstlight.cli.bless import bless
from firstlight.cli.calibrate import calibrate
from firstlight.cli.collector import collector
from firstlight.cli.compare import compare
from firstlight.cli.devices import devices
from firstlight.cli.doctor import doctor
from firstlight.cli.experiment import app as experiment
from firstlight.cli.export import export
from firstlight.cli.functions import functions
from firstlight.cli.gate import gate
from firstlight.cli.history import app as history
from firstlight.cli.image import app as image
from firstlight.cli.import_ import import_
from firstlight.cli.initcalls import initcalls
from firstlight.cli.log import log
from firstlight.cli.path import path
from firstlight.cli.record import record
from firstlight.cli.report import report
from firstlight.cli.scale import scale
from firstlight.cli.show import show
from firstlight.cli.study import study
from firstlight.cli.try_ import try_
from firstlight.cli.units import units
from firstlight.cli.verify import verify
from firstlight.cli.walk import walk
from firstlight.version import VERSION

app = typer.Typer(
    name="firstlight",
    help="Record a Linux boot exactly, and say where every nanosecond went.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for verb in (
    record, show, functions, initcalls, devices, units, path, log, compare, report, export, verify, audit, bless, gate,
    scale, study, walk, calibrate, collector, doctor,
):  # fmt: skip
    app.command()(verb)
app.command("import")(import_)
app.command("try")(try_)
app.add_typer(experiment, name="experiment")
app.add_typer(history, name="history")
app.add_typer(image, name="image")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"firstlight {VERSION}")
        raise typer.Exit


@app.callback()
def _firstlight(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass
