"""Progress of what lasts."""

from __future__ import annotations

import sys
import threading
from typing import Self, TextIO

from rich.console import Console
from rich.status import Status
from rich.text import Text

#: What is done sooner says nothing.
_SOON_S = 2.0


class ImportProgress:
    """Says on a terminal what is being done once it has lasted two seconds; elsewhere nothing."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._console = Console(file=stream or sys.stderr)
        self._text = ""
        self._status: Status | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._timer = threading.Timer(_SOON_S, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._status is not None:
            self._status.stop()

    def step(self, text: str) -> None:
        """Another step begins."""
        self._text = text
        if self._status is not None:
            self._status.update(Text(text))

    def _begin(self) -> None:
        self._status = self._console.status(Text(self._text))
        self._status.start()
