"""`firstlight history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Json, print_first_notes

app = command_group("Store boot times per commit and find the commits that changed them.")

HistoryPath = Annotated[
    Path,
    typer.Argument(metavar="HISTORY", readable=False, help="A DuckDB file, or for reading a directory of bundles."),
]
Kind = Literal["total", "phase", "function"]

#: The exit code where `--fail` has nothing to judge by.
_UNDECIDED = 5


@app.command("add")
def add(
    history: HistoryPath,
    boots: Annotated[
        list[Path],
        typer.Argument(metavar="BOOT...", readable=False, help="Boot bundles, or directories of boot bundles."),
    ],
    at: Annotated[str, typer.Option(metavar="LABEL", help="The commit or another name for the booted version.")],
    json: Json = False,
) -> None:
    """Add the totals, phases and functions of boots. Several boots with one label are samples of it.

    \b
    Examples:
      firstlight history add boots.duckdb a.boot --at "$(git rev-parse --short HEAD)"
      firstlight history add board.duckdb board-*.boot --at v6.12
    """
    added = api.add_to_history(history, boots, at=at)
    if json:
        print_json({"history": str(history), "at": at, "added": added.boots, "known": list(added.known),
                    "incomplete": list(added.incomplete)})  # fmt: skip
    else:
        known = f", {len(added.known)} were in it already" if added.known else ""
        print(f"{history}: {added.boots} added{known}")
        print_first_notes([f"incomplete: {text}" for text in added.incomplete])


@app.command("show")
def show(
    history: HistoryPath,
    kind: Annotated[Kind, typer.Option(help="The series to show.")] = "total",
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The name of the phase or function.")] = None,
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=1, help="Maximum number of points; the newest are shown.")
    ] = 40,
    json: Json = False,
) -> None:
    """Show a series with its changes. The series of the total includes the phases that changed.

    \b
    Examples:
      firstlight history show boots.duckdb
      firstlight history show boots.duckdb --kind function --name inet_init
      firstlight history show nightly/ --json
    """
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.history import series_data, series_report

    found = api.read_history(history, kind, name)
    if json:
        phases = [series_data(each) for each in found.phases]
        print_json({"history": str(history), **series_data(found.series), "phases": phases})
    else:
        print_report(console(), series_report(found.series, found.phases, limit))


@app.command("regressions")
def regressions(
    history: HistoryPath,
    strict: Annotated[
        bool,
        typer.Option(
            "--fail", help="Exit with code 3 if a regression of the total lasts, 5 if the result is inconclusive."
        ),
    ] = False,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="With --fail: one point is enough; the regression need not last.")
    ] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="Maximum number of rows.")] = 40,
    json: Json = False,
) -> None:
    """List increases of the total, phases and functions that were never reverted.

    A part counts if it changed by at least a thousandth of the boot. A step at the last point alone is a note; a step
    that lasts two points is an alert.

    \b
    Examples:
      firstlight history regressions boots.duckdb
      firstlight history regressions boots.duckdb --fail --json
    """
    from firstlight.errors import FirstlightError, UsageError
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.history import change_data, regressions_report, series_notes

    if at_once and not strict:
        raise UsageError("`--at-once` is for `--fail`", hint="give both")
    found = api.find_regressions(history)
    total, alerts = found.total, found.alerts(at_once=at_once)
    if json:
        rows = [
            {"kind": series.kind, "name": series.name, **change_data(series, change)} for series, change in found.found
        ]
        print_json(
            {"history": str(history), "points": len(total.points), "left_out": total.left_out,
             "unequal": list(total.unequal), "incomplete": list(total.incomplete), "alerts": len(alerts),
             "regressions": rows}
        )  # fmt: skip
    else:
        how = "exact" if total.exact else "noisy"
        number = f"{len(total.points)} point{'' if len(total.points) == 1 else 's'}"
        looked_at = f"{number}, {how}; total, phases and functions that changed by 0.1 % of the boot"
        print_report(console(), regressions_report(found.found[:limit], looked_at))
        print_report(console(), series_notes(total))
    if strict and alerts:
        raise typer.Exit(3)
    if strict and found.undecided:
        message = f"nothing could be judged: the newest boot alone is of its testbed, {total.left_out} are of others"
        hint = "see `firstlight history show`; a live or imported boot needs a history of its own"
        raise FirstlightError(message, where=str(history), hint=hint, exit_code=_UNDECIDED)
