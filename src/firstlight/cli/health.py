"""`firstlight health`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json

_UNHEALTHY = 4


def health(
    boot: Bundle,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="BOOT", readable=False, help="A boot of the same system that is known to work."),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Difference that does not fail a check, as `CHECK SUBJECT` (repeatable)."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show every difference instead of the first three.")] = False,
    json: Json = False,
) -> None:
    """Check that the booted system works: devices, mounts, units, clocks, files, protections.

    A check without evidence is `unknown`, not passed. Many checks need a baseline. Exit code 4 if a check fails.

    \b
    Examples:
      firstlight health a.boot
      firstlight health b.boot --baseline a.boot
      firstlight health b.boot --baseline a.boot --expect "HC-DEV device.platform/pcspkr"
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.health import health_data, health_report

    opened = api.open(boot)
    found = api.health(opened, baseline, expect or ())
    if json:
        print_json(health_data(found))
    else:
        print_report(health_report(opened, found, None if all_ else 3))
    if not found.healthy:
        raise typer.Exit(_UNHEALTHY)
