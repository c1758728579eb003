"""`firstlight packages`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.output import Bundle, Csv, Json, Limit, check_form
from firstlight.cli.rows import Form, print_rows


def packages(
    boot: Bundle,
    by: Annotated[Literal["package", "file"], typer.Option(help="Sum the instructions by this.")] = "package",
    root: Annotated[
        Path | None,
        typer.Option(
            metavar="ROOT",
            help="Read the package database of this root file system: a directory, a tar or an ext4 image.",
        ),
    ] = None,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the instructions of the boot by the packages whose programs they were executed for.

    The packages come from the package database of the root file system that was booted. The rows add up to the
    instructions of all processes; programs of no package and threads of the kernel have rows of their own.

    \b
    Examples:
      firstlight packages a.boot
      firstlight packages a.boot --by file -n 20
      firstlight packages a.boot --root rootfs.ext4 --csv
    """
    from firstlight.render.views.packages import packages_report

    check_form(csv, json)
    opened = api.open(boot)
    grouped = api.GroupBill(by)
    rows = opened.packages(by=grouped, root=root)
    print_rows(
        opened,
        rows,
        Form(limit, csv, json),
        "Instructions by package",
        "packages",
        partial(packages_report, opened, by=grouped),
        lambda: opened.missing_hint("instructions"),
        by=by,
    )
    if not (csv or json or rows.is_empty()) and not (rows["payer"] == api.Payer.PACKAGE).any():
        from firstlight.render.terminal.report import say_nothing

        say_nothing("packages", opened.missing_hint("packages"))
