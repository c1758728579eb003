"""`firstlight capture`."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForceBundle, Json, NewBundle, OwnMarks, Ready
from firstlight.errors import UnhealthyBootError, UsageError
from firstlight.quantities import time_text


def capture(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PORT | -- COMMAND",
            help="A serial port, tcp://HOST:PORT, rfc2217://HOST:PORT, `pty`, or `-` for standard input; or a command "
            "whose output is read.",
        ),
    ] = None,
    output: NewBundle = Path("board.boot"),
    power: Annotated[
        str | None,
        typer.Option("--power", metavar="CMD", help="Shell command that switches the power on; the boot begins there."),
    ] = None,
    ready: Ready = None,
    mark: OwnMarks = None,
    baud: Annotated[
        int,
        typer.Option(
            "--baud", metavar="N", min=50, help="Rate of the serial port, also behind RFC 2217, in bits per second."
        ),
    ] = 115200,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.1, help="Maximum duration of the capture, in seconds.")
    ] = 120.0,
    awake: Annotated[
        bool,
        typer.Option(
            "--awake",
            help="Keep the processors of this machine from sleeping, for more exact time stamps. They loop whenever "
            "nothing else runs.",
        ),
    ] = False,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Measure the error of time stamps on this machine and stop.")
    ] = False,
    force: ForceBundle = False,
    json: Json = False,
) -> None:
    """Capture the boot of a board from its console, with the instant at which each byte was read.

    While it runs, NAME.capture.bin next to the bundle grows. If the capture is killed, `firstlight import` reads it.
    The error of time stamps is measured before each capture of a port and stored with the boot. The exit code is 4
    if the line of --ready did not come.

    \b
    Examples:
      firstlight capture /dev/ttyUSB0 --power 'relay on' --ready 'login: ' -o a.boot
      firstlight capture tcp://lab:4001 --ready 'login: ' --mark camera_up='camera [0-9] up' -o a.boot
      firstlight capture rfc2217://lab:4001 --baud 115200 --ready 'login: ' -o a.boot
      firstlight capture --ready 'login: ' -o a.boot -- ssh lab picocom -q /dev/ttyUSB0
      firstlight capture --self-test --awake
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.import_summary import import_report, import_warnings, imported_data

    if self_test:
        error = api.capture_self_test(baud, awake=awake)
        if json:
            print_json(asdict(error))
        else:
            print(_stated(error))
        return
    place, command = _source(source or [])
    captured = api.capture(
        place,
        command=command,
        output=output,
        power=power,
        ready=ready,
        marks=mark or [],
        baud=baud,
        timeout_s=timeout,
        awake=awake,
        force=force,
    )
    outcome = captured.outcome
    for warning in [*outcome.warnings, *import_warnings(captured.imported)]:
        print(f"warning: {warning}", file=sys.stderr)
    stated = None if outcome.error is None else asdict(outcome.error)
    if json:
        capture_data = {"ended": outcome.ended, "bytes": outcome.size_bytes, "stamp_error": stated}
        print_json({**imported_data(captured.imported), "capture": capture_data})
    else:
        print_report(import_report(captured.imported))
        if outcome.error is not None:
            print(_stated(outcome.error))
    if ready is not None and (outcome.ended != "ready" or captured.imported.manifest.failure is not None):
        raise UnhealthyBootError(
            f"no line matched `--ready`; the capture ended for another reason ({outcome.ended})",
            where=str(output),
            hint="the bundle has the captured lines; `--timeout` sets how long to wait",
        )


def _source(given: list[str]) -> tuple[str, list[str]]:
    """The port, or the command, of the arguments.

    :raises UsageError: without any.
    """
    if not given:
        raise UsageError("no console is given", hint="`firstlight capture /dev/ttyUSB0`, or `-- COMMAND`")
    word = given[0]
    if len(given) > 1 or (word not in ("-", "pty") and shutil.which(word)):
        return "", given
    return word, []


def _stated(error: api.StampError) -> str:
    priority = "normal priority" if error.priority is None else f"real-time priority {error.priority}"
    awake = ", processors kept awake" if error.awake else ""
    figures = ", ".join(
        f"{name} {time_text(value)}"
        for name, value in (("p50", error.p50_ns), ("p99", error.p99_ns), ("max", error.max_ns))
    )
    conditions = f"{error.baud:,} baud, {priority}, load {error.load:.1f}{awake}; no adapter"
    return f"error of time stamps: {figures} late ({conditions})"
