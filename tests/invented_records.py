"""One invented boot as several tools would have recorded it, each with its own clock."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field

BOOT_ID = "0123456789abcdef0123456789abcdef"
STARTING, STARTED = "7d4958e842da4a758f6c1cdc7b36dcc5", "39f53479d3a045ac8e11786248231fbf"
VERSION = "Linux version 6.1.0-test (builder@host) (gcc 12) #1 SMP Mon Jan 1 00:00:00 UTC 2024"


@dataclass
class InventedBoot:
    """A boot that took about *length_us* microseconds, with initcalls, lines of drivers and units of systemd."""

    seed: int = 1
    length_us: int = 8_000_000
    version: str = VERSION
    lines: list[tuple[int, str]] = field(default_factory=list)
    """Time in microseconds since the kernel's start, and text, as the kernel prints it."""
    initcalls: list[tuple[str, int, int]] = field(default_factory=list)
    units: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        self.lines += [(0, self.version), (0, "Command line: console=ttyS0 initcall_debug")]
        now = 100_000
        for number in range(60):
            took = chance.randint(300, 9_000)
            name = f"driver_{number}_init"
            self.initcalls.append((name, now, now + took))
            self.lines.append((now, f"calling  {name}+0x0/0x40 @ 1"))
            self.lines.append((now + took // 2, f"driver {number} found device {chance.randint(0, 999)}"))
            self.lines.append((now + took, f"initcall {name}+0x0/0x40 returned 0 after {took} usecs"))
            now += took + chance.randint(10, 20_000)
        self.lines.append((now + 5_000, "Freeing unused kernel image (initmem) memory: 2048K"))
        user = now + 10_000
        self.lines.append((user, "Run /sbin/init as init process"))
        step = (self.length_us - user) // 60
        for number in range(50):
            start = user + step * (number + 1)
            self.lines.append((start + 7, f"service driver {number} says something new"))
            if number % 5 == 0:
                self.units.append((f"unit-{number}.service", start, start + chance.randint(20_000, 400_000)))
        self.lines.sort(key=lambda line: line[0])

    @property
    def user_start_us(self) -> int:
        """When the first program of user space ran."""
        return next(at for at, text in self.lines if text.startswith("Run "))

    def dmesg(self, lost_head: int = 0) -> str:
        """The kernel's log."""
        return "".join(f"[{at // 10**6:5}.{at % 10**6:06}] {text}\n" for at, text in self.lines[lost_head:])

    def grabserial(self, host: Callable[[int], int], loader: bool = True) -> str:
        """A capture; *host* gives the capturing machine's microseconds for the kernel's, the console's delay apart."""
        chance = random.Random(self.seed + 1)
        rows = [(host(-1_500_000), "U-Boot 2024.01 (Jan 01 2024)")] if loader else []
        received = 0
        for number, (at, text) in enumerate(self.lines):
            delay = 0 if number % 9 == 0 else chance.randint(100, 4_000)
            received = max(received, host(at) + delay)
            rows.append((received, f"[{at // 10**6:5}.{at % 10**6:06}] {text}"))
        before = 0
        told = []
        for at, text in rows:
            delta = at - before
            told.append(f"[{at // 10**6}.{at % 10**6:06} {delta // 10**6}.{delta % 10**6:06}] {text}\n")
            before = at
        return "".join(told)

    def journal(self, late_us: int = 3_000) -> str:
        """The journal as JSON: the kernel's lines with its stamps, and what systemd says of its units."""
        wall = 1_704_067_200_000_000
        entries = []
        for at, text in self.lines:
            received = max(at, self.user_start_us) + late_us
            entry = {"_TRANSPORT": "kernel", "MESSAGE": text, "PRIORITY": "6", "SYSLOG_IDENTIFIER": "kernel"}
            entries.append((received, {**entry, "_SOURCE_MONOTONIC_TIMESTAMP": str(at)}))
        for unit, start, end in self.units:
            for at, message_id, verb in ((start, STARTING, "Starting"), (end, STARTED, "Started")):
                entry = {"_TRANSPORT": "journal", "MESSAGE": f"{verb} {unit}.", "PRIORITY": "6", "UNIT": unit,
                         "SYSLOG_IDENTIFIER": "systemd", "_PID": "1", "MESSAGE_ID": message_id, "JOB_TYPE": "start",
                         "JOB_RESULT": "done"}  # fmt: skip
                entries.append((at, entry))
        entries.sort(key=lambda entry: entry[0])
        told = []
        for at, entry in entries:
            stamps = {"__REALTIME_TIMESTAMP": str(wall + at), "__MONOTONIC_TIMESTAMP": str(at), "_BOOT_ID": BOOT_ID}
            told.append(json.dumps(stamps | entry) + "\n")
        return "".join(told)

    def plot(self) -> str:
        """What `systemd-analyze plot --json=short` prints."""
        end = max(end for _, _, end in self.units) + 50_000
        return json.dumps(
            [
                {"name": unit, "activated": up, "activating": start, "time": up - start,
                 "deactivated": end, "deactivating": end}
                for unit, start, up in self.units
            ]
        )  # fmt: skip
