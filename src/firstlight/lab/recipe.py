"""Everything that decides one boot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from firstlight.lab.architecture import Architecture

RTC = "2024-01-01T00:00:00"
"""The date at power on."""


@dataclass(frozen=True)
class PersistentMemory:
    """A root file system that the guest sees as persistent memory; the file itself never changes."""

    path: Path
    size: int
    """Bytes."""


@dataclass(frozen=True)
class LoadedMemory:
    """A file that lies in the guest's memory at power on, where the kernel is told to leave it alone."""

    path: Path
    address: int


@dataclass(frozen=True)
class Recipe:
    """One boot, decided: same recipe and same digests, same boot."""

    architecture: Architecture
    machine: str
    cpu: str
    memory: int
    """Bytes."""
    kernel: Path
    initrd: Path | None
    """Nothing where the kernel mounts its root by itself."""
    command_line: str
    image: PersistentMemory | None = None
    loaded: LoadedMemory | None = None
    modules: tuple[str, ...] = ()
    """Kernel modules that the guest loads before its root is mounted."""
    shift: int = 0
    seed: int = 1
    """Of every random number that QEMU hands to the guest."""
    ready_pattern: str | None = None
    """Console lines that end the recording; else the guest's own mark does."""
    guest_helper: bool = True
    """Firstlight's guest runs inside: it gives the mark, a report, and powers off."""
    profile: bool = True
    live: bool = False
    timeout_wall_s: float = 600.0
    timeout_virtual_s: float | None = None
    qemu_options: tuple[str, ...] = ()

    def ready_rule(self) -> str:
        """What ends the recording, in one line for the manifest."""
        if self.ready_pattern is not None:
            return f"console:{self.ready_pattern}"
        return "no-operation" if self.guest_helper else "none"
