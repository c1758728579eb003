"""`firstlight experiment`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import Csv, Jobs, Json
from firstlight.cli.page import Page
from firstlight.errors import FirstlightError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from firstlight.experiment.results import Results
    from firstlight.experiment.schedule import Prepared
    from firstlight.render.model.table import Table

app = command_group("Boot a plan of arms or factors and show the effect of each.")


@app.command("run")
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", readable=False, help="The plan of the experiment.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The directory of the experiment (default: next to the plan, with its name).",
        ),
    ] = None,
    jobs: Jobs = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the planned boots and stop.")] = False,
    json: Json = False,
) -> None:
    """Boot every cell of a plan. An interrupted experiment continues where it stopped.

    The digest of its recipe and inputs identifies a boot. In exact mode, an existing boot of this or another
    experiment is reused.

    \b
    Examples:
      firstlight experiment run pty.toml
      firstlight experiment run pty.toml --dry-run
      firstlight experiment run pty.toml -o /data/pty -j 4
    """
    from firstlight.experiment.json import results_data
    from firstlight.experiment.results import read_results
    from firstlight.experiment.runner import run as run_prepared
    from firstlight.experiment.schedule import prepare
    from firstlight.lab.host.progress import progress_for
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.experiment_progress import ExperimentProgress
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.experiment.report import plan_report

    looking = progress_for()
    with looking:
        prepared = prepare(plan, output, looking, dry_run=dry_run)
    progress = ExperimentProgress()
    for note in prepared.notes:
        progress.note(note)
    if dry_run:
        if json:
            print_json(plan_data(prepared))
        else:
            print_report(console(), plan_report(prepared))
        return
    run_prepared(prepared, progress, jobs)
    results = read_results(prepared.store.path)
    if json:
        print_json(results_data(results))
    else:
        _print_all(results)
    raise typer.Exit(_exit_code(results))


@app.command("show")
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", readable=False, help="The directory of an experiment.")],
    stages: Annotated[
        bool, typer.Option("--stages", help="Show the table of stages: A, B, change, C, change, total change.")
    ] = False,
    effects: Annotated[bool, typer.Option("--effects", help="Show only the main effects of the factors.")] = False,
    shares: Annotated[
        bool, typer.Option("--shares", help="Show only each factor's share of the total change.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write everything as one HTML page; `-` prints it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the results of an experiment, finished or not: cells, main effects, interactions, shares; or stages.

    --csv prints one table: the cells, unless an option selects another.

    \b
    Examples:
      firstlight experiment show pty/
      firstlight experiment show pty/ --stages
      firstlight experiment show pty/ --shares --csv
      firstlight experiment show pty/ --html pty.html
      firstlight experiment show pty/ --json | jq '.data.cells[] | [.name, .time_ns]'
    """
    from firstlight.experiment.json import results_data
    from firstlight.experiment.results import read_results
    from firstlight.render.markdown.experiment import results_markdown
    from firstlight.render.table_csv import table_csv
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.experiment.report import results_report

    if sum((stages, effects, shares)) > 1:
        raise UsageError("`--stages`, `--effects` and `--shares` exclude one another", hint="ask for one of them")
    if sum((markdown, csv, json)) > 1:
        raise UsageError("`--markdown`, `--csv` and `--json` exclude one another", hint="ask for one of them")
    page = Page.wanted(html, force, data=markdown or csv or json)
    results = read_results(directory)
    if page is not None:
        from firstlight.render.page.experiment import experiment_page_data

        page.write(experiment_page_data(results))
    if json:
        print_json(results_data(results))
        return
    if page is not None and not (markdown or csv):
        page.tell()
        return
    out = console()
    chosen = "stages" if stages else "effects" if effects else "shares" if shares else "cells" if csv else "all"
    tables, missing = _tables(results, chosen, None if markdown or csv else out)
    if csv:
        if not tables:
            raise FirstlightError(missing[0], where=str(directory))
        sys.stdout.write(table_csv(tables[0]))
    elif markdown:
        sys.stdout.write(results_markdown(results, tables, missing))
    else:
        print_report(out, results_report(results, tables, missing))


def _print_all(results: Results) -> None:
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.experiment.report import experiment_tables, results_report

    tables, missing = experiment_tables(results)
    print_report(console(), results_report(results, list(tables.values()), missing))


def _tables(results: Results, chosen: str, out: Console | None) -> tuple[list[Table], list[str]]:
    """The tables that were asked for, and why others are not there.

    :param out: where they are printed to; `None`: they are data.
    """
    from firstlight.experiment.stage_table import stage_table
    from firstlight.render.terminal.table import fits
    from firstlight.render.views.experiment.report import NAMES, experiment_tables
    from firstlight.render.views.stages import stages_table, step_tables

    if chosen == "stages":
        stages = stage_table(results)
        table = stages_table(stages)
        return ([table] if out is None or fits(out, table) else step_tables(stages)), []
    tables, missing = experiment_tables(results, NAMES if chosen == "all" else (chosen,))
    return list(tables.values()), missing


def plan_data(prepared: Prepared) -> dict[str, Any]:
    """What would be booted, as data."""
    state, store = prepared.state, prepared.store
    return {
        "experiment": str(store.path),
        "mode": prepared.plan.mode,
        "seed": state.seed,
        "cells": [cell.model_dump(mode="json") for cell in state.cells],
        "boots": [
            {"cell": state.cells[number].name, "repeat": repeat, "there": store.has(state.cells[number], repeat)}
            for number, repeat in prepared.boots()
        ],
    }


def _exit_code(results: Results) -> int:
    """4 when a boot that was made does not count, 1 when a cell could not be booted, or boots are not exact."""
    if results.canary is False or any(cell.problem is not None for cell in results.cells):
        return 1
    return 4 if any(boot.excluded is not None for cell in results.cells for boot in cell.boots) else 0
