"""`firstlight compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight.cli.output import Json, Limit, print_json


def compare(
    boots: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B...", readable=False, help="Boot bundles, or directories with several; A is the baseline."
        ),
    ],
    limit: Limit = None,
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
    from firstlight.compare.exact.data import VERSION, difference_data
    from firstlight.compare.exact.difference import exact_difference
    from firstlight.report.terminal.compare import print_difference
    from firstlight.report.terminal.console import console, print_line

    arms = read_arms(boots)
    differences = []
    for arm in arms[1:]:
        for side in (arms[0], arm):
            if not side.is_exact:
                message = f"its boots are not exact ({side.mode} mode)"
                raise CompareError(message, where=side.name, hint="compare boots that were recorded in exact mode")
        differences.append(exact_difference(arms[0].boots[0], arm.boots[0]))
    if json:
        print_json({"schema": VERSION, "comparisons": [difference_data(each, limit) for each in differences]})
        return
    out = console()
    for number, difference in enumerate(differences):
        if number:
            print_line(out)
        print_difference(out, difference, 10 if limit is None else limit)
