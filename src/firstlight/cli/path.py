"""`firstlight path`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Csv, Json, Limit, check_form, shown_limit
from firstlight.errors import UsageError


def path(
    boot: Bundle,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="MARK|UNIT", help="The end of the path (default: the end of the boot, otherwise the last mark)."
        ),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=-100ms", help="Predict the end if NAME took this much less or more (repeatable)."),
    ] = None,
    limit: Limit = None,
    csv: Csv = False,
    json: Json = False,
) -> None:
    """Show the critical path: the chain of threads or steps that decided the boot time.

    Its parts add up to the time from the first mark to the end. Where the recorder followed processes, the path goes
    from each thread to the one that woke or created it; time behind other threads is charged to them, and each wait
    has its reason from the kernel stack. Where it followed task switches alone, the chain consists of steps, and the
    thread that ran is charged with the rest. Idle time is waiting. In an imported boot, time without a step is divided
    into the silences of the log, with the driver, device or program that wrote the lines before and after, and the
    phases around them. Samples of bootchart give the chain of processes and what limited the boot: CPU, disk or
    neither. Consecutive parts below 0.5 % are one row, except with --csv. Slack is how much later a step next
    to the path could end without moving the end.

    \b
    Examples:
      firstlight path a.boot
      firstlight path a.boot --to multi-user.target
      firstlight path a.boot --what-if dh_init=-100ms
    """
    from firstlight.render.terminal.report import print_report, say_nothing
    from firstlight.render.views.path import path_data, path_report

    check_form(csv, json)
    changes = parse_changes(what_if or [])
    opened = api.open(boot)
    found = opened.path(to)
    changed = opened.what_if(changes, to=to) if changes else None
    if csv:
        sys.stdout.write(found.rows.write_csv())
    elif json:
        print_json(path_data(opened, found, limit, changed))
    else:
        print_report(path_report(opened, found, shown_limit(limit), changed))
        if found.rows.is_empty() and to is None:
            if opened.log()["time_ns"].drop_nulls().is_empty():
                say_nothing("times", opened.missing_hint("log"))
            else:
                say_nothing("a later instant", "import a longer log: a path leads from one instant to a later one")


def parse_changes(texts: list[str]) -> dict[str, int]:
    """What `--what-if` says: nanoseconds by name; a name that stands twice counts twice.

    :raises UsageError: when a text is no `NAME=DURATION`.

    >>> parse_changes(["dh_init=-100ms", "a=b.service=+1s"])
    {'dh_init': -100000000, 'a=b.service': 1000000000}
    """
    from firstlight.quantities import duration_ns

    changes: dict[str, int] = {}
    for text in texts:
        name, equals, duration = text.rpartition("=")
        if not equals or not name:
            raise UsageError(f"`{text}` is not NAME=DURATION", where="--what-if", hint="such as `dh_init=-100ms`")
        changes[name] = changes.get(name, 0) + duration_ns(duration, "--what-if")
    return changes
