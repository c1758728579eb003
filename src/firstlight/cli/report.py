"""`firstlight report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForceFile, Json
from firstlight.errors import UsageError


def report(
    boots: Annotated[
        list[Path],
        typer.Argument(metavar="BOOT [BOOT]", readable=False, help="A boot bundle, or two to compare on the page."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The page to write (default: NAME.html); `-` is standard output."
        ),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            "--align",
            metavar="MARK",
            help="With two boots: align them at this mark (default: the first that both have).",
        ),
    ] = None,
    all_paths: Annotated[
        bool,
        typer.Option(
            "--all-paths", help="With one boot: draw every call path, not only those that hold 0.005 % of the boot."
        ),
    ] = False,
    force: ForceFile = False,
    json: Json = False,
) -> None:
    """Write a boot as one self-contained HTML page with a timeline, a flame graph and the function profile.

    The page of two boots has both timelines on one axis, aligned at a mark, and their comparison.

    \b
    Examples:
      firstlight report a.boot
      firstlight report a.boot -o page.html --force
      firstlight report a.boot b.boot -o ab.html
      firstlight report a.boot b.boot --align kernel_start
      firstlight report a.boot --all-paths -o a-all.html
      firstlight report a.boot -o - | gzip > page.html.gz
    """
    if len(boots) > 2:
        raise UsageError(
            "a page has one boot or two", hint="`firstlight compare A B C --html FILE` compares more boots"
        )
    boot, other = boots[0], boots[1] if len(boots) == 2 else None
    if align is not None and other is None:
        raise UsageError("`--align` is for two boots", hint="give a second boot")
    if output == Path("-"):
        if json:
            raise UsageError(
                "`-o -` cannot be combined with `--json`", hint="`firstlight show --json` prints the boot as data"
            )
        sys.stdout.write(api.page(boot, other, align=align, all_paths=all_paths))
        return
    page = api.report(boot, output, other=other, align=align, all_paths=all_paths, force=force)
    if json:
        second = {} if other is None else {"other": str(other)}
        print_json({"boot": str(boot), **second, "page": str(page), "bytes": page.stat().st_size})
    else:
        print(page)
