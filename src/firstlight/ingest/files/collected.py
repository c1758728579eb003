"""The records of an import, and what of it is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Item:
    """One record."""

    path: Path
    """Its bytes, unpacked."""
    file: str
    """Where it stands below `raw/`; a member of an archive as if the archive were a folder."""
    name: str
    """Its name for the reader; empty for standard input."""
    given: str
    """As the person named it."""
    sha256: str
    size_bytes: int


@dataclass
class Gathered:
    """All records, and what was left out on the way."""

    items: list[Item] = field(default_factory=list)
    unread: list[tuple[Item, str]] = field(default_factory=list)
    """Files that are kept, but not given to a reader, and why."""
    notes: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    """Of packed files of which only a part could be unpacked, by where they stand below `raw/`: why."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """What could not be taken in and may hold evidence: the place below `raw/` where it was met, and why."""

    def leave_out(self, file: str, why: str) -> None:
        """Tell of what could not be taken in, and may hold evidence; *file*: where below `raw/` it was met."""
        self.notes.append(why)
        self.left_out.append((file, why))

    def missing(self) -> list[str]:
        """Why evidence may be missing, whatever the records say: what was not unpacked may hold anything."""
        unread = [(item.file, why) for item, why in self.unread]
        return [f"{file}: {why}" for file, why in [*self.damaged.items(), *self.left_out, *unread]]


class LeftOut:
    """Tells of members of an archive that are not read.

    :param file: where the archive stands below `raw/`.
    """

    def __init__(self, found: Gathered, file: str) -> None:
        self._found, self._file = found, file
        self.first: str | None = None
        """Of what may hold evidence the first, in words."""

    def nothing(self, name: str, why: str) -> None:
        """A member that can hold no evidence."""
        self._found.notes.append(f"`{name}` was left out: {why}")

    def evidence(self, name: str, why: str) -> None:
        """A member that may hold evidence, which is missing now."""
        note = f"`{name}` was left out: {why}"
        self.first = self.first or note
        self._found.leave_out(self._file, note)

    def outside(self, name: str) -> None:
        """A member whose name leads out of the archive."""
        self.evidence(name, "it points outside of the archive")
