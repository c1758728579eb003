"""What the user sees while an experiment runs: how many boots are done, and how long the rest will take."""

from __future__ import annotations

import sys
import threading
import time
from typing import Self, TextIO

from rich.console import Console as Terminal
from rich.status import Status as Spinner
from rich.text import Text

from firstlight.escape import printable
from firstlight.lab.host.progress import Snapshot, describe
from firstlight.quantities import host_time_text


class SilentRunProgress:
    """Prints notes only, to standard error."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def start(self, total: int, done: int, at_once: int) -> None:
        """The number of boots, of those that exist already, and of those that run in parallel."""

    def boot(self, name: str, snapshot: Snapshot) -> None:
        """A guest came this far."""

    def done(self, name: str, repeat: int, how: str, took_s: float, *, counts: bool) -> None:
        """A boot is finished."""

    def note(self, text: str) -> None:
        """Something the user should know."""
        print(f"note: {printable(text)}", file=sys.stderr)


class ExperimentProgress:
    """Hears of every boot, from several threads; on a terminal one line in place, and a line for each finished boot."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._terminal = Terminal(file=stream or sys.stderr, highlight=False)
        self._lock = threading.Lock()
        in_place = self._terminal.is_terminal and not self._terminal.is_dumb_terminal
        self._spinner: Spinner | None = self._terminal.status("") if in_place else None
        self._total = self._done = self._at_once = 0
        self._took: list[float] = []
        self._running: dict[str, str] = {}
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        if self._spinner is not None:
            self._spinner.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._spinner is not None:
            self._spinner.stop()

    def start(self, total: int, done: int, at_once: int) -> None:
        """So many boots there are, so many are there already, and so many run side by side."""
        self._total, self._done, self._at_once = total, done, at_once
        if done > 0:
            self.note(f"{done} of {total} boots already exist")
        self._show()

    def boot(self, name: str, snapshot: Snapshot) -> None:
        """A guest came this far."""
        with self._lock:
            self._running[name] = describe(snapshot)
        self._show()

    def done(self, name: str, repeat: int, how: str, took_s: float, *, counts: bool) -> None:
        """A boot is finished.

        :param how: in words.
        :param counts: it was made, so its time is an estimate for the others.
        """
        with self._lock:
            self._done += 1
            self._running.pop(name, None)
            if counts:
                self._took.append(took_s)
            left = self.left_s()
        rest = "" if left is None else f", {host_time_text(left)} left"
        took = f" in {took_s:.1f} s" if counts else " from an earlier experiment"
        self._line(f"[{self._done}/{self._total}] {name}, boot {repeat}: {how}{took}{rest}")
        self._show()

    def note(self, text: str) -> None:
        """Something the user should know."""
        self._line(f"note: {text}")

    def left_s(self) -> float | None:
        """How long the rest will take, seconds; unknown before a boot was made, nothing at the end."""
        rest = self._total - self._done
        if not self._took or rest <= 0:
            return None
        return sum(self._took) / len(self._took) * rest / max(1, min(self._at_once, rest))

    def _show(self) -> None:
        if self._spinner is None:
            return
        with self._lock:
            name, where = next(iter(self._running.items()), ("", ""))
            left = self.left_s()
            parts = [f"{self._done} of {self._total} boots"]
            parts += [f"{len(self._running)} running"] if len(self._running) > 1 else []
            parts += [f"{printable(name, 40)}: {where}"] if name else []
            parts += [f"{host_time_text(left)} left"] if left is not None else []
            self._spinner.update(Text(" · ".join(parts)))

    def _line(self, text: str) -> None:
        with self._lock:
            self._terminal.print(Text(printable(text)), soft_wrap=True)
