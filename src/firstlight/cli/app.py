"""The verbs of the command line. The module of a verb is loaded when the verb runs."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_command, get_group

from firstlight.cli.help import SETTINGS, GroupedCommands, Task
from firstlight.plugins import plugins

PLUGINS = "firstlight.commands"
"""The entry point group by which packages offer commands: functions and `typer.Typer`s, as those of Firstlight are."""

COMMANDS: dict[Task, list[tuple[str, str, str]]] = {
    Task.RECORD: [
        ("record", "record:record", "Record a boot in QEMU, exactly or with --live"),
        ("capture", "capture:capture", "Capture the boot of a board from its console, with precise times"),
        ("import", "import_:import_", "Import logs, traces and timings that other tools recorded"),
        (
            "collector",
            "collector:collector",
            "Print a script that collects boot records on any Linux system",
        ),
        ("ask", "ask:ask", "Boot again and record the arguments of a kernel function"),
        ("verify", "verify:verify", "Boot a bundle's recipe again and compare every table"),
        ("audit", "audit:audit", "Check a profile with a second, independent observer"),
    ],
    Task.LOOK: [
        ("show", "show:show", "Show a boot: totals, phases, marks and the hottest functions"),
        ("explain", "explain:explain", "Show the known causes of a long boot, their costs and remedies"),
        ("path", "path:path", "Show the critical path: the steps that decided the boot time"),
        (
            "functions",
            "functions:functions",
            "Show the function profile (kd columns): calls, total, own time",
        ),
        ("initcalls", "initcalls:initcalls", "Show the initcalls: level, start, duration and grade"),
        ("processes", "processes:processes", "Show every process: CPU, waiting, service, parent"),
        ("syscalls", "syscalls:syscalls", "Show system calls by call, process or path"),
        ("files", "syscalls:files", "Show the files that processes opened, read or did not find"),
        ("packages", "packages:packages", "Show the instructions by package of the distribution"),
        ("devices", "devices:devices", "Show device probes, deferrals and uevents"),
        ("units", "units:units", "Show systemd units: how long each waited and took to start"),
        ("health", "health:health", "Check that the booted system works: devices, mounts, units, policy"),
        ("log", "log:log", "Show the log with the time between lines, and its silent gaps"),
        ("report", "report:report", "Write a boot as one self-contained HTML page"),
        ("ui", "ui:ui", "Browse a folder of boots: list, open, compare, query"),
        ("export", "export:export", "Write a boot in the format of another tool"),
    ],
    Task.COMPARE: [
        ("compare", "compare:compare", "Show what changed between boots, largest change first"),
        ("whatif", "whatif:whatif", "Predict a boot without some of its work, from its wake-ups"),
        ("predict", "predict:predict", "Predict what an exact change means on a board, with an interval"),
        ("try", "try_:try_", "Boot a recorded boot's recipe with one change and compare"),
        ("tune", "tune:app", "Find the remedies that make a boot faster and keep it healthy"),
        ("apply", "apply:apply", "Print the result of a tuning as files"),
        ("calibrate", "calibrate:calibrate", "Measure the noise band: how much results vary unchanged"),
        ("experiment", "experiment:app", "Boot a plan of arms or factors and show the effect of each"),
        ("scale", "scale:scale", "Fit how a cost grows with a quantity, booted or from a table"),
        ("study", "study:app", "Run studies: claims about boot time, evaluated on today's Linux"),
    ],
    Task.AUTOMATE: [
        ("baseline", "baseline:app", "Save boots as the baseline of `gate`"),
        ("gate", "gate:gate", "Check boots against a baseline and rules, for CI"),
        ("history", "history:app", "Store boot times per commit and find what changed them"),
        ("fleet", "fleet:app", "Analyse boots of many machines: quantiles, regressions, outliers"),
        ("work", "work:work", "Make boots for other machines, from a shared store"),
        ("farm", "farm:app", "Show and tidy the store of a farm, and make its keys"),
    ],
    Task.SET_UP: [
        ("doctor", "doctor:doctor", "Show what this machine can do and what is missing"),
        ("image", "image:app", "Build the kernels and root file systems of the lab"),
        ("completion", "completion:completion", "Print a completion script for bash, zsh or fish"),
    ],
}
"""Every command: its task, its name, its module here and what runs, and its line in the overview."""

_ALIASES = {"bless": ("baseline set", "baseline:set_baseline")}
_KNOWN = {name: (task, place, summary) for task, commands in COMMANDS.items() for name, place, summary in commands}


class Verbs(GroupedCommands):
    """The verbs of Firstlight, and those that other packages add."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the overview."""
        return [*_KNOWN, *(plugin.name for plugin in plugins(PLUGINS) if plugin.name not in _KNOWN)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, made when it is asked for; none where there is none or its package is broken."""
        if cmd_name in _ALIASES:
            return _made(cmd_name, _ALIASES[cmd_name][1], hidden=True)
        if cmd_name in _KNOWN:
            task, place, summary = _KNOWN[cmd_name]
            return _made(cmd_name, place, short_help=summary, rich_help_panel=task)
        found = next((plugin for plugin in plugins(PLUGINS) if plugin.name == cmd_name), None)
        command = None if found is None else found.load()
        if command is None:
            return None
        summary = (command.info.help if isinstance(command, typer.Typer) else command.__doc__) or cmd_name
        return _command(cmd_name, command, short_help=summary.splitlines()[0].rstrip("."), rich_help_panel=Task.COMPARE)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As of any group; a name that nothing has gets the nearest ones."""
        if args and self.get_command(ctx, args[0]) is None:
            self.commands: Any = dict.fromkeys(self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def _made(name: str, place: str, **about: Any) -> Any:
    module, _, attribute = place.partition(":")
    return _command(name, getattr(import_module(f"firstlight.cli.{module}"), attribute), **about)


def _command(name: str, command: Any, **about: Any) -> Any:
    if isinstance(command, typer.Typer):
        made: Any = get_group(command)
        made.name = name
        for key, value in about.items():
            setattr(made, key, value)
        return made
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, **about)(command)
    return get_command(alone)


app = typer.Typer(
    name="firstlight",
    cls=Verbs,
    help="Find out where Linux boot time goes: record a boot exactly in QEMU, or import logs that you already have.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from firstlight.version import VERSION

        print(f"firstlight {VERSION}")
        raise typer.Exit


@app.callback()
def _firstlight(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass
