"""The verbs of the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from firstlight.cli.audit import audit
from firstlight.cli.baseline import app as baseline
from firstlight.cli.baseline import set_baseline
from firstlight.cli.calibrate import calibrate
from firstlight.cli.collector import collector
from firstlight.cli.compare import compare
from firstlight.cli.completion import completion
from firstlight.cli.devices import devices
from firstlight.cli.doctor import doctor
from firstlight.cli.experiment import app as experiment
from firstlight.cli.export import export
from firstlight.cli.functions import functions
from firstlight.cli.gate import gate
from firstlight.cli.help import SETTINGS, GroupedCommands, Task
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
    cls=GroupedCommands,
    help="Find out where Linux boot time goes: record a boot exactly in QEMU, or import logs that you already have.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)

COMMANDS: dict[Task, list[tuple[str, Callable[..., None] | typer.Typer, str]]] = {
    Task.RECORD: [
        ("record", record, "Record a boot in QEMU, exactly or with --live"),
        ("import", import_, "Import logs, traces and timings that other tools recorded"),
        ("collector", collector, "Print a script that collects boot records on any Linux system"),
        ("verify", verify, "Boot a bundle's recipe again and compare every table"),
        ("audit", audit, "Check a profile with a second, independent observer"),
    ],
    Task.LOOK: [
        ("show", show, "Show a boot: totals, phases, marks and the hottest functions"),
        ("path", path, "Show the critical path: the steps that decided the boot time"),
        ("functions", functions, "Show the function profile (kd columns): calls, total, own time"),
        ("initcalls", initcalls, "Show the initcalls: level, start, duration and grade"),
        ("devices", devices, "Show device probes, deferrals and uevents"),
        ("units", units, "Show systemd units: how long each waited and took to start"),
        ("log", log, "Show the log with the time between lines, and its silent gaps"),
        ("report", report, "Write a boot as one self-contained HTML page"),
        ("export", export, "Write a boot in the format of another tool"),
    ],
    Task.COMPARE: [
        ("compare", compare, "Show what changed between boots, largest change first"),
        ("try", try_, "Boot a recorded boot's recipe with one change and compare"),
        ("calibrate", calibrate, "Measure the noise band: how much results vary unchanged"),
        ("experiment", experiment, "Boot a plan of arms or factors and show the effect of each"),
        ("scale", scale, "Fit how a cost grows with a quantity, booted or from a table"),
        ("study", study, "Run one of the classic studies on today's Linux"),
        ("walk", walk, "Measure a directory walk with and without one extra stat"),
    ],
    Task.AUTOMATE: [
        ("baseline", baseline, "Save boots as the baseline of `gate`"),
        ("gate", gate, "Check boots against a baseline and rules, for CI"),
        ("history", history, "Store boot times per commit and find what changed them"),
    ],
    Task.SET_UP: [
        ("doctor", doctor, "Show what this machine can do and what is missing"),
        ("image", image, "Build the kernels and root file systems of the lab"),
        ("completion", completion, "Print a completion script for bash, zsh or fish"),
    ],
}
"""Every command: its task, its name, what runs, and its line in the overview."""

for task, commands in COMMANDS.items():
    for name, command, summary in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=summary, rich_help_panel=task)
        else:
            app.command(name, short_help=summary, rich_help_panel=task)(command)
# The former name of `baseline set`.
app.command("bless", hidden=True)(set_baseline)


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
