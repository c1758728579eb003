"""One line about each boot of the folder, from its manifest and its facts."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.describe import CLOCKS, kernel_text
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError
from firstlight.ui.folder import Entry

_FILES = ("manifest.json", "provenance.json")

Signature = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True)
class Summary:
    """What a list shows of a boot."""

    entry: Entry
    mode: str = ""
    status: str = ""
    kernel: str = ""
    time_ns: int | None = None
    clock: str = ""
    recorded_at: str = ""
    problem: str | None = None
    """Why the boot cannot be opened."""


class Summaries:
    """Summaries of boots; a boot is read again when its manifest changed, and one that cannot be opened each time.

    >>> from firstlight.ui.folder import Folder
    >>> entry = next(each for each in Folder(bundle.parent).entries() if each.name == bundle.name)
    >>> Summaries().of(entry).mode
    'exact'
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[Signature, Summary]] = {}
        self._lock = threading.Lock()

    def of(self, entry: Entry) -> Summary:
        """The summary of a boot; of one that cannot be opened, the reason."""
        signature = tuple(_signature(entry.path / name) for name in _FILES)
        with self._lock:
            known = self._known.get(entry.id)
        if known is not None and known[0] == signature:
            return known[1]
        try:
            made = _summary(entry, open_boot(entry.path))
        except FirstlightError as error:
            return Summary(entry, problem=error.message)
        with self._lock:
            self._known[entry.id] = (signature, made)
        return made


def _summary(entry: Entry, boot: Boot) -> Summary:
    manifest = boot.manifest
    return Summary(
        entry,
        mode=manifest.mode.value,
        status=manifest.state,
        # The manifest of a recording names its kernel, and no table has to be read.
        kernel=str(manifest.versions.get("kernel") or kernel_text(boot) or "").rpartition("/")[2],
        time_ns=manifest.totals.virtual_ns,
        clock=CLOCKS[manifest.clock.kind],
        recorded_at=manifest.recorded_at,
    )


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
