"""`firstlight show`."""

from __future__ import annotations

from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json


def show(
    boot: Bundle,
    json: Json = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=0, help="Maximum number of hot functions.")] = 15,
) -> None:
    """Show a boot: its recipe, totals, phases, marks and hot functions.

    \b
    Examples:
      firstlight show a.boot
      firstlight show a.boot --json | jq '.data.phases[] | [.phase, .duration_ns]'
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.show import boot_data, boot_report

    opened = api.open(boot)
    opened.check_sums()
    if json:
        print_json(boot_data(opened, limit))
    else:
        print_report(boot_report(opened, limit))
