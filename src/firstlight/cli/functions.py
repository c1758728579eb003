"""`firstlight functions`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Csv, Json, Limit, check_form
from firstlight.cli.process_functions import Wanted, process_functions
from firstlight.cli.rows import Form
from firstlight.errors import UsageError


def functions(
    boot: Bundle,
    sort: Annotated[api.FunctionOrder, typer.Option(help="Sort key, largest first.")] = "total",
    under: Annotated[
        str | None, typer.Option(metavar="FUNCTION", help="Show only this function and its callees.")
    ] = None,
    phase: Annotated[str | None, typer.Option(metavar="PHASE", help="Show only this phase.")] = None,
    between: Annotated[
        str | None,
        typer.Option(
            metavar="START..END",
            help="Show only the time slices nearest to this interval, such as `0.8s..0.9s`.",
        ),
    ] = None,
    unit: Annotated[api.FunctionUnit, typer.Option(help="Unit of Time, Average and Local.")] = "time",
    limit: Limit = None,
    tree: Annotated[bool, typer.Option("--tree", help="Show the calling-context tree instead of the table.")] = False,
    min_percent: Annotated[
        float, typer.Option(min=0, max=100, help="With --tree: combine callees below this share in one line.")
    ] = 1.0,
    corrected: Annotated[
        bool,
        typer.Option(
            "--corrected",
            help="From the calling-context tree: Max-sub by the time under its caller. For an imported function log, "
            "also count recursion once, and calls without an end as intervals.",
        ),
    ] = False,
    raw_names: Annotated[
        bool,
        typer.Option("--raw-names", help="Show parts that the compiler split off a function (`f.cold`) separately."),
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(metavar="Fctarslmnu", help="Columns of kd's own table, as in its option `-f` (default: Fctal)."),
    ] = None,
    process: Annotated[
        str | None,
        typer.Option(
            "--process",
            metavar="P",
            help="Show one process: functions in user mode, system calls, the rest of the kernel. P is a PID, "
            "a name, an executable's path or file name, or a service.",
        ),
    ] = None,
    user: Annotated[
        bool, typer.Option("--user", help="Show only functions of user mode, and the files that contain them.")
    ] = False,
    symbols: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", readable=False, help="With --process or --user: debug files for functions without a name."
        ),
    ] = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the function profile with kd's columns: Count, Time with callees, Average, Local without callees, Max-sub.

    Count and Local add up to the line `all`. One line sums up the rows that `-n` leaves out. Max-sub is the direct
    callee with the largest Time, and Ms count is the number of its calls. Rows in brackets are not functions.
    Machine's names the cost of the emulated machine that causes most of a function's Local; `firstlight show` lists
    these costs.

    With --process or --user, show what processes executed instead; their rows add up to the instructions of the
    processes. `firstlight record --user-functions` records functions of user mode.

    For an imported function log or kd table, show what the tool kd prints, in microseconds. `--corrected`, `--under`,
    `--phase`, `--tree`, `--raw-names` and `--unit instructions` read the calling-context tree instead.

    \b
    Examples:
      firstlight functions a.boot --sort self -n 20
      firstlight functions a.boot --under acpi_init --unit instructions
      firstlight functions a.boot --tree --min-percent 5
      firstlight functions a.boot --between 0.8s..0.9s --sort self
      firstlight functions a.boot --csv > functions.csv
      firstlight functions a.boot --process systemd-udevd --user -n 20
      firstlight functions a.boot --process systemd --between 1.2s..1.3s
      firstlight functions kft.boot --columns Fctalsmn
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.functions import functions_frame, functions_report, functions_subject, tree_report

    if csv and (json or tree):
        raise UsageError(
            "`--csv` cannot be combined with `--json` or `--tree`", hint="`--tree --json` prints the tree as data"
        )
    if tree and limit is not None:
        raise UsageError("`--tree` cannot be combined with `-n`", hint="`--min-percent` prunes a tree")
    opened = api.open(boot)
    if process is not None or user:
        if tree or corrected or raw_names or columns or under is not None or phase is not None:
            raise UsageError(
                "`--process` and `--user` cannot be combined with options of the kernel's calling-context tree",
                hint="they take only `--between`, `--symbols`, `-n`, `--csv` and `--json`",
            )
        check_form(csv, json)
        instants = None if between is None else parse_between(between)
        process_functions(opened, Wanted(process, user, symbols, instants), Form(limit, csv, json))
        return
    if symbols is not None:
        raise UsageError("`--symbols` is for functions of user mode", hint="add `--user` or `--process P`")
    if between is not None and phase is not None:
        raise UsageError("`--between` cannot be combined with `--phase`", hint="give one of them")
    instants = None if between is None else parse_between(between)
    part = (corrected, tree, raw_names, under is not None, phase is not None, instants is not None)
    of_tree = any(part) or unit == "instructions"
    if columns is not None and of_tree:
        raise UsageError("`--columns` is for kd's own table", hint="leave out the options of the calling-context tree")
    if not of_tree and opened.kd().height:
        show_kd(opened, sort, columns, limit, csv, json)
        return
    if columns is not None:
        raise UsageError(
            "this boot has no table of kd", hint="`firstlight import` of a function log or a kd table makes one"
        )
    counted = None if instants is None else opened.interval(*instants)
    subject = functions_subject(opened, unit, phase, under, counted)
    if tree:
        rows = opened.context_tree(
            phase=phase,
            under=under,
            unit=unit,
            min_share=min_percent / 100,
            raw_names=raw_names,
            between=instants,
        )
        if json:
            print_json([dataclasses.asdict(row) for row in rows])
        else:
            print_report(tree_report(rows, unit, subject))
        return
    if limit is None and not (csv or json):
        limit = 40
    selection = opened.function_profile(
        phase=phase,
        under=under,
        sort=sort,
        unit=unit,
        limit=limit,
        per_caller=corrected,
        raw_names=raw_names,
        between=instants,
    )
    costs = opened.machine_costs()
    marks = costs.marks if costs else {}
    if csv:
        sys.stdout.write(functions_frame(selection, marks).write_csv())
    elif json:
        print_json(functions_frame(selection, marks).to_dicts())
    else:
        print_report(functions_report(selection, unit, subject, marks))


def parse_between(text: str) -> tuple[int, int]:
    """Two instants in nanoseconds from what `--between` says.

    :raises UsageError: when a text is no `START..END`, or END is not after START.

    >>> parse_between("0.8s..900ms")
    (800000000, 900000000)
    """
    from firstlight.quantities import duration_ns

    start, dots, end = text.partition("..")
    if not dots:
        raise UsageError(f"`{text}` is not START..END", where="--between", hint="such as `0.8s..0.9s`")
    instants = duration_ns(start, "--between"), duration_ns(end, "--between")
    if instants[1] <= instants[0]:
        what = f"`{end}` is not after `{start}`"
        raise UsageError(what, where="--between", hint="swap the two: an interval begins before it ends")
    return instants


def show_kd(
    boot: api.Boot, sort: api.FunctionOrder, columns: str | None, limit: int | None, csv: bool, json: bool
) -> None:
    """Print the kd table of an imported function log: as kd does, or as data."""
    import polars as pl

    from firstlight.render.views.kd import DEFAULT_COLUMNS, kd_text, sort_kd

    key = {"self": "l", "total": "t", "count": "c"}[sort]
    table = boot.kd()
    rows = {
        source: sort_kd(table.filter(pl.col("source").eq_missing(source)).iter_rows(named=True), key)[:limit]
        for source in table["source"].unique(maintain_order=True)
    }
    if csv:
        kept = pl.DataFrame([row for each in rows.values() for row in each], schema=table.schema)
        sys.stdout.write(kept.write_csv())
    elif json:
        print_json([dict(row) for each in rows.values() for row in each])
    else:
        sys.stdout.write("\n".join(kd_text(each, columns or DEFAULT_COLUMNS) for each in rows.values()))
