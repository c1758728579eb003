"""`firstlight study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Fresh, Jobs, Json

Name = Annotated[str, typer.Argument(metavar="STUDY", help="`list`, or the name of a study.")]


def study(
    name: Name,
    quick: Annotated[bool, typer.Option("--quick", help="Boot fewer arms and smaller sizes; takes minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Boot the largest sizes, too.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="The directory to write (default: study-STUDY)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing study.")] = False,
    fresh: Fresh = False,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Run a classic study on today's Linux and report which of its conclusions still hold.

    A study boots the lab's kernel, which is built once (`firstlight image build kernel`). It writes the bundles, the
    tables as study.json, study.md and CSV, and an offline page study.html. All figures are exact: a second run gives
    the same tables. The exit code is 1 if an arm could not be measured.

    \b
    Examples:
      firstlight study list
      firstlight study tree-walk --quick
      firstlight study udev-ptys -o ptys
    """
    if name == "list":
        _list(json)
        return
    outcome = api.run_study(name, output, quick=quick, full=full, force=force, fresh=fresh, jobs=jobs)
    if json:
        from firstlight.render.study_json import outcome_data

        print_json(outcome_data(outcome))
    else:
        from firstlight.render.terminal.console import console
        from firstlight.render.terminal.report import print_report
        from firstlight.render.views.study import study_report

        print_report(console(), study_report(outcome))
    raise typer.Exit(1 if outcome.missing else 0)


def _list(json: bool) -> None:
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.study import studies_table

    if json:
        print_json([{"name": each.name, "title": each.title, "question": each.question} for each in api.studies()])
    else:
        print_report(console(), [studies_table(api.studies())])
