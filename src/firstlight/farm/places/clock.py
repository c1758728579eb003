"""The clock of a place that is far away, read from time to time."""

from __future__ import annotations

import time
from collections.abc import Callable

_GOOD_FOR_S = 20.0


class PlaceClock:
    """What time it is at a place.

    >>> clock = PlaceClock(lambda: 1000.0)
    >>> 1000.0 <= clock.now_s() < 1001.0
    True

    :param ask: asks the place, in seconds since the epoch by its own clock.
    """

    def __init__(self, ask: Callable[[], float]) -> None:
        self._ask = ask
        self._read: tuple[float, float] | None = None

    def now_s(self) -> float:
        """Seconds since the epoch, by the clock of the place."""
        now = time.monotonic()
        if self._read is None or now - self._read[1] > _GOOD_FOR_S:
            self._read = (self._ask(), time.monotonic())
        there, here = self._read
        return there + time.monotonic() - here
