"""One capture: switch the power on, read until the board is ready, and write what arrived."""

from __future__ import annotations

import queue
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from firstlight._core import Pattern
from firstlight.errors import LabError
from firstlight.lab.capture.about import about_capture, stamp_settings
from firstlight.lab.capture.awake import kept_awake
from firstlight.lab.capture.console_lines import ConsoleLines
from firstlight.lab.capture.file import CaptureFile, now_ns
from firstlight.lab.capture.garbage import Garbage
from firstlight.lab.capture.power import Switch, command_switch
from firstlight.lab.capture.reader import StampingReader
from firstlight.lab.capture.self_test import StampError, stamp_error
from firstlight.lab.capture.source import Source, open_source
from firstlight.quantities import joined

#: The time to listen before power-on, and after the last awaited line.
_LISTEN_S = 0.3
#: A line on which nothing follows for so long is a prompt.
_PROMPT_S = 1.0
_LOOK_S = 0.1
_POWER_S = 60.0
#: The longest text that a dialogue waits in.
_MOST_AWAITED = 1 << 16
_MOST_CHUNKS = 256


class Ended(StrEnum):
    """Why a capture ended."""

    READY = "ready"
    CLOSED = "closed"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class CaptureOptions:
    """The options of a capture."""

    source: str = ""
    command: Sequence[str] = ()
    power: str | None = None
    """The command that switches the power on, for the shell."""
    ready: Pattern | None = None
    baud: int = 115200
    timeout_s: float = 120.0
    awake: bool = False
    """Keep the processors of this machine awake."""


@dataclass(frozen=True)
class SessionOptions:
    """The options of the capture of one boot from an open console."""

    ready: Pattern | None = None
    timeout_s: float = 120.0
    switch_on: Switch | None = None
    switch_off: Switch | None = None
    power_s: float = _POWER_S
    """Timeout of the switch, in seconds."""
    off_s: float = 0.0
    """Time with the power off, in seconds."""
    attempts: int = 1
    """Maximum number of power cycles."""
    loader: Callable[[Console], None] | None = None
    """Talks to the boot loader after power-on."""
    awake: bool = False
    """Keep the processors of this machine awake."""


@dataclass
class CaptureOutcome:
    """The outcome of a capture."""

    ended: Ended = Ended.CLOSED
    size_bytes: int = 0
    error: StampError | None = None
    """The error of the stamps, measured before the capture or while it goes on."""
    warnings: list[str] = field(default_factory=list)
    power_cycles: int = 0
    """The number of times that the power was switched on."""
    ready_line: int | None = None
    """The number of the awaited line since the last power-on, from 1."""


class CaptureError(LabError):
    """A capture that failed; the outcome has what it came to until then."""

    def __init__(self, error: LabError, outcome: CaptureOutcome) -> None:
        super().__init__(error.message, where=error.where, hint=error.hint, exit_code=error.exit_code)
        self.outcome = outcome


def run_capture(options: CaptureOptions, path: Path) -> CaptureOutcome:
    """Capture one boot into a file. However the capture ends, the file has everything that was read.

    :param path: the file, which must not exist.
    :raises LabError: when the console cannot be opened, the power cannot be switched on, or nothing was printed.
    """
    source = open_source(options.source, options.command, options.baud)
    reader = source.reader()
    try:
        error, measure, late = None, None, False
        if not options.command:
            late = bool(select.select([source.descriptor], [], [], 0)[0])
            # What is printed during the measurement is stamped when it arrives.
            reader.start()
            print(f"listening to {source.name}", file=sys.stderr, flush=True)
            measure = partial(stamp_error, options.baud, quick=True, awake=options.awake)
            if options.power is not None:
                # The boot has not begun.
                error, measure = measure(), None
        switch = None if options.power is None else command_switch(options.power)
        session = SessionOptions(
            options.ready,
            options.timeout_s,
            switch,
            power_s=min(_POWER_S, options.timeout_s),
            awake=options.awake,
        )
        outcome = capture_from(source, reader, session, path, error, measure=measure)
        if late:
            outcome.warnings.append("bytes were waiting when listening began: their time stamps are too late")
        return outcome
    finally:
        reader.stop()
        source.close()


def capture_from(
    source: Source,
    reader: StampingReader,
    options: SessionOptions,
    path: Path,
    error: StampError | None,
    about: Mapping[str, object] | None = None,
    measure: Callable[[], StampError] | None = None,
) -> CaptureOutcome:
    """Capture one boot from an open console into a file.

    :param reader: of the console; it is started here unless it has started, and stopped.
    :param error: the measured error of stamps.
    :param about: further facts of the boot.
    :param measure: measures the error of stamps while the console is read: the file has what is read meanwhile.
    :raises CaptureError: when the power cannot be switched on, or nothing was printed.
    :raises KeyboardInterrupt: when the user interrupts before anything was printed.
    """
    outcome = CaptureOutcome(error=error)
    with CaptureFile(path) as file, kept_awake(wanted=options.awake):
        reader.start()
        others = source.others()
        try:
            settings = about_capture(source.name, source.baud, reader.priority, error, awake=options.awake)
            file.setup({**settings, **(about or {})})
            with _measuring(measure, file, outcome):
                Console(options, outcome, file, reader, source).run()
            if options.switch_on is not None:
                file.setup({"power_cycles": outcome.power_cycles})
        except LabError as failed:
            raise CaptureError(failed, outcome) from failed
        finally:
            reader.stop()
            if others := sorted({*others, *source.others()}):
                outcome.warnings.append(
                    f"other programs have the port open and may take its bytes: {joined(others, 3)}"
                )
            if outcome.size_bytes == 0:
                path.unlink()
    if outcome.size_bytes == 0:
        if outcome.ended is Ended.INTERRUPTED:
            raise KeyboardInterrupt
        hint = "check the port, the cable and the power; the kernel needs `console=` for this port"
        held = f"; {outcome.warnings[-1]}" if others else ""
        silent = LabError(f"nothing was printed ({outcome.ended}){held}", where=source.name, hint=hint)
        raise CaptureError(silent, outcome)
    return outcome


@contextmanager
def _measuring(measure: Callable[[], StampError] | None, file: CaptureFile, outcome: CaptureOutcome) -> Iterator[None]:
    """Measure the error of stamps in a thread, and write it to the file."""

    def run() -> None:
        with suppress(LabError):
            outcome.error = measure() if measure is not None else None
            file.setup(stamp_settings(outcome.error))

    thread = None if measure is None else threading.Thread(target=run)
    if thread is not None:
        thread.start()
    try:
        yield
    finally:
        if thread is not None:
            thread.join()


class Console:
    """The console of a board during one boot. Everything that is read is written to the file."""

    def __init__(
        self,
        options: SessionOptions,
        outcome: CaptureOutcome,
        file: CaptureFile,
        reader: StampingReader,
        source: Source,
    ) -> None:
        self._options, self._outcome, self._file, self._reader = options, outcome, file, reader
        self._source = source
        self._awaited = b""
        self._lines = ConsoleLines(options.ready)
        self._garbage = Garbage()
        self._closed = False

    def run(self) -> None:
        """Capture the boot, within the maximum number of power cycles."""
        outcome = self._outcome
        try:
            outcome.ended = self._boot()
        except KeyboardInterrupt:
            outcome.ended = Ended.INTERRUPTED
        except LabError:
            self._listen(0)
            self._file.event("end power")
            raise
        self._listen(0)
        self._file.event(f"end {outcome.ended}")
        outcome.ready_line = self._lines.ready_line
        outcome.warnings += self._lines.restart_texts()
        if (warning := self._garbage.warning(self._source.baud)) is not None:
            outcome.warnings.append(warning)

    def expect(self, pattern: str, timeout_s: float) -> bytes:
        """Wait for a text on the console after the end of the last match.

        :param pattern: a regular expression of Python on bytes.
        :param timeout_s: the timeout, in seconds.
        :returns: the match.
        :raises LabError: when it does not arrive in time.
        """
        wanted, end = re.compile(pattern.encode()), time.monotonic() + timeout_s
        while (found := wanted.search(self._awaited)) is None:
            left = end - time.monotonic()
            if left <= 0 or self._closed:
                raise LabError(f"the console did not print `{pattern}` within {timeout_s:g} s", where=self._source.name)
            self._listen(min(left, _LOOK_S))
        self._awaited = self._awaited[found.end() :]
        return found[0]

    def take(self, timeout_s: float) -> bytes:
        """Return what was printed since the last wait; wait if nothing was."""
        end = time.monotonic() + timeout_s
        while not self._awaited and not self._closed and (left := end - time.monotonic()) > 0:
            self._listen(left)
        taken, self._awaited = self._awaited, b""
        return taken

    def send(self, content: bytes) -> None:
        """Write to the console.

        :raises LabError: when the console cannot be written.
        """
        self._source.write(content)

    def _boot(self) -> Ended:
        options = self._options
        for attempt in range(1, options.attempts + 1):
            last = attempt == options.attempts
            try:
                if options.switch_on is not None:
                    self._power_on(options.switch_on)
                if options.loader is not None:
                    self._awaited = b""
                    options.loader(self)
                ended = self._until_ready()
            except LabError as error:
                if last:
                    raise
                self._outcome.warnings.append(f"power cycle {attempt} of {options.attempts}: {error}")
                self._file.event(f"failed {attempt}")
                continue
            if ended is not Ended.TIMEOUT or last:
                return ended
            self._outcome.warnings.append(
                f"power cycle {attempt} of {options.attempts}: the board hung for {options.timeout_s:g} s"
            )
            self._file.event(f"hang {attempt}")
        return Ended.TIMEOUT

    def _until_ready(self) -> Ended:
        quiet_since = time.monotonic()
        end = quiet_since + self._options.timeout_s
        while (left := end - time.monotonic()) > 0 and not self._closed:
            # The dialogue with the boot loader may have read the awaited line.
            if self._lines.ready_line is None and self._listen(min(left, _LOOK_S)):
                quiet_since = time.monotonic()
            paused = time.monotonic() - quiet_since >= _PROMPT_S and self._lines.settle()
            if paused or self._lines.ready_line is not None:
                self._listen_for(_LISTEN_S)
                return Ended.READY
        if self._lines.settle():
            return Ended.READY
        return Ended.CLOSED if self._closed else Ended.TIMEOUT

    def _power_on(self, switch_on: Switch) -> None:
        limit = self._options.power_s
        if self._options.switch_off is not None:
            self._options.switch_off(limit)
            self._pass_over(self._options.off_s)
        before = self._outcome.size_bytes
        self._listen_for(_LISTEN_S)
        if before := self._outcome.size_bytes - before:
            self._outcome.warnings.append(
                f"the board printed {before} bytes before power-on: it was running, or boots by itself"
            )
        begin_ns = now_ns()
        self._lines.begin(begin_ns)
        self._file.event("power_on_begin", begin_ns)
        self._outcome.power_cycles += 1
        try:
            switch_on(limit)
        finally:
            self._file.event("power_on_end")

    def _pass_over(self, seconds: float) -> None:
        """Discard what is printed while the power is off: it belongs to the system that ran before."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._closed:
            try:
                _, content = self._reader.chunks.get(timeout=left)
            except queue.Empty:
                return
            self._closed = not content

    def _listen_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._closed:
            self._listen(left)

    def _listen(self, seconds: float) -> bool:
        """Write what is read within some time; returns whether there was anything."""
        found, wait = False, seconds
        # A console that never pauses must not prevent the timeout.
        for _ in range(_MOST_CHUNKS):
            try:
                time_ns, content = self._reader.chunks.get(block=wait > 0, timeout=wait)
            except queue.Empty:
                return found
            if not content:
                self._closed = True
                return found
            self._file.data(time_ns, content)
            self._outcome.size_bytes += len(content)
            self._garbage.add(content)
            self._awaited = (self._awaited + content)[-_MOST_AWAITED:]
            self._lines.add(time_ns, content)
            found, wait = True, 0
        return found
