"""`firstlight study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstlight.cli.envelope import print_json
from firstlight.cli.output import Fresh, Jobs, Json

if TYPE_CHECKING:
    from firstlight.study.catalogue import Study
    from firstlight.study.outcome import Outcome

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
    from firstlight.errors import UsageError
    from firstlight.study.catalogue import find_study

    if name == "list":
        _list(json)
        return
    if quick and full:
        raise UsageError("`--quick` and `--full` exclude each other", hint="ask for one of them")
    chosen, folder = find_study(name), output or Path(f"study-{name}")
    outcome = _run(chosen, folder, jobs, quick=quick, full=full, force=force, fresh=fresh)
    if json:
        from firstlight.render.study_json import outcome_data

        print_json(outcome_data(outcome))
    else:
        from firstlight.render.terminal.console import console
        from firstlight.render.terminal.report import print_report
        from firstlight.render.views.study import study_report

        print_report(console(), study_report(outcome))
    raise typer.Exit(1 if outcome.missing else 0)


def _run(
    chosen: Study, output: Path, jobs: int | None, *, quick: bool, full: bool, force: bool, fresh: bool
) -> Outcome:
    from firstlight.cli.lab import laboratory_in
    from firstlight.render.study_folder import study_folder

    with (
        study_folder(output, force=force) as written,
        laboratory_in(written.path, chosen.images, jobs, quick=quick, full=full, fresh=fresh) as laboratory,
    ):
        outcome = chosen.run(laboratory)
        written.write(outcome)
    return outcome


def _list(json: bool) -> None:
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.study import studies_table
    from firstlight.study.catalogue import studies

    if json:
        print_json([{"name": each.name, "title": each.title, "question": each.question} for each in studies()])
    else:
        print_report(console(), [studies_table(studies())])
