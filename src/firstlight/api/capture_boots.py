"""Capturing the boot of a board from its console."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firstlight._core import Pattern
from firstlight.bundle.writer import check_destination
from firstlight.errors import FirstlightError, LabError
from firstlight.ingest.importing import Imported, ImportOptions, import_records
from firstlight.ingest.wanted_marks import wanted_marks
from firstlight.lab.capture.file import set_aside
from firstlight.lab.capture.self_test import StampError, stamp_error
from firstlight.lab.capture.session import CaptureOptions, CaptureOutcome, run_capture


@dataclass(frozen=True)
class Captured:
    """A boot that was captured."""

    imported: Imported
    outcome: CaptureOutcome


def capture(
    source: str = "",
    *,
    command: Sequence[str] = (),
    output: str | os.PathLike[str] = "board.boot",
    power: str | None = None,
    ready: str | None = None,
    marks: Sequence[str] = (),
    baud: int = 115200,
    timeout_s: float = 120.0,
    awake: bool = False,
    force: bool = False,
) -> Captured:
    """Capture the console of a board while it boots, and write the bundle of the boot.

    A thread reads the console and stamps each chunk in nanoseconds of `CLOCK_MONOTONIC_RAW`. Next to the bundle,
    `NAME.capture.bin` grows meanwhile; it is removed once the bundle contains it. If the capture is killed,
    :func:`firstlight.import_` reads the file up to its last byte.

    :param source: a serial port, `tcp://HOST:PORT`, `pty` for a new pseudo-terminal, or `-` for standard input.
    :param command: a command whose output is the console, instead of a source.
    :param output: the bundle.
    :param power: the shell command that switches the power on; the boot begins there.
    :param ready: the pattern of the line at which the boot ends.
    :param marks: `NAME=REGEX`: further marks.
    :param baud: the rate of the serial port, in bits per second.
    :param timeout_s: how long to wait for the ready line, in seconds.
    :param awake: keep the processors of this machine awake meanwhile, for more exact time stamps.
    :param force: replace a bundle that is there.
    :raises UsageError: for a pattern, a rate or an address that cannot be.
    :raises FirstlightError: when the console cannot be opened, the power command fails, or no boot was printed.

    >>> import firstlight
    >>> lines = r"[    0.000000] Linux version 6.12\\n[    0.500000] Run /init as init process\\n"
    >>> captured = firstlight.capture(command=["printf", lines], output=bundle.parent / "board.boot")
    >>> str(captured.outcome.ended), captured.imported.summary["lines"]
    ('closed', 2)
    """
    target = Path(output)
    wanted = wanted_marks(ready, marks)
    check_destination(target.absolute(), force=force)
    record = target.with_name(f"{target.name.removesuffix('.boot')}.capture.bin")
    pattern = None if ready is None else Pattern(ready)
    there = record.exists()
    try:
        outcome = run_capture(CaptureOptions(source, command, power, pattern, baud, timeout_s, awake), record)
    except LabError as error:
        if there or (kept := set_aside(record)) is None:
            raise
        hint = "; ".join([*([error.hint] if error.hint else []), f"`{kept}` has what was printed"])
        raise LabError(error.message, where=error.where, hint=hint) from error
    line = outcome.ready_line
    # A board that resets itself meanwhile boots again: the boot is the one that became ready, or the last one.
    options = ImportOptions([str(record)], target, boot=-1, at_line=line, force=force, marks=wanted)
    try:
        imported = import_records(options)[0]
    except FirstlightError as error:
        warned = f" ({outcome.warnings[-1]})" if outcome.warnings else ""
        message = f"{error.message}{warned}"
        raise FirstlightError(message, where=str(record), hint="the file contains the complete capture") from error
    record.unlink()
    return Captured(imported, outcome)


def capture_self_test(baud: int = 115200, *, awake: bool = False) -> StampError:
    """Measure how late the stamps of a capture are on this machine, by a loop-back through a pseudo-terminal.

    The delay of an adapter is not part of it.

    :param baud: the rate whose pace is imitated, in bits per second.
    :param awake: keep the processors of this machine awake meanwhile.
    :raises FirstlightError: when the measurement fails.

    >>> import firstlight
    >>> error = firstlight.capture_self_test(921600)
    >>> 0 <= error.p50_ns <= error.p99_ns <= error.max_ns
    True
    """
    return stamp_error(baud, awake=awake)
