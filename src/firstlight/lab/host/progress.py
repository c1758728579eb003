"""The progress display of a recording."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Protocol, Self, TextIO

from rich.console import Console as Terminal
from rich.status import Status as Spinner
from rich.text import Text

from firstlight.lab.host.plugin_status import Status
from firstlight.schema.marks import Mark, Phase

_PLAIN_EVERY_S = 10.0

# The plugin says which mark was last; the phases that are not called like it (docs/reference/formats/boot-bundle.md).
_PHASES: dict[str, str] = {
    Mark.POWER_ON: Phase.FIRMWARE,
    Mark.DECOMPRESSION_START: Phase.DECOMPRESSION,
    Mark.KERNEL_START: Phase.EARLY_INIT,
    Mark.GUEST_START: Phase.USERSPACE,
}


@dataclass(frozen=True)
class Snapshot:
    """Where a run is, for people."""

    wall_s: float
    console_bytes: int
    status: Status | None


class Progress(Protocol):
    """Hears how the work goes on; used as a context manager around it."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

    def step(self, text: str) -> None:
        """Another step of the work begins."""

    def boot(self, snapshot: Snapshot) -> None:
        """The guest came this far; several times a second."""

    def note(self, text: str) -> None:
        """Something the user should know, though all goes on."""

    def warn(self, text: str) -> None:
        """Something that makes the result another than the person may believe."""


def describe(snapshot: Snapshot, rate: float | None = None) -> str:
    """Say in one line where a boot is.

    :param rate: instructions per second of the host, when known.

    >>> from firstlight.lab.host.plugin_status import Status
    >>> describe(Snapshot(2.0, 100, Status("running", "initcall_device", 10**9, 1_250_000_000)), 4.2e8)
    'initcall_device · 1.250 s virtual · 1,000 M instructions · 420 M/s'
    >>> describe(Snapshot(2.0, 2048, None))
    'booting · 2 s · console 2 KiB'
    >>> describe(Snapshot(2.0, 100, Status("running", "kernel_start", 10**9, 1_250_000_000)))
    'early_init · 1.250 s virtual · 1,000 M instructions'
    """
    status = snapshot.status
    if status is None:
        return f"booting · {snapshot.wall_s:.0f} s · console {snapshot.console_bytes // 1024} KiB"
    parts = [
        _PHASES.get(status.phase or Mark.POWER_ON, status.phase),
        f"{status.virtual_ns / 1e9:.3f} s virtual",
        f"{status.instructions / 1e6:,.0f} M instructions",
    ]
    if rate is not None:
        parts.append(f"{rate / 1e6:,.0f} M/s")
    return " · ".join(parts)


class SilentProgress:
    """Says nothing but notes and warnings, which go to standard error."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def step(self, text: str) -> None:
        """Another step begins."""

    def boot(self, snapshot: Snapshot) -> None:
        """The guest came this far."""

    def note(self, text: str) -> None:
        """Something the user should know."""
        print(f"note: {text}", file=self._stream or sys.stderr)

    def warn(self, text: str) -> None:
        """Something that makes the result another than the person may believe."""
        print(f"warning: {text}", file=self._stream or sys.stderr)


class PlainProgress(SilentProgress):
    """A line per step, and one every ten seconds while a guest runs: for logs."""

    _said_at = 0.0

    def step(self, text: str) -> None:
        """Another step begins."""
        print(text, file=self._stream or sys.stderr, flush=True)

    def boot(self, snapshot: Snapshot) -> None:
        """The guest came this far."""
        now = time.monotonic()
        if now - self._said_at >= _PLAIN_EVERY_S:
            self._said_at = now
            self.step(describe(snapshot))


class TerminalProgress(SilentProgress):
    """One line that changes in place."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal
        self._spinner: Spinner = terminal.status("")
        self._last: tuple[float, int] | None = None
        self._rate: float | None = None

    def __enter__(self) -> Self:
        self._spinner.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._spinner.stop()

    def step(self, text: str) -> None:
        """Another step begins."""
        self._last = self._rate = None
        self._spinner.update(Text(text))

    def boot(self, snapshot: Snapshot) -> None:
        """The guest came this far."""
        if snapshot.status is not None:
            instructions = snapshot.status.instructions
            if self._last is not None and instructions > self._last[1] and snapshot.wall_s > self._last[0]:
                self._rate = (instructions - self._last[1]) / (snapshot.wall_s - self._last[0])
            if self._last is None or instructions > self._last[1]:
                self._last = snapshot.wall_s, instructions
        self._spinner.update(Text(describe(snapshot, self._rate)))

    def note(self, text: str) -> None:
        """Something the user should know."""
        self._terminal.print(Text(f"note: {text}"))

    def warn(self, text: str) -> None:
        """Something that makes the result another than the person may believe."""
        self._terminal.print(Text(f"warning: {text}", style="yellow"))


def progress_for(stream: TextIO | None = None, *, verbose: bool = False) -> Progress:
    """The progress that suits a stream: one line in place on a terminal, else nothing, or lines when *verbose*.

    :param stream: where it goes; standard error when not given.
    """
    terminal = Terminal(file=stream or sys.stderr)
    if terminal.is_terminal and not terminal.is_dumb_terminal:
        return TerminalProgress(terminal)
    return PlainProgress(stream) if verbose else SilentProgress(stream)
