"""Progress of an experiment that is not shown."""

from __future__ import annotations

from firstlight.lab.host.progress import SilentProgress, Snapshot


class Silent(SilentProgress):
    """Says nothing."""

    def start(self, total: int, done: int, at_once: int) -> None:
        """Nothing."""

    def boot(self, name: str, snapshot: Snapshot) -> None:  # type: ignore[override]
        """Nothing."""

    def done(self, name: str, repeat: int, how: str, took_s: float, *, counts: bool) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""
