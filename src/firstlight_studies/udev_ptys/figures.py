"""What the conclusions of the study are drawn from, and how a figure is told in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firstlight.study import MissingValue
from firstlight_studies.udev_ptys.counts import Counted
from firstlight_studies.udev_ptys.latency import Latency
from firstlight_studies.udev_ptys.model import CostLaw
from firstlight_studies.udev_ptys.queue import Queue
from firstlight_studies.udev_ptys.udev_end import Done

Times = Mapping[str, int | MissingValue]
#: A change that is not there is smaller than this part of what it is of: so much may an accident of layout do.
ACCIDENT = 0.01


@dataclass(frozen=True)
class PtyFigures:
    """Gaps where arms are missing."""

    a: Times | MissingValue
    b: Times | MissingValue
    c: Times | MissingValue
    """Stages of the three arms, nobody watching, and what programs execute."""
    sizes: Mapping[int, Counted]
    """Counts by the number of pseudo-terminals."""
    terminals: Mapping[int, int]
    """Devices of the class tty by that number."""
    latency: Mapping[tuple[str, str], Latency | MissingValue]
    """By stage (`initramfs`, `system`) and arm (`B`, `C`)."""
    queues: Mapping[tuple[str, str], Queue | MissingValue]
    """By arm and stage."""
    done: Done | MissingValue
    """When udev is done in the system of B."""
    law: CostLaw | MissingValue
    """Of the whole boot."""
    free: tuple[int | MissingValue, int | MissingValue]
    """The whole boot with and without them where nobody waits for udev."""

    def pair(self, stage: str) -> tuple[int, int] | MissingValue:
        """A stage with the pseudo-terminals (B) and without (C); or why that is not known."""
        found = []
        for arm in (self.b, self.c):
            value = arm if isinstance(arm, MissingValue) else arm[stage]
            if isinstance(value, MissingValue):
                return value
            found.append(value)
        return found[0], found[1]

    def pairs(self, *stages: str) -> list[tuple[int, int]] | MissingValue:
        """The same of several stages; or why one of them is not known."""
        found = []
        for stage in stages:
            pair = self.pair(stage)
            if isinstance(pair, MissingValue):
                return pair
            found.append(pair)
        return found


def percent(part: float, whole: float) -> str:
    """A part of a whole.

    >>> percent(1, 3), percent(1, 0)
    ('33.3 %', 'of nothing')
    """
    return f"{100 * part / whole:.1f} %" if whole else "of nothing"


def ms(ns: float) -> str:
    """Nanoseconds as milliseconds.

    >>> ms(1_234_567_890)
    '1,234.6 ms'
    """
    return f"{ns / 1e6:,.1f} ms"
