"""One capture: switch the power on, read until the board is ready, and write what arrived."""

from __future__ import annotations

import queue
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from firstlight._core import Pattern
from firstlight.errors import LabError
from firstlight.lab.capture.awake import kept_awake
from firstlight.lab.capture.file import CaptureFile
from firstlight.lab.capture.power import Switch, command_switch
from firstlight.lab.capture.reader import StampingReader
from firstlight.lab.capture.self_test import StampError, stamp_error
from firstlight.lab.capture.source import Source, open_source

#: The time to listen before power-on, and after the last awaited line.
_LISTEN_S = 0.3
_LOOK_S = 0.1
_POWER_S = 60.0
#: The longest part of a line that is matched.
_MOST_LINE = 1 << 16
_MOST_CHUNKS = 256
#: The rate is wrong if, from this many bytes on, this share of them is not text.
_SOME_BYTES = 64
_GARBAGE = 0.3
_TEXT = bytes([9, 10, 13, 27, *range(32, 127)])
_STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?")


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
    """The error of the stamps, measured before the capture."""
    warnings: list[str] = field(default_factory=list)
    power_cycles: int = 0
    """The number of times that the power was switched on."""


def run_capture(options: CaptureOptions, path: Path) -> CaptureOutcome:
    """Capture one boot into a file. However the capture ends, the file has everything that was read.

    :param path: the file, which must not exist.
    :raises LabError: when the console cannot be opened, the power cannot be switched on, or nothing was printed.
    """
    source = open_source(options.source, options.command, options.baud)
    try:
        # A command prints at once, so there is no time to measure first.
        error = None if options.command else stamp_error(options.baud, quick=True, awake=options.awake)
        switch = None if options.power is None else command_switch(options.power)
        session = SessionOptions(
            options.ready,
            options.timeout_s,
            switch,
            power_s=min(_POWER_S, options.timeout_s),
            awake=options.awake,
        )
        return capture_from(source, source.reader(), session, path, error)
    finally:
        source.close()


def capture_from(
    source: Source,
    reader: StampingReader,
    options: SessionOptions,
    path: Path,
    error: StampError | None,
    about: Mapping[str, object] | None = None,
) -> CaptureOutcome:
    """Capture one boot from an open console into a file.

    :param reader: of the console; it is started and stopped here.
    :param error: the measured error of stamps.
    :param about: further facts of the boot.
    :raises LabError: when the power cannot be switched on, or nothing was printed.
    """
    outcome = CaptureOutcome(error=error)
    with CaptureFile(path) as file, kept_awake(wanted=options.awake):
        reader.start()
        try:
            file.setup({**_about(source, reader, outcome, awake=options.awake), **(about or {})})
            Console(options, outcome, file, reader, source).run()
            if options.switch_on is not None:
                file.setup({"power_cycles": outcome.power_cycles})
        finally:
            reader.stop()
            if outcome.size_bytes == 0:
                path.unlink()
    if outcome.size_bytes == 0:
        hint = "check the port, the cable and the power; the kernel needs `console=` for this port"
        raise LabError(f"nothing was printed ({outcome.ended})", where=source.name, hint=hint)
    return outcome


def _about(source: Source, reader: StampingReader, outcome: CaptureOutcome, *, awake: bool) -> dict[str, object]:
    error = outcome.error
    return {
        "source": source.name,
        "baud": source.baud,
        "clock": "CLOCK_MONOTONIC_RAW",
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "priority": "normal" if reader.priority is None else f"SCHED_FIFO {reader.priority}",
        "processors": "awake" if awake else None,
        "stamp_error_p99_ns": None if error is None else error.p99_ns,
        "stamp_error_max_ns": None if error is None else error.max_ns,
        "latency_timer_ms": _latency_timer(source.name),
    }


def _latency_timer(port: str) -> str | None:
    """The latency timer of an FTDI adapter, in milliseconds."""
    name = Path(port).resolve().name
    try:
        return Path("/sys/bus/usb-serial/devices", name, "latency_timer").read_text().strip()
    except OSError:
        return None


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
        self._line = b""
        self._awaited = b""
        self._odd = 0
        self._closed = False
        self._ready = False

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
        if outcome.size_bytes >= _SOME_BYTES and self._odd > _GARBAGE * outcome.size_bytes:
            share, rate = 100 * self._odd / outcome.size_bytes, self._source.baud or "its rate"
            outcome.warnings.append(f"{share:.0f} % of the bytes are garbage: {rate} is probably not the baud rate")

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
        end = time.monotonic() + self._options.timeout_s
        while (left := end - time.monotonic()) > 0:
            # The dialogue with the boot loader may have read the awaited line.
            if self._ready or self._listen(min(left, _LOOK_S)):
                self._listen_for(_LISTEN_S)
                return Ended.READY
            if self._closed:
                return Ended.CLOSED
        return Ended.TIMEOUT

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
        self._line, self._ready = b"", False
        self._file.event("power_on_begin")
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
        """Write what is read within some time; returns whether the awaited line was in it."""
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
            self._odd += len(content.translate(None, _TEXT))
            self._awaited = (self._awaited + content)[-_MOST_LINE:]
            found |= self._is_ready(content)
            self._ready |= found
            wait = 0
        return found

    def _is_ready(self, content: bytes) -> bool:
        if self._options.ready is None:
            return False
        *lines, rest = (self._line + content).split(b"\n")
        self._line = rest[:_MOST_LINE]
        texts = (line.decode(errors="replace").rstrip("\r") for line in [*lines, self._line])
        return any(self._options.ready.matches(text) or self._matches_unstamped(text) for text in texts)

    def _matches_unstamped(self, text: str) -> bool:
        """Importing matches lines without the kernel's stamp."""
        stamp, ready = _STAMP.match(text), self._options.ready
        return stamp is not None and ready is not None and ready.matches(text[stamp.end() :])
