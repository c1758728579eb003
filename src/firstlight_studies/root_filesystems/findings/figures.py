"""What the findings look at, and how they put two figures beside one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from firstlight.study import Finding, MissingValue, time_text, untestable
from firstlight_studies.root_filesystems.journal import Tried
from firstlight_studies.root_filesystems.measures import FilesystemTimings
from firstlight_studies.root_filesystems.probes import Probed, Section
from firstlight_studies.root_filesystems.storage import Stored

STARTED = ("cramfs-xip", "cramfs", "initramfs")
"""Roots that are started in other ways than the plain one, the old study's own first."""


@dataclass(frozen=True)
class RootFigures:
    """All that the findings look at."""

    arms: Mapping[str, FilesystemTimings | MissingValue]
    lpj: int | MissingValue = MissingValue("not found out")  # noqa: RUF009  a plain value
    replays: Mapping[str, dict[str, Tried] | MissingValue] = field(default_factory=dict)
    probes: Mapping[str, Probed | MissingValue] = field(default_factory=dict)
    sections: Mapping[str, Section | MissingValue] = field(default_factory=dict)
    unprofiled: int | MissingValue = MissingValue("not booted")  # noqa: RUF009
    """From power on to ready, without a profile."""
    stored: tuple[str, Stored] = ("", MappingProxyType({}))
    """A storage that takes time, and what each kind takes from it."""

    def start(self, name: str) -> int | MissingValue:
        """From `start_kernel` to the first program, without finding persistent memory, which is the machine's."""
        found = self.arms.get(name, MissingValue(f"`{name}` was not booted"))
        return found if isinstance(found, MissingValue) else _less_device(found.from_start_kernel, found)

    def power_on(self, name: str) -> int | MissingValue:
        """The same from power on."""
        found = self.arms.get(name, MissingValue(f"`{name}` was not booted"))
        return found if isinstance(found, MissingValue) else _less_device(found.from_power_on, found)


def _less_device(time: int | MissingValue, measured: FilesystemTimings) -> int | MissingValue:
    return time if isinstance(time, MissingValue) else time - measured.device


def missing(claim: str, then: str, gap: MissingValue) -> Finding:
    """A finding that cannot be tested, for the reason of a gap."""
    return untestable(claim, then, gap.reason, "what would tell it is missing")


def less_text(one: int, other: int) -> str:
    """How much less one figure is than another, as a signed share."""
    return f"{time_text(one)} against {time_text(other)}, {(one - other) / other:+.1%}".replace("%", " %")
