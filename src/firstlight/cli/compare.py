"""`firstlight compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForcePage, Json, Strict, print_notes
from firstlight.cli.page import Page
from firstlight.errors import UsageError

#: The exit code of a comparison that settles nothing, with `--strict`.
_INCONCLUSIVE = 5
_ROWS = 10


def compare(
    boots: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B...", readable=False, help="Boot bundles, or directories of boot bundles. A is the baseline."
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option(
            "-n", "--limit", min=0, help="Maximum number of rows of each table (default: 10, all with --json)."
        ),
    ] = None,
    min_percent: Annotated[
        float | None,
        typer.Option(
            min=0, max=100, help="Smallest share of all changes that gets a line in the tree (default: 5, 0.1 as JSON)."
        ),
    ] = None,
    soft: Annotated[float, typer.Option(metavar="PERCENT", help="Noisy arms: smallest relevant difference.")] = 1.0,
    seed: Annotated[
        int, typer.Option(min=0, help="Noisy arms: seed for resampling. The same seed gives the same answer.")
    ] = 1,
    quantile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Noisy arms: compare p50, p90, p95, or the share of boots in the slow mode (slow-share); repeatable.",
        ),
    ] = None,
    look: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10,
            help="Noisy arms: number of this analysis, if you add boots until the result is clear.",
        ),
    ] = None,
    describe: Annotated[
        bool, typer.Option("--describe", help="Noisy arms: print mean, median, mode and standard deviation of each.")
    ] = False,
    bin_width: Annotated[
        str | None, typer.Option("--bin", metavar="TIME", help="Width of the bins for the mode, such as `5 ms`.")
    ] = None,
    pair: Annotated[
        Literal["auto", "names", "none"],
        typer.Option(help="Noisy arms: pair boots by time of recording, by name, or not at all."),
    ] = "auto",
    band: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="A noise band from `firstlight calibrate`; changes within it do not count.",
        ),
    ] = None,
    from_mark: Annotated[
        str | None, typer.Option("--from", metavar="MARK", help="Compare the boots from this mark, without functions.")
    ] = None,
    to_mark: Annotated[
        str | None, typer.Option("--to", metavar="MARK", help="Compare the boots up to this mark, without functions.")
    ] = None,
    strict: Strict = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write an HTML page with plots and tables of the changes; `-` prints it."
        ),
    ] = None,
    force: ForcePage = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown for a pull request.")] = False,
    json: Json = False,
) -> None:
    """Show what changed between boots, largest change first. The parts add up exactly.

    Each boot is compared with the first. A directory is one arm with several boots of one recipe. One exact boot per
    side is enough. Arms whose boots vary are compared with statistics: at most 5 % of comparisons call equal arms
    different. The arms have to be recorded in turns, in random order, for a verdict. Boots that end at
    different marks, such as one with its own --ready, are compared up to a mark that both have: --to.

    \b
    Examples:
      firstlight compare a.boot b.boot
      firstlight compare a.boot b.boot c.boot -n 5
      firstlight compare before/ after/ --json
      firstlight compare before/ after/ --quantile p95 --quantile slow-share
      firstlight compare before/ after/ --look 2
      firstlight compare a.boot b.boot --band band.json
      firstlight compare a.boot b.boot --html changes.html
      firstlight compare a.boot b.boot --from kernel_start --to user_start
    """
    if markdown and json:
        raise UsageError("`--markdown` cannot be combined with `--json`", hint="give one of them")
    page = Page.wanted(html, force, data=markdown or json)
    if bin_width is not None and not describe:
        raise UsageError("`--bin` is for `--describe`", hint="give both")
    width = None if bin_width is None else _width_ns(bin_width)
    arms = api.open_arms(boots)
    compared = [
        api.compare(
            arms[0],
            arm,
            soft_percent=soft,
            seed=seed,
            describe=describe,
            pairing=pair,
            bin_ns=width,
            band=band,
            quantiles=quantile or (),
            look=look,
            from_mark=from_mark,
            to_mark=to_mark,
        )
        for arm in arms[1:]
    ]
    if describe:
        text = "is compared with one boot per side, so it has no mean and no spread: `--describe` does not apply"
        print_notes(f"`{each.b.boots[0].directory}` {text}" for each in compared if each.exact)
    given = [name for name, value in (("--quantile", quantile), ("--look", look)) if value]
    if given:
        what = " and ".join(f"`{name}`" for name in given)
        text = f"is compared with one boot per side, so {what} {'do' if len(given) > 1 else 'does'} not apply"
        print_notes(f"`{each.b.boots[0].directory}` {text}" for each in compared if each.exact)
    evidence, rows = [(each.evidence, each.robustness) for each in compared], _ROWS if limit is None else limit
    share = None if min_percent is None else min_percent / 100
    if page is not None:
        from firstlight.render.page.comparison import comparison_page_data

        page.write(comparison_page_data(arms[0].name, evidence, limit, share))
    if json:
        from firstlight.render.comparison_json import comparisons_data

        print_json(comparisons_data(arms[0].name, evidence, limit, share))
    elif markdown:
        from firstlight.render.markdown.compare import comparison_markdown

        print("\n".join(comparison_markdown(each, rows, by_band) for each, by_band in evidence), end="")
    elif page is None:
        from firstlight.render.terminal.report import print_report
        from firstlight.render.views.comparisons import comparisons_report

        print_report(comparisons_report(evidence, rows, 0.05 if share is None else share))
    else:
        page.print_path()
    if strict and not all(each.settled for each in compared):
        raise typer.Exit(_INCONCLUSIVE)


def _width_ns(text: str) -> int:
    from firstlight.toml import duration_ns

    try:
        width = duration_ns(text)
    except ValueError as error:
        raise UsageError(str(error), where="--bin") from error
    assert isinstance(width, int)
    if width <= 0:
        raise UsageError("a bin has to be wider than 0", where="--bin", hint="such as `5 ms`")
    return width
