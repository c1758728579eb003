"""`firstlight compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstlight.cli.output import Json, print_json
from firstlight.errors import UsageError

if TYPE_CHECKING:
    from firstlight.compare.compare import Comparison

#: The exit code of a comparison that settles nothing, with `--strict`.
_INCONCLUSIVE = 5
_ROWS = 10


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
    soft: Annotated[
        float, typer.Option(metavar="PERCENT", help="Noisy arms: a difference within this does not matter.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Noisy arms: of resampling; the same seed, the same answer.")] = 1,
    describe: Annotated[
        bool, typer.Option("--describe", help="Noisy arms: mean, median, mode and standard deviation of each.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 5 where the boots settle nothing.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
    json: Json = False,
) -> None:
    """Say what changed from one boot to others, the largest change first; the parts add up exactly.

    Every other boot is compared with the first. A directory is one arm of several boots of one recipe.
    Exact boots are compared in whole numbers, one a side; arms whose boots vary, by statistics.

    \b
    Examples:
      firstlight compare a.boot b.boot
      firstlight compare a.boot b.boot c.boot -n 5
      firstlight compare before/ after/ --json
    """
    from firstlight.compare.arms import read_arms
    from firstlight.compare.compare import compare_arms, is_settled

    if markdown and json:
        raise UsageError("`--markdown` excludes `--json`", hint="ask for one of them")
    arms = read_arms(boots)
    found = [
        compare_arms(arms[0], arm, soft_percent=soft, seed=seed, describing=describe) for arm in arms[1:]
    ]  # fmt: skip
    if json:
        _print_json(arms[0].name, found, limit, min_percent)
    elif markdown:
        _print_markdown(found, _ROWS if limit is None else limit)
    else:
        _print(found, _ROWS if limit is None else limit, 5.0 if min_percent is None else min_percent)
    if strict and not all(map(is_settled, found)):
        raise typer.Exit(_INCONCLUSIVE)


def _print_json(baseline: str, found: list[Comparison], limit: int | None, min_percent: float | None) -> None:
    from firstlight.compare.exact.data import MIN_SHARE, VERSION, difference_data
    from firstlight.compare.exact.difference import ExactDifference

    share = MIN_SHARE if min_percent is None else min_percent / 100
    data = [
        difference_data(each, limit, share) if isinstance(each, ExactDifference) else each.to_data() for each in found
    ]
    print_json({"schema": VERSION, "baseline": baseline, "comparisons": data})


def _print_markdown(found: list[Comparison], limit: int) -> None:
    from firstlight.compare.exact.difference import ExactDifference
    from firstlight.report.compare_markdown import difference_markdown

    texts = []
    for each in found:
        if isinstance(each, ExactDifference):
            texts.append(difference_markdown(each, limit))
        else:
            from firstlight.report.noisy_markdown import noisy_markdown

            texts.append(noisy_markdown(each, limit))
    print("\n".join(texts), end="")


def _print(found: list[Comparison], limit: int, min_percent: float) -> None:
    from firstlight.compare.exact.difference import ExactDifference
    from firstlight.report.terminal.compare import print_difference, print_summary
    from firstlight.report.terminal.console import console, print_line

    out = console()
    exact = [each for each in found if isinstance(each, ExactDifference)]
    several = len(found) > 1
    if several and len(exact) == len(found):
        print_summary(out, exact)
    for number, each in enumerate(found):
        if number or several:
            print_line(out)
        if isinstance(each, ExactDifference):
            print_difference(out, each, limit, min_percent / 100)
        else:
            from firstlight.report.terminal.noisy import print_noisy

            print_noisy(out, each, limit)
