"""A board in simulated time: it writes capture files with invented instants, and drifts, is cold, and hangs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firstlight.lab.board.board import Arm
from firstlight.lab.capture.file import CaptureFile
from firstlight.lab.capture.session import CaptureOutcome, Ended

_MS = 1_000_000
_BETWEEN_S = 5.0

Duration = Callable[[Arm], float]
"""How many milliseconds the kernel and userspace of an arm take on a warm board."""

LINES = (
    ("U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)", 0.0),
    ("Starting kernel ...", 0.0),
    ("[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP", 0.1),
    ("gizmo: bound", 0.3),
    ("camera 0 up", 0.8),
    ("box login: ", 1.0),
)


@dataclass
class SimulatedBoard:
    """A board whose boots vary as those of boards do."""

    duration: Duration
    seed: int
    noise: float = 0.006
    """Standard deviation of the logarithm of a boot's time."""
    drift: float = 0.02
    """How much the board slows down over the session."""
    session: int = 25
    """Boots of a session, over which the drift goes."""
    cold: float = 0.06
    """How much longer the first boot takes; each further one has a third of that."""
    outliers: float = 0.04
    hangs: float = 0.0
    """The share of power cycles after which the board hangs."""
    loader_ms: float = 300.0
    name: str = "simulated"
    digest: str = "simulated"
    marks: tuple[tuple[str, str], ...] = (("ready", "login: "), ("camera", "camera [0-9] up"))
    can_append: bool = True
    can_deploy: bool = True
    boots: int = 0
    closed: bool = False
    _arm: Arm = field(default_factory=Arm)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._wall = datetime(2026, 1, 1, tzinfo=UTC)
        self._now = 10**12

    def deploy(self, arm: Arm) -> None:
        """Boot this arm from now on."""
        self._arm = arm

    def capture(self, path: Path, about: Mapping[str, object]) -> CaptureOutcome:
        """Write the capture of a boot."""
        outcome = CaptureOutcome(Ended.TIMEOUT)
        with CaptureFile(path) as file:
            file.setup({"started_at": self._wall.isoformat(timespec="milliseconds"), **about})
            while outcome.ended is Ended.TIMEOUT and outcome.power_cycles < 3:
                outcome.power_cycles += 1
                hangs = self._dice.random() < self.hangs
                outcome.size_bytes += self._boot(file, hangs=hangs)
                outcome.ended = Ended.TIMEOUT if hangs else Ended.READY
                if hangs:
                    outcome.warnings.append(f"power cycle {outcome.power_cycles} of 3: the board hung for 120 s")
            file.setup({"power_cycles": outcome.power_cycles})
            file.event(f"end {outcome.ended}", self._now)
        self._pass(_BETWEEN_S)
        return outcome

    def close(self) -> None:
        """The session is over."""
        self.closed = True

    def _boot(self, file: CaptureFile, *, hangs: bool) -> int:
        state = 1 + self.drift * self.boots / self.session + self.cold * 3.0**-self.boots
        factor = state * math.exp(self._dice.gauss(0, self.noise))
        if self._dice.random() < self.outliers:
            factor *= 1 + abs(self._dice.gauss(0, 0.05))
        self.boots += 1
        file.event("power_on_begin", self._now)
        file.event("power_on_end", self._now + 3 * _MS)
        start, kernel_ms, size = self._now, self.duration(self._arm), 0
        for line, share in LINES[: 4 if hangs else None]:
            at = start + round((self.loader_ms + share * kernel_ms) * factor * _MS)
            content = line.encode() + (b"" if line.endswith(" ") else b"\r\n")
            file.data(max(at, self._now), content)
            self._now, size = max(at, self._now) + 1, size + len(content)
        if hangs:
            self._pass(120.0)
        return size

    def _pass(self, seconds: float) -> None:
        self._now += round(seconds * 1e9)
        self._wall += timedelta(seconds=seconds)
