"""The plugin's status file, rewritten in place while a guest runs (docs/reference/formats/plugin.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Status:
    """Where the boot is."""

    state: str
    """`running`, then one of `ready`, `panic`, `timeout`, `stopped`, `error`."""
    phase: str = ""
    instructions: int = 0
    virtual_ns: int = 0
    idle_ns: int = 0
    detail: str = ""

    @property
    def final(self) -> bool:
        """Whether the profile is written and QEMU may be ended."""
        return self.state != "running"


def read_status(path: Path) -> Status | None:
    """Read the status; `None` while there is none, or while it is just being rewritten.

    >>> read_status(Path("/nonexistent")) is None
    True
    """
    try:
        fields = json.loads(path.read_bytes().rstrip(b"\0 \n"))
        return Status(
            state=str(fields["state"]),
            phase=str(fields.get("phase", "")),
            instructions=int(fields.get("instructions", 0)),
            virtual_ns=int(fields.get("virtual_ns", 0)),
            idle_ns=int(fields.get("idle_ns", 0)),
            detail=str(fields.get("detail", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
