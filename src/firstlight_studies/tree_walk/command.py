"""`firstlight walk`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstlight.cli.envelope import print_json
from firstlight.cli.output import Arch, Fresh, HtmlTables, Jobs, Json

if TYPE_CHECKING:
    from firstlight.study import Extent, Outcome
    from firstlight_studies.tree_walk.workload import Workload


def walk(
    shape: Annotated[
        str, typer.Option(metavar="SHAPE", help="Shape of the tree from the top down: 70x70, 10x10x10, 1000.")
    ] = "70x70",
    fs: Annotated[
        str, typer.Option("--fs", metavar="LIST", help="File systems to test: tmpfs, ext4, xfs.")
    ] = "tmpfs,ext4,xfs",
    command: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Debian command to run; `{}` is the tree (repeatable; default: seven commands)."
        ),
    ] = None,
    alternations: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=99, help="Number of runs of each program without and with the extra stat."
        ),
    ] = 3,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Tree shapes for the scaling model, comma-separated (default: eight up to 70x70)."
        ),
    ] = None,
    law: Annotated[
        bool, typer.Option("--law/--no-law", help="Fit how the cost grows with the number of directories.")
    ] = True,
    counts: Annotated[
        bool, typer.Option("--counts/--no-counts", help="Count system calls, with one boot per program.")
    ] = True,
    audit: Annotated[bool, typer.Option("--audit/--no-audit", help="Test mount points and automounts.")] = True,
    kernel: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Kernel image (default: the lab's, or the distribution's with --arch)."
        ),
    ] = None,
    arch: Arch = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Store bundles, tables and pages here.")
    ] = None,
    html: HtmlTables = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing output.")] = False,
    fresh: Fresh = False,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Measure a directory walk with and without one extra stat.

    Programs run alternately in exact mode, so user, system and elapsed time, faults and system calls are equal in
    every run. The command also reports the inodes of mount points, and which calls and programs trigger an automount.
    The exit code is 1 if something could not be measured.

    \b
    Examples:
      firstlight walk
      firstlight walk --shape 10x10x10 --fs ext4 --command "chgrp -R 1000" --command "find {} -xdev"
      firstlight walk --fs tmpfs --no-law --no-audit -o walk/ --json
      firstlight walk --arch arm64 --fs tmpfs,xfs
    """
    from firstlight.cli.page import Page
    from firstlight.render.page.study import study_page_data
    from firstlight.render.study_json import outcome_data

    work = _workload(shape, fs, command, alternations, sizes, law=law, counts=counts, audit=audit)
    # With `--force` the page may be there, and so may the directory.
    there = html is not None and force and html != Path("-")
    page = Page(html) if html is not None and there else Page.wanted(html, False, data=json)
    outcome = _measure(work, _extent(kernel, arch), output, jobs, force=force, fresh=fresh)
    if page is not None:
        page.write(study_page_data(outcome))
    if json:
        print_json(outcome_data(outcome))
    elif page is None or html != Path("-"):
        from firstlight.render.terminal.report import print_report
        from firstlight.render.views.study import study_report

        print_report(study_report(outcome))
    raise typer.Exit(1 if outcome.missing else 0)


def _workload(
    shape: str, fs: str, command: list[str] | None, alternations: int, sizes: str | None, *,
    law: bool, counts: bool, audit: bool,
) -> Workload:  # fmt: skip
    from firstlight.errors import UsageError
    from firstlight_studies.tree_walk.run import SIZES
    from firstlight_studies.tree_walk.workload import TOOLS, Command, Shape, Workload, file_systems

    if sizes is not None and not law:
        raise UsageError("`--sizes` excludes `--no-law`", hint="trees of several sizes are for the law")
    kinds = file_systems(fs)
    trees = tuple(map(Shape.parse, sizes.split(","))) if sizes is not None else SIZES
    return Workload(
        Shape.parse(shape),
        kinds,
        tuple(dict.fromkeys(map(Command.parse, command))) if command else TOOLS,
        alternations,
        sizes=trees if law else (),
        law_on=kinds[:1] if law else (),
        counts_on=kinds[:1] if counts else (),
        audit=audit,
    )


def _measure(
    work: Workload, extent: Extent, output: Path | None, jobs: int | None, *, force: bool, fresh: bool
) -> Outcome:
    import tempfile

    from firstlight.render.study_folder import study_folder

    if output is not None:
        with study_folder(output, force=force) as written:
            outcome = _boot(work, extent, written.path, jobs, fresh=fresh)
            written.write(outcome)
            return outcome
    with tempfile.TemporaryDirectory(prefix="firstlight-walk-") as scratch:
        return _boot(work, extent, Path(scratch), jobs, fresh=fresh)


def _extent(kernel: Path | None, arch: str | None) -> Extent:
    from firstlight.recipe.isa import DEFAULT, chosen_architecture
    from firstlight.study import Extent
    from firstlight_studies.catalogue import TREE_WALK

    chosen = chosen_architecture(arch)
    extent = Extent(kernel=kernel, arch=None if chosen is DEFAULT else chosen.distribution_name)
    TREE_WALK.check(extent)
    return extent


def _boot(work: Workload, extent: Extent, folder: Path, jobs: int | None, *, fresh: bool) -> Outcome:
    from firstlight.api.experiments import lab_in
    from firstlight_studies.catalogue import TREE_WALK
    from firstlight_studies.tree_walk.run import measure

    with lab_in(folder, TREE_WALK.images, extent, jobs, fresh=fresh) as lab:
        outcome = measure(work, lab)
    # The first line names the command of the study, which boots other arms.
    return replace(outcome, recipe=(f"`{_command(work, extent)} -o DIR` repeats it.", *outcome.recipe[1:]))


def _command(work: Workload, extent: Extent) -> str:
    """The command that asks for a walk."""
    from firstlight_studies.tree_walk.run import SIZES
    from firstlight_studies.tree_walk.workload import PLACE, TOOLS

    words = ["firstlight", "walk", "--shape", str(work.shape), "--fs", ",".join(work.file_systems)]
    # The place of the tree needs no quotes within the text of a command.
    texts = [command.line(PLACE).replace(shlex.quote(PLACE), PLACE) for command in work.commands]
    if work.commands != TOOLS:
        words += [word for text in texts for word in ("--command", text)]
    words += ["--alternations", str(work.alternations)]
    if not work.sizes:
        words.append("--no-law")
    elif work.sizes != SIZES:
        words += ["--sizes", ",".join(map(str, work.sizes))]
    words += [word for word, asked in (("--no-counts", work.counts_on), ("--no-audit", work.audit)) if not asked]
    return f"{shlex.join(words)}{extent.options}"
