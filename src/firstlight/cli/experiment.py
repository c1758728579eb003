"""`firstlight experiment`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import command_group
from firstlight.cli.output import (
    Csv,
    ForcePage,
    HtmlTables,
    Jobs,
    Json,
    MarkdownTables,
    Quantiles,
    Workers,
    print_notes,
)
from firstlight.cli.page import Page
from firstlight.errors import FirstlightError, UsageError

_STATISTICS = ("p50", "p90", "p95", "slow-share")

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
    workers: Workers = None,
    quantile: Quantiles = None,
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
      firstlight experiment run pty.toml --workers store:///mnt/farm
      firstlight experiment run board.toml --quantile p95 --quantile slow-share
    """
    from firstlight.render.experiment_json import plan_data, results_data
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.experiment.report import all_report, plan_report

    if dry_run:
        prepared = api.plan_experiment(plan, output, progress=True)
        print_notes(prepared.notes)
        if json:
            print_json(plan_data(prepared))
        else:
            print_report(plan_report(prepared))
        return
    statistics = _checked(quantile or [])
    with api.boots_by(workers):
        results = api.run_experiment(plan, output, jobs=jobs, progress=True)
    if json:
        print_json(results_data(results, statistics))
    else:
        print_report(all_report(results, statistics))
    raise typer.Exit(results.exit_code)


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
    quantile: Quantiles = None,
    html: HtmlTables = None,
    force: ForcePage = False,
    markdown: MarkdownTables = False,
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
      firstlight experiment show board/ --quantile p95
      firstlight experiment show pty/ --json | jq '.data.cells[] | [.name, .time_ns]'
    """
    from firstlight.render.experiment_json import results_data
    from firstlight.render.markdown.experiment import results_markdown
    from firstlight.render.table_csv import table_csv
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.terminal.table import fits
    from firstlight.render.views.experiment.report import chosen_tables, no_quantiles, quantile_tables, results_report

    if sum((stages, effects, shares)) > 1:
        raise UsageError("`--stages`, `--effects` and `--shares` cannot be combined", hint="give one of them")
    if sum((markdown, csv, json)) > 1:
        raise UsageError("`--markdown`, `--csv` and `--json` cannot be combined", hint="give one of them")
    page = Page.wanted(html, force, data=markdown or csv or json)
    statistics = _checked(quantile or [])
    results = api.read_experiment(directory)
    if page is not None:
        from firstlight.render.page.experiment import experiment_page_data

        page.write(experiment_page_data(results, statistics or None))
    if json:
        print_json(results_data(results, statistics))
        return
    if page is not None and not (markdown or csv):
        page.print_path()
        return
    out = console()
    chosen = "stages" if stages else "effects" if effects else "shares" if shares else "cells" if csv else "all"
    tables, missing = chosen_tables(results, chosen, None if markdown or csv else lambda table: fits(out, table))
    tables += quantile_tables(results, statistics)
    missing = [*missing, *no_quantiles(results, statistics)]
    if csv:
        if not tables:
            raise FirstlightError(missing[0], where=str(directory))
        sys.stdout.write(table_csv(tables[-1] if statistics else tables[0]))
    elif markdown:
        sys.stdout.write(results_markdown(results, tables, missing))
    else:
        print_report(results_report(results, tables, missing), out)


def _checked(names: list[str]) -> list[str]:
    for name in names:
        if name not in _STATISTICS:
            hint = f"one of {', '.join(f'`{each}`' for each in _STATISTICS)}"
            raise UsageError(f"`{name}` is not a statistic", where="--quantile", hint=hint)
    return list(dict.fromkeys(names))
