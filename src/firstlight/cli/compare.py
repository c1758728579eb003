"""`firstlight compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight.cli.output import Json, print_json
from firstlight.errors import UsageError

#: The exit code of a comparison that settles nothing, with `--strict`.
_INCONCLUSIVE = 5


def compare(
    boots: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B...", readable=False, help="Boot bundles, or directories with several; A is the baseline."
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", min=0, help="How many rows of each table (default: 10, all with --json)."),
    ] = None,
    min_percent: Annotated[
        float | None,
        typer.Option(
            min=0, max=100, help="Least share of all changes with a line in the tree (default: 5, 0.1 as JSON)."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 5 where the boots settle nothing: noisy ones, one a side.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    json: Json = False,
) -> None:
    """Say what changed from one boot to others, the largest change first; the parts add up exactly.

    Every other boot is compared with the first. A directory is one arm of several boots.

    \b
    Examples:
      firstlight compare a.boot b.boot
      firstlight compare a.boot b.boot c.boot -n 5
      firstlight compare before/ after/ --json
    """
    from firstlight.compare.arms import CompareError, read_arms
    from firstlight.compare.compare import compare_exact, is_noisy
    from firstlight.compare.exact.data import MIN_SHARE, VERSION, difference_data
    from firstlight.report.compare_markdown import difference_markdown
    from firstlight.report.terminal.compare import print_difference, print_summary
    from firstlight.report.terminal.console import console, print_line

    if markdown and json:
        raise UsageError("`--markdown` excludes `--json`", hint="ask for one of them")
    arms = read_arms(boots)
    differences = []
    for arm in arms[1:]:
        if is_noisy(arms[0], arm):
            message = f"boots in {arm.mode} mode differ without any change, and are compared by statistics"
            raise CompareError(message, where=arm.name, hint="record in exact mode")
        differences.append(compare_exact(arms[0], arm))
    rows = 10 if limit is None else limit
    if json:
        share = MIN_SHARE if min_percent is None else min_percent / 100
        data = [difference_data(each, limit, share) for each in differences]
        print_json({"schema": VERSION, "baseline": arms[0].name, "comparisons": data})
    elif markdown:
        print("\n".join(difference_markdown(each, rows) for each in differences), end="")
    else:
        out = console()
        if len(differences) > 1:
            print_summary(out, differences)
        for number, difference in enumerate(differences):
            if number or len(differences) > 1:
                print_line(out)
            print_difference(out, difference, rows, 0.05 if min_percent is None else min_percent / 100)
    settled = all(flag.kind not in ("one_boot", "unstable") for each in differences for flag in each.flags)
    if strict and not settled:
        raise typer.Exit(_INCONCLUSIVE)
