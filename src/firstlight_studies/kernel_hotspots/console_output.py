"""What a boot printed out of the console's port between two marks."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.study import Boot
from firstlight_studies.kernel_hotspots.window import Window


@dataclass(frozen=True)
class Printed:
    """What went out of the console's port."""

    lines: int
    size: int
    """Bytes, line ends and all."""


def printed(boot: Boot, window: Window) -> Printed:
    """What was printed between the two marks, byte for byte.

    The bundle has the instant at which each line's first byte left; the bytes are those of the console as it was.
    """
    lines = (boot.directory / "raw" / "console.log").read_bytes().splitlines(keepends=True)
    times = dict(boot.log().filter(boot.log()["source"] == "console").select("line", "time_ns").iter_rows())
    inside = [
        len(line)
        for number, line in enumerate(lines)
        if (time := times.get(number)) is not None and window.start_ns <= time < window.end_ns
    ]
    return Printed(len(inside), sum(inside))
