"""One capture: power on, read until the board is ready, and write down what came."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from firstlight._core import Pattern
from firstlight.errors import LabError
from firstlight.lab.capture.file import CaptureFile
from firstlight.lab.capture.reader import StampingReader
from firstlight.lab.capture.self_test import StampError, stamp_error
from firstlight.lab.capture.source import Source, open_source

#: Before power-on the line is listened to, and after the last awaited line for what still comes.
_LISTEN_S = 0.3
_LOOK_S = 0.1
_POWER_S = 60.0
#: A line without end is matched up to here.
_MOST_LINE = 1 << 16
_MOST_CHUNKS = 256
#: Of so many bytes or more, this share is no text: the rate is wrong.
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
    """What a capture is made of."""

    source: str = ""
    command: Sequence[str] = ()
    power: str | None = None
    """The command that switches the power on, for the shell."""
    ready: Pattern | None = None
    baud: int = 115200
    timeout_s: float = 120.0


@dataclass
class CaptureOutcome:
    """What came of a capture."""

    ended: Ended = Ended.CLOSED
    size_bytes: int = 0
    error: StampError | None = None
    """The error of its stamps, measured before it began."""
    warnings: list[str] = field(default_factory=list)


def run_capture(options: CaptureOptions, path: Path) -> CaptureOutcome:
    """Capture one boot into a file. Whatever ends the capture, the file has all that was read.

    :param path: the file, which does not exist.
    :raises LabError: when the console cannot be opened, the power cannot be switched on, or nothing was printed.
    """
    outcome = CaptureOutcome()
    source = open_source(options.source, options.command, options.baud)
    try:
        # A command prints from its start: nothing can be measured first.
        if not options.command:
            outcome.error = stamp_error(options.baud, quick=True)
        with CaptureFile(path) as file:
            reader = StampingReader(source.descriptor)
            reader.start()
            try:
                file.setup(_about(source, reader, outcome))
                _Session(options, outcome, file, reader).run()
            finally:
                reader.stop()
                if outcome.size_bytes == 0:
                    path.unlink()
    finally:
        source.close()
    if outcome.size_bytes == 0:
        hint = "check the port, the cable and the power; the kernel needs `console=` for this port"
        raise LabError(f"nothing was printed ({outcome.ended})", where=source.name, hint=hint)
    return outcome


def _about(source: Source, reader: StampingReader, outcome: CaptureOutcome) -> dict[str, object]:
    error = outcome.error
    return {
        "source": source.name,
        "baud": source.baud,
        "clock": "CLOCK_MONOTONIC_RAW",
        "priority": "normal" if reader.priority is None else f"SCHED_FIFO {reader.priority}",
        "stamp_error_p99_ns": None if error is None else error.p99_ns,
        "stamp_error_max_ns": None if error is None else error.max_ns,
        "latency_timer_ms": _latency_timer(source.name),
    }


def _latency_timer(port: str) -> str | None:
    """How long an FTDI adapter holds bytes back, in milliseconds."""
    name = Path(port).resolve().name
    try:
        return Path("/sys/bus/usb-serial/devices", name, "latency_timer").read_text().strip()
    except OSError:
        return None


class _Session:
    def __init__(
        self, options: CaptureOptions, outcome: CaptureOutcome, file: CaptureFile, reader: StampingReader
    ) -> None:
        self._options, self._outcome, self._file, self._reader = options, outcome, file, reader
        self._line = b""
        self._odd = 0
        self._closed = False

    def run(self) -> None:
        outcome = self._outcome
        try:
            if self._options.power is not None:
                self._power_on(self._options.power)
            outcome.ended = self._until_ready()
        except KeyboardInterrupt:
            outcome.ended = Ended.INTERRUPTED
        except LabError:
            self._listen(0)
            self._file.event("end power")
            raise
        self._listen(0)
        self._file.event(f"end {outcome.ended}")
        if outcome.size_bytes >= _SOME_BYTES and self._odd > _GARBAGE * outcome.size_bytes:
            share = 100 * self._odd / outcome.size_bytes
            outcome.warnings.append(
                f"{share:.0f} % of the bytes are garbage: {self._options.baud} is probably not the baud rate"
            )

    def _until_ready(self) -> Ended:
        end = time.monotonic() + self._options.timeout_s
        while (left := end - time.monotonic()) > 0:
            if self._listen(min(left, _LOOK_S)):
                self._listen_for(_LISTEN_S)
                return Ended.READY
            if self._closed:
                return Ended.CLOSED
        return Ended.TIMEOUT

    def _power_on(self, command: str) -> None:
        self._listen_for(_LISTEN_S)
        if before := self._outcome.size_bytes:
            self._outcome.warnings.append(
                f"the board printed {before} bytes before power-on: it was running, or boots by itself"
            )
        self._line = b""
        self._file.event("power_on_begin")
        limit = min(_POWER_S, self._options.timeout_s)
        # A file and no pipe: what the command leaves running does not hold it open.
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                hint = "check that the relay answers"
                raise LabError(f"the power command did not end within {limit:g} s", where=command, hint=hint) from None
            self._file.event("power_on_end")
            if process.returncode != 0:
                said.seek(0)
                last = said.read(_MOST_LINE).decode(errors="replace").strip().splitlines()[-1:]
                message = ": ".join([f"the power command failed with exit code {process.returncode}", *last])
                raise LabError(message, where=command, hint="run it by hand; the relay may not answer")

    def _listen_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._closed:
            self._listen(left)

    def _listen(self, seconds: float) -> bool:
        """Write down what was read within some time; whether a line is the awaited one."""
        found, wait = False, seconds
        # A console that never pauses must not keep the timeout from being seen.
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
            found |= self._is_ready(content)
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
