"""`firstlight study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstlight.cli.output import Json, print_json

if TYPE_CHECKING:
    from firstlight.study.outcome import Outcome

Name = Annotated[str, typer.Argument(metavar="STUDY", help="`list`, or the name of a study.")]


def study(
    name: Name,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer arms and smaller sizes: minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The largest sizes, too.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Its directory (default: study-STUDY).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the study that is there.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Boot again what was booted before.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, help="So many boots at once (default: one for each processor)."),
    ] = None,
    json: Json = False,
) -> None:
    """Run a classic study again, on today's Linux: boots, tables, and what of its conclusions holds.

    Each boots the laboratory's kernel, which is built once (`firstlight image build kernel`), and writes into its
    directory: the bundles, the tables as study.json, study.md and CSV, and study.html, one page that needs no network.
    Every figure is exact: a second run gives the same tables. Exit code 1 when an arm could not be measured.

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
    chosen = find_study(name)
    outcome = _run(chosen.name, output or Path(f"study-{name}"), jobs, quick=quick, full=full, force=force, fresh=fresh)
    if json:
        from firstlight.report.study_data import outcome_data

        print_json(outcome_data(outcome))
    else:
        from firstlight.report.terminal.console import console
        from firstlight.report.terminal.study import print_outcome

        print_outcome(console(), outcome)
    raise typer.Exit(1 if outcome.missing else 0)


def _run(name: str, output: Path, jobs: int | None, *, quick: bool, full: bool, force: bool, fresh: bool) -> Outcome:
    from firstlight.lab.progress import progress_for
    from firstlight.report.study_folder import study_folder
    from firstlight.report.terminal.experiment_progress import ExperimentProgress
    from firstlight.study.catalogue import find_study
    from firstlight.study.laboratory import Laboratory, make_images

    chosen = find_study(name)
    with study_folder(output, force=force) as written:
        with progress_for(verbose=True) as progress:
            images = make_images(chosen.images, progress, jobs)
        with ExperimentProgress() as told:
            laboratory = Laboratory(written.path, told, images, quick, full, fresh, jobs)
            outcome = chosen.run(laboratory)
        written.write(outcome)
    return outcome


def _list(json: bool) -> None:
    from firstlight.report.terminal.console import console
    from firstlight.report.terminal.study import print_studies
    from firstlight.study.catalogue import STUDIES

    if json:
        print_json([{"name": each.name, "title": each.title, "question": each.question} for each in STUDIES])
    else:
        print_studies(console(), STUDIES)
