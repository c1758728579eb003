"""`firstlight scale`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForcePage, Jobs, Json, Workers
from firstlight.cli.page import Page


def scale(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN.toml|DATA.csv", readable=False, help="A plan of boots, or a table of measurements."
        ),
    ],
    at: Annotated[
        list[float] | None, typer.Option(metavar="N", min=0, help="Predict the cost at this size (repeatable).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="The directory of the boots (default: next to the plan)."),
    ] = None,
    jobs: Jobs = None,
    workers: Workers = None,
    bisect: Annotated[
        bool, typer.Option("--bisect/--no-bisect", help="Find crossovers by booting more sizes, in exact mode.")
    ] = True,
    size: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the sizes of a table (default: the first of numbers)."),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the costs of a table (default: the next of numbers)."),
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the configurations of a table.")] = None,
    term: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS", help="Counts of a table that the cost may depend on, such as `a*b` (repeatable)."
        ),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="The costs of the table have no noise.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one HTML page; `-` prints it.")
    ] = None,
    force: ForcePage = False,
    json: Json = False,
) -> None:
    """Fit how a cost grows with a size, from the boots of a plan or from a table of measurements.

    The scaling model is one of 1, log n, sqrt n, n, n log n, n^2, n^2 log n and n^3, a sum of two, another power, an
    exponential, a saturation, a hinge or a step, or a measured count (`--term`). The result has the runner-up, the
    confidence, the exponent without a model, a model for each part, predictions with their band, and crossovers.

    \b
    Examples:
      firstlight scale devices.toml
      firstlight scale devices.toml --at 64 --at 1000
      firstlight scale devices.toml --html devices.html
      firstlight scale boards.csv --size sensors --cost seconds --by board
      firstlight scale volumes.csv --term "processes*files"
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.scaling import scaling_report

    page = Page.wanted(html, force, data=json)
    with api.boots_by(workers):
        answer = api.scale(
            plan,
            at=at or (),
            output=output,
            jobs=jobs,
            bisect=bisect,
            size=size,
            cost=cost,
            by=by,
            exact=exact,
            terms=term or (),
            progress=True,
        )
    if page is not None:
        from firstlight.render.page.scaling import scaling_page_data

        page.write(scaling_page_data(answer))
    if json:
        print_json(answer.data())
    elif page is not None:
        page.print_path()
    else:
        print_report(scaling_report(answer))
