"""`firstlight log`."""

from __future__ import annotations

import dataclasses
import sys
from typing import Annotated, Any

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Csv, Json, Limit, check_form, shown_limit
from firstlight.errors import UsageError


def log(
    boot: Bundle,
    gaps: Annotated[
        bool, typer.Option("--gaps", help="Show the silent gaps instead of the lines, longest first.")
    ] = False,
    console_cost: Annotated[
        bool,
        typer.Option(
            "--console-cost", help="Show the time that printing to a serial console took, instead of the lines."
        ),
    ] = False,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Show only lines from A to B: marks, or times such as `1.5s`."),
    ] = None,
    grep: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Show only lines that match this expression.")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Show only lines of this level or a more severe one: `warning`, 4, ..."),
    ] = None,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the log with the time between lines, its silent gaps, or the cost of the console.

    The gaps, including those before the first and after the last line, add up to the boot.

    \b
    Examples:
      firstlight log a.boot --gaps -n 10
      firstlight log a.boot --grep 'usb|hub' --between kernel_start ready
      firstlight log a.boot --console-cost
    """
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.heading import heading, heading_data
    from firstlight.render.views.log import NO_LEVELS, console_cost_report, gaps_report, log_report

    check_form(csv, json)
    filters = between is not None or grep is not None or level is not None
    if gaps + console_cost + filters > 1:
        raise UsageError("`--gaps`, `--console-cost` and options that select lines cannot be combined",
                         hint="`--between`, `--grep` and `--level` select lines")  # fmt: skip
    opened = api.open(boot)
    number = shown_limit(limit)
    untimed = opened.log()["time_ns"].null_count()
    if console_cost:
        cost = opened.console_cost()
        if csv:
            sys.stdout.write((cost.costly if limit is None else cost.costly.head(limit)).write_csv())
        elif json:
            costly = cost.costly if limit is None else cost.costly.head(limit)
            data: dict[str, Any] = dataclasses.asdict(dataclasses.replace(cost, costly=costly.to_dicts()))  # type: ignore[arg-type]
            print_json(heading_data(opened) | {"console_cost": data})
        else:
            print_report(console_cost_report(opened, cost, number if limit is not None else 10))
        return
    if gaps:
        rows = opened.gaps(explained=1000 if limit is None and (csv or json) else number)
    else:
        instants = None if between is None else _instants(opened, between)
        rows = opened.log_lines(grep=grep, level=level, between=instants)
    shown = rows if limit is None else rows.head(limit)
    unknown_level = level is not None and opened.log()["level"].count() == 0
    hint = {"hint": opened.missing_hint("log")} if gaps and rows.is_empty() else {}
    if unknown_level:
        hint = {"hint": NO_LEVELS}
    if csv:
        sys.stdout.write(shown.write_csv())
    elif json:
        print_json(heading_data(opened) | {"gaps" if gaps else "log": shown.to_dicts(), "untimed": untimed} | hint)
    elif gaps and rows.is_empty():
        print_report(heading(opened, "Gaps of the log"))
        say_nothing("any line's time", opened.missing_hint("log"))
    elif gaps:
        print_report(gaps_report(opened, rows, number if limit is not None else 20, untimed))
    else:
        print_report(log_report(opened, rows.head(number), opened.log().height, untimed, unknown_level))


def _instants(boot: api.Boot, between: tuple[str, str]) -> tuple[int, int]:
    """Two marks or times as nanoseconds."""
    from firstlight.quantities import duration_ns
    from firstlight.schema.aliases import MARK_ALIASES
    from firstlight.suggest import unknown_name

    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    found = []
    for text in (MARK_ALIASES.get(text, text) for text in between):
        if text not in marks:
            try:
                found.append(duration_ns(text, "--between"))
                continue
            except UsageError:
                unknown_name("mark", text, marks.keys(), str(boot.directory), "show")
        found.append(marks[text])
    if found[0] > found[1]:
        raise UsageError(f"`{between[0]}` lies after `{between[1]}`", where="--between", hint="swap the two times")
    return found[0], found[1]
