"""`firstlight scale`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstlight.cli.envelope import print_json
from firstlight.cli.output import Jobs, Json
from firstlight.cli.page import Page

if TYPE_CHECKING:
    from firstlight.experiment.scaling.result import Answer

_TABLES = (".csv", ".tsv")


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
    bisect: Annotated[
        bool, typer.Option("--bisect/--no-bisect", help="Find crossovers by booting more sizes, in exact mode.")
    ] = True,
    size: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the sizes of a table (default: the first).")
    ] = None,
    cost: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the costs of a table (default: the next).")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the configurations of a table.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="The costs of the table have no noise.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one HTML page; `-` prints it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    json: Json = False,
) -> None:
    """Fit how a cost grows with a size, from the boots of a plan or from a table of measurements.

    The scaling model is one of 1, log n, sqrt n, n, n log n, n^2, n^2 log n and n^3. The result has the runner-up, the
    confidence, the exponent without a model, a model for each part, predictions with their band, and crossovers.

    \b
    Examples:
      firstlight scale devices.toml
      firstlight scale devices.toml --at 64 --at 1000
      firstlight scale devices.toml --html devices.html
      firstlight scale boards.csv --size sensors --cost seconds --by board
    """
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.scaling import scaling_report

    page = Page.wanted(html, force, data=json)
    if plan.suffix.lower() in _TABLES:
        answer = _from_table(plan, size, cost, by, exact, at or [])
    else:
        answer = _booted(plan, output, jobs, bisect, at or [])
    if page is not None:
        from firstlight.render.page.scaling import scaling_page_data

        page.write(scaling_page_data(answer))
    if json:
        print_json(answer.data())
    elif page is not None:
        page.tell()
    else:
        print_report(console(), scaling_report(answer))


def _from_table(path: Path, size: str | None, cost: str | None, by: str | None, exact: bool, at: list[float]) -> Answer:
    from firstlight.experiment.scaling.import_table import read_table
    from firstlight.experiment.scaling.result import Answer, configurations_of, meetings_of

    configurations = configurations_of(read_table(path, size=size, cost=cost, by=by, exact=exact), at)
    return Answer(
        title=path.name,
        variable=size or "n",
        unit="",
        cost=cost or "cost",
        nanoseconds=False,
        configurations=configurations,
        meetings=meetings_of(configurations),
    )


def _booted(path: Path, output: Path | None, jobs: int | None, bisect: bool, at: list[float]) -> Answer:
    from functools import partial
    from itertools import combinations

    from firstlight.experiment.scaling.result import (
        Answer,
        configurations_of,
        measured_meetings,
        meetings_of,
        too_close,
    )
    from firstlight.experiment.scaling.run import bisect_crossing, boot_all, prepare
    from firstlight.lab.host.progress import progress_for
    from firstlight.render.terminal.experiment_progress import ExperimentProgress

    looking = progress_for()
    with looking:
        prepared = prepare(path, output, looking)
    plan = prepared.plan
    measured, notes = boot_all(prepared, ExperimentProgress(), jobs)
    configurations = configurations_of(measured, [*plan.predict, *at])
    meetings = [each for each in meetings_of(configurations) if plan.mode == "live" or not each.crossing.measured]
    if plan.mode == "exact":
        # Within the sizes measured boots are asked, not laws.
        for one, other in combinations(measured, 2):
            ask = partial(bisect_crossing, prepared, one.name, other.name, progress=looking) if bisect else None
            met = measured_meetings(one, other, ask)
            meetings += met
            if met and (close := too_close(one, other)) is not None:
                notes.append(close)
    first, last = plan.measure.first or "the first mark", plan.measure.last or "the last mark"
    clock = "virtual time" if plan.mode == "exact" else "time of the host"
    return Answer(
        title=plan.title,
        variable=plan.variable,
        unit=plan.unit,
        cost=f"{clock}, {first} to {last}",
        nanoseconds=True,
        configurations=configurations,
        meetings=tuple(meetings),
        notes=tuple(notes),
    )
