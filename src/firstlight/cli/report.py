"""`firstlight report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json
from firstlight.errors import UsageError


def report(
    boot: Bundle,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The page to write (default: NAME.html); `-` is standard output."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Write a boot as one self-contained HTML page with a timeline, a flame graph and the function profile.

    \b
    Examples:
      firstlight report a.boot
      firstlight report a.boot -o page.html --force
      firstlight report a.boot -o - | gzip > page.html.gz
    """
    if output == Path("-"):
        if json:
            raise UsageError("`-o -` excludes `--json`", hint="`firstlight show --json` gives the boot as data")
        sys.stdout.write(api.page(boot))
        return
    page = api.report(boot, output, force=force)
    if json:
        print_json({"boot": str(boot), "page": str(page), "bytes": page.stat().st_size})
    else:
        print(page)
