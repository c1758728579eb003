"""`firstlight syscalls` and `firstlight files`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from firstlight import api
from firstlight.cli.output import Bundle, Csv, Json, Limit, check_form
from firstlight.cli.rows import Form, print_rows

OneProcess = Annotated[
    str | None,
    typer.Option(
        "--process",
        metavar="P",
        help="Show only calls of this process: a PID, a name, an executable's path or file name, or a service.",
    ),
]


def _hint(boot: api.Boot) -> str:
    """What to do about no rows: record, or ask for others."""
    if boot.manifest.mode == api.RecordMode.IMPORTED:
        return (
            "import a log of `strace -f -ttt -T`, `perf script` or auditd, or a trace with the events of raw_syscalls"
        )
    if boot.table("processes").is_empty():
        return boot.missing_hint("processes")
    return "nothing in the recording matches; `firstlight processes` lists the processes"


def syscalls(
    boot: Bundle,
    process: OneProcess = None,
    by: Annotated[Literal["process", "call", "path"], typer.Option(help="Sum the calls by this.")] = "call",
    every: Annotated[bool, typer.Option("--each", help="Print every call with --csv or --json instead of sums.")] = (
        False
    ),
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the system calls: how often, the kernel's instructions, the time waited, errors and bytes.

    \b
    Examples:
      firstlight syscalls a.boot
      firstlight syscalls a.boot --process systemd-udevd.service
      firstlight syscalls a.boot --by path -n 20
      firstlight syscalls a.boot --each --csv
    """
    from firstlight.errors import UsageError
    from firstlight.render.views.processes import calls_report

    check_form(csv, json)
    if every and not (csv or json):
        raise UsageError("`--each` prints data only", hint="add `--csv` or `--json`")
    opened = api.open(boot)
    grouped = api.GroupCalls(by)
    rows = opened.system_calls(process=process, by=None if every else grouped)
    print_rows(
        opened,
        rows,
        Form(limit, csv, json),
        "System calls",
        "calls",
        partial(calls_report, opened, by=grouped),
        partial(_hint, opened),
        by=None if every else by,
    )


def files(
    boot: Bundle,
    process: OneProcess = None,
    not_found: Annotated[bool, typer.Option("--not-found", help="Show only paths that were not found.")] = False,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the files that processes opened, read, looked at or did not find.

    \b
    Examples:
      firstlight files a.boot -n 20
      firstlight files a.boot --process systemd-udevd
      firstlight files a.boot --not-found --csv
    """
    import polars as pl

    from firstlight.render.views.processes import files_report

    check_form(csv, json)
    opened = api.open(boot)
    rows = opened.files(process=process)
    if not_found:
        rows = rows.filter(pl.col("not_found") > 0)
    print_rows(
        opened, rows, Form(limit, csv, json), "Files", "files", partial(files_report, opened), partial(_hint, opened)
    )
