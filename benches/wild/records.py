"""The list of records: where each is, its digest, and what a person found in it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class WildRecord:
    """A record, and what it holds."""

    boots: int
    releases: tuple[str, ...] = ()
    """The kernel of each boot, where the record has its first line."""
    userspace_s: tuple[float, float] | None = None
    """Between which stamps the first program of the first boot began; none where no stamp shows it."""
    repository: str = ""
    commit: str = ""
    sha256: str = ""
    path: str = ""
    """Where it is in the repository, or in the folder of the list."""


def records(path: Path) -> list[WildRecord]:
    """Read a list."""
    return [_record(stored) for stored in tomllib.loads(path.read_text())["record"]]


def _record(stored: dict[str, Any]) -> WildRecord:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return WildRecord(**values)
