"""An imported boot whose records do not show when userspace began."""

from __future__ import annotations

from pathlib import Path

from firstlight.api import Boot
from imported_records import imported


def boot(directory: Path, name: str, user: float = 2.0, program: float | None = 2.06, end: float = 12.0) -> Boot:
    """A boot that runs its first program at *user*, with its first line at *program*, and ends at *end* seconds."""
    lines = [
        (0.0, "Linux version 6.17.1 (a@b) (gcc 14.2.0) #1 SMP"),
        (user - 0.1, "Freeing unused kernel image memory: 1K"),
    ]
    lines += [(user, "Run /sbin/init as init process")]
    lines += [] if program is None else [(program, "systemd[1]: systemd 257 running in system mode")]
    lines += [(end, "device is up")]
    (directory / name).mkdir()
    text = "".join(f"[{at:12.6f}] {words}\n" for at, words in lines)
    return imported(directory / name, {"dmesg.txt": text}, marks=(("ready", "device is up"),))
