"""`firstlight doctor`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Json

_STYLES = {"ok": "green", "limited": "yellow", "missing": "red"}


def doctor(
    qemu: Annotated[Path | None, typer.Option(metavar="PATH", readable=False, help="The QEMU to check.")] = None,
    json: Json = False,
) -> None:
    """Show what this machine can do, what is missing, and the command that installs it.

    The exit code is 0 if this machine can record in exact mode, otherwise 1.

    \b
    Examples:
      firstlight doctor
      firstlight doctor --json | jq '.data.checks[] | select(.state != "ok")'
    """
    found = api.doctor(qemu)
    if json:
        print_json(dataclasses.asdict(found))
    else:
        from rich.text import Text

        from firstlight.escape import printable
        from firstlight.render.terminal.console import console, print_line, print_wrapped

        out = console()
        width = max(len(check.name) for check in found.checks)
        for check in found.checks:
            state = (f"{check.state:8}", _STYLES[check.state])
            head = Text.assemble(state, f"{check.name:{width}}  ")
            print_wrapped(out, printable(check.detail), head, 10 + width)
            if check.remedy is not None:
                print_wrapped(out, printable(check.remedy), " " * (10 + width), 10 + width)
        if found.install is not None:
            print_line(out)
            print_wrapped(out, f"To install missing programs: {found.install}")
    raise typer.Exit(0 if found.exact else 1)
