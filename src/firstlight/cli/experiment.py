"""`firstlight experiment`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from firstlight.cli.output import Json, print_json

app = typer.Typer(
    help="Boot what a plan says, arms or factors, and show what each of them did.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.command("run")
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", readable=False, help="The experiment, written down.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Its directory (default: beside the plan, called like it)."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, help="So many boots at once (default: one for each processor)."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be booted, and boot nothing.")] = False,
    json: Json = False,
) -> None:
    """Boot every cell of a plan that is not booted yet; what was interrupted goes on where it stopped.

    A boot is known by the digest of its recipe and inputs: what was booted before, here or in another experiment, is
    taken as it is in exact mode.

    \b
    Examples:
      firstlight experiment run pty.toml
      firstlight experiment run pty.toml --dry-run
      firstlight experiment run pty.toml -o /data/pty -j 4
    """
    from firstlight.compare.experiment.prepare import prepare
    from firstlight.compare.experiment.results import read_results
    from firstlight.compare.experiment.runner import run as run_prepared
    from firstlight.lab.progress import progress_for
    from firstlight.report.terminal.console import console
    from firstlight.report.terminal.experiment import print_cells, print_plan
    from firstlight.report.terminal.experiment_progress import ExperimentProgress

    looking = progress_for()
    with looking:
        prepared = prepare(plan, output, looking)
    progress = ExperimentProgress()
    for note in prepared.notes:
        progress.note(note)
    if dry_run:
        if json:
            print_json(plan_data(prepared))
        else:
            print_plan(console(), prepared)
        return
    run_prepared(prepared, progress, jobs)
    results = read_results(prepared.store.path)
    if json:
        print_json(cells_data(results))
    else:
        print_cells(console(), results)
    raise typer.Exit(_exit_code(results))


@app.command("show")
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", readable=False, help="An experiment's directory.")],
    json: Json = False,
) -> None:
    """Show what an experiment says, finished or not.

    \b
    Examples:
      firstlight experiment show pty/
      firstlight experiment show pty/ --json | jq '.cells[] | [.name, .time_ns]'
    """
    from firstlight.compare.experiment.results import read_results
    from firstlight.report.terminal.console import console
    from firstlight.report.terminal.experiment import print_cells

    results = read_results(directory)
    if json:
        print_json(cells_data(results))
    else:
        print_cells(console(), results)


def plan_data(prepared: Any) -> dict[str, Any]:
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


def cells_data(results: Any) -> dict[str, Any]:
    """The cells of an experiment, as data."""
    from firstlight.compare.experiment.shape import results_data

    return results_data(results)


def _exit_code(results: Any) -> int:
    """4 when a boot that was made does not count, 1 when a cell could not be booted, or boots are not exact."""
    if results.canary is False or any(cell.problem is not None for cell in results.cells):
        return 1
    return 4 if any(boot.excluded is not None for cell in results.cells for boot in cell.boots) else 0
