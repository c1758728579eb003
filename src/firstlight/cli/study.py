"""`firstlight study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import RunByDefault, command_group
from firstlight.cli.output import Arch, Fresh, Jobs, Json, Workers

Name = Annotated[str, typer.Argument(metavar="STUDY", help="The name of a study from `firstlight study list`.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing study.")]


app = command_group(
    "Run the studies: claims about boot time, evaluated on today's Linux. `firstlight study STUDY` is short for "
    "`firstlight study run STUDY`.",
    RunByDefault,
)


@app.command("list")
def list_studies(json: Json = False) -> None:
    """List the studies that the installed packages offer, with the architectures of guests that `--arch` takes.

    \b
    Examples:
      firstlight study list
    """
    from firstlight.render.views.study import studies_table

    if json:
        print_json(
            [
                {
                    "name": each.name,
                    "title": each.title,
                    "question": each.question,
                    "architectures": list(each.architectures),
                }
                for each in api.studies()
            ]
        )
    else:
        _print([studies_table(api.studies())])


@app.command("run")
def run(
    name: Name,
    arch: Arch = None,
    quick: Annotated[bool, typer.Option("--quick", help="Boot fewer arms and smaller sizes; takes minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Boot the largest sizes, too.")] = False,
    kernel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Kernel image to boot in place of the study's own kernels."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Sizes to boot in place of the study's own, comma-separated."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory of guests for arms that set no size: 512M, 2G."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The directory to write (default: study-STUDY, or study-STUDY-ARCH with `--arch`).",
        ),
    ] = None,
    force: Force = False,
    fresh: Fresh = False,
    jobs: Jobs = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run a study and report which of its claims still hold.

    A classic study boots the lab's kernel, which is built once (`firstlight image build kernel`). It writes the
    bundles, a page as study.html and study.md, all tables as CSV, and study.json. All figures are exact: a second run
    gives the same tables. With --arch, guests of another architecture boot the distribution's kernel for it; arms and
    claims about parts that these guests do not have are left out, each with a reason. The exit code is 1 if an arm
    could not be measured.

    \b
    Examples:
      firstlight study run tree-walk --quick
      firstlight study udev-ptys --sizes 0,64,128,256 -o ptys
      firstlight study kernel-hotspots --kernel bzImage --memory 1G
      firstlight study kernel-hotspots --arch arm64 --quick
    """
    from firstlight.render.study_json import outcome_data
    from firstlight.render.views.study import study_report

    with api.boots_by(workers):
        outcome = api.run_study(
            name, output, arch=arch, quick=quick, full=full, kernel=kernel, sizes=sizes.split(",") if sizes else (),
            memory=memory, force=force, fresh=fresh, jobs=jobs,
        )  # fmt: skip
    if json:
        print_json(outcome_data(outcome))
    else:
        _print(study_report(outcome))
    raise typer.Exit(1 if outcome.missing else 0)


@app.command("recheck")
def recheck(
    name: Name,
    kernel: Annotated[Path, typer.Option(metavar="FILE", readable=False, help="Kernel image to evaluate on.")],
    arch: Arch = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="DIR", readable=False, help="A finished study of the same arms (default: run it)."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Boot all arms instead of the arms of the quick run.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="The directory to write (default: recheck-STUDY)."),
    ] = None,
    force: Force = False,
    fresh: Fresh = False,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Evaluate the claims of a study on another kernel and show which verdicts differ.

    The exit code is 1 if an arm could not be measured on the other kernel.

    \b
    Examples:
      firstlight study recheck tree-walk --kernel bzImage
      firstlight study recheck kernel-hotspots --kernel bzImage --full --against study-kernel-hotspots --json
      firstlight study recheck kernel-hotspots --arch arm64 --kernel Image
    """
    from firstlight.render.study_json import recheck_data
    from firstlight.render.views.study import recheck_report

    found = api.recheck_study(
        name, kernel, output, arch=arch, against=against, full=full, force=force, fresh=fresh, jobs=jobs
    )  # fmt: skip
    if json:
        print_json(recheck_data(found))
    else:
        _print(recheck_report(found))
    raise typer.Exit(1 if found.missing else 0)


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the study: lower case, with dashes.")],
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", readable=False, help="The directory to write (default: NAME).")
    ] = None,
    json: Json = False,
) -> None:
    """Write the skeleton of a study: a package with a plan, claims and a table to compare with.

    \b
    Examples:
      firstlight study new quiet-console
      pip install --no-deps -e quiet-console && firstlight study quiet-console
    """
    written = api.new_study(name, directory)
    if json:
        print_json({"name": name, "files": [str(path) for path in written]})
    else:
        print("\n".join(map(str, written)))


def _print(blocks: Any) -> None:
    from firstlight.render.terminal.report import print_report

    print_report(blocks)
