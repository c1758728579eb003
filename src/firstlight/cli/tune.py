"""`firstlight tune`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.help import RunByDefault, command_group
from firstlight.cli.output import (
    ForcePage,
    HtmlTables,
    Jobs,
    Json,
    MarkdownTables,
    Trust,
    TuningDirectory,
    Workers,
    board_file,
)
from firstlight.cli.page import Page
from firstlight.errors import UsageError

app = command_group(
    "Find the remedies that make a boot faster together and keep the system healthy. `firstlight tune RECIPE` is "
    "short for `firstlight tune run RECIPE`.",
    RunByDefault,
)


@app.command("run")
def run(
    ctx: typer.Context,
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="RECIPE", help="A recorded boot, `minimal`, `debian`, or a TOML file of options."),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            metavar="kernel|userspace|ready",
            help="Interval to shorten: start_kernel to user mode, user mode to ready, or power-on to ready.",
        ),
    ] = "ready",
    allow: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="What remedies may change: `cmdline`, `kconfig`, `initramfs`, `rootfs`, `machine`."
        ),
    ] = "cmdline,initramfs",
    budget: Annotated[int, typer.Option(metavar="N", min=0, help="Maximum number of boots.")] = 40,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Directory of the result.")] = Path(
        "tuning"
    ),
    remedies: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", readable=False, help="TOML file with further remedies (repeatable)."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Remedy or kernel parameter that is not tried (repeatable)."),
    ] = None,
    explained: Annotated[
        bool, typer.Option("--explained", help="Also try the remedies of the causes that `explain` names.")
    ] = False,
    keep: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="With `kconfig`: features that stay: `virtio`, `ext4`, `network`, `cgroups`, `tracing`, `bpf`.",
        ),
    ] = "",
    smallest: Annotated[
        bool, typer.Option("--smallest", help="With `kconfig`: keep only these and what a recording needs.")
    ] = False,
    builds: Annotated[
        int, typer.Option(metavar="N", min=1, help="With `kconfig`: maximum number of kernels that are built.")
    ] = 12,
    kernel_source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", readable=False, help="With `kconfig`: source of the kernel; by default the distribution's."
        ),
    ] = None,
    board: Annotated[Path | None, board_file("Tune the command line of this board")] = None,
    blocks: Annotated[
        int,
        typer.Option(
            metavar="N", min=3, max=100, help="With --board: number of boots of each combination of the design."
        ),
    ] = 4,
    jobs: Jobs = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Try the remedies that apply to a recipe, alone and together, and keep those that are worth it.

    A remedy that breaks a health check is rejected. An interrupted run continues from the cache.

    \b
    Examples:
      firstlight tune minimal --goal kernel --budget 40 -o cloud/
      firstlight tune debian --allow cmdline,initramfs,rootfs,machine --budget 60 -o debian/
      firstlight tune a.boot --without initcall_blacklist
      firstlight tune debian --goal kernel --allow kconfig,cmdline,machine --keep virtio,ext4,network,cgroups -o small/
      firstlight tune --board lab.toml --without no-apic-timer -o board/
    """
    if (board is None) == (recipe is None):
        raise UsageError("give a recipe, or `--board` with a board file")
    if board is not None:
        _check_for_board(ctx, goal)
        tuned = api.tune_board(
            board, output=output, blocks=blocks, remedies=remedies or (), without=without or (), progress=True
        )
        _print_board(tuned, json=json)
        return
    assert recipe is not None
    with api.boots_by(workers):
        found = api.tune(
            recipe, goal=goal, allow=_listed(allow), budget=budget,
            output=output, remedies=remedies or (), without=without or (), explained=explained,
            keep=_listed(keep), smallest=smallest, builds=builds, kernel_source=kernel_source, jobs=jobs, trust=trust,
            progress=True,
        )  # fmt: skip
    _print(found, markdown=False, json=json)


@app.command("show")
def show(
    directory: TuningDirectory,
    html: HtmlTables = None,
    force: ForcePage = False,
    markdown: MarkdownTables = False,
    json: Json = False,
) -> None:
    """Show a tuning: what was tried, kept and rejected and why, what each part is worth, and what it risks.

    \b
    Examples:
      firstlight tune show cloud/
      firstlight tune show cloud/ --html cloud.html
      firstlight tune show cloud/ --json | jq .data.kept
    """
    if markdown and json:
        raise UsageError("`--markdown` cannot be combined with `--json`", hint="give one of them")
    found = api.read_tuning(directory)
    if html is not None:
        from firstlight.render.page.tuning import tuning_html

        page = Page.wanted(html, force, data=markdown or json)
        assert page is not None
        page.write_text(tuning_html(found))
        if not (markdown or json):
            page.print_path()
            return
    _print(found, markdown=markdown, json=json)


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


_NOT_OF_BOARDS = (
    "allow",
    "budget",
    "explained",
    "keep",
    "smallest",
    "builds",
    "kernel_source",
    "jobs",
    "workers",
    "trust",
)


def _check_for_board(ctx: typer.Context, goal: str) -> None:
    """Reject what no board has.

    :raises UsageError: naming the first option.
    """
    if goal != "ready":
        raise UsageError(
            f"`--goal {goal}` is not for boards", hint="the time of a board is measured from `kernel_start` to `ready`"
        )
    for name in _NOT_OF_BOARDS:
        given = ctx.get_parameter_source(name)
        if given is not None and given.name == "COMMANDLINE":
            raise UsageError(
                f"`--{name.replace('_', '-')}` is not for boards", hint="`--blocks`, `--remedies` and `--without` are"
            )


def _print_board(found: Any, *, json: bool) -> None:
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.board_tuning import board_tuning_report

    if json:
        print_json(found.model_dump(mode="json"))
    else:
        print_report(board_tuning_report(found))


def _print(found: Any, *, markdown: bool, json: bool) -> None:
    from firstlight.render.markdown.table import markdown_report
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.tuning import tuning_data, tuning_report

    if json:
        print_json(tuning_data(found))
    elif markdown:
        sys.stdout.write(markdown_report(tuning_report(found)))
    else:
        print_report(tuning_report(found))
