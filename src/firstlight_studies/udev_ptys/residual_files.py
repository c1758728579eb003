"""What a guest left for us: instants, the times of udev's units, numbers of devices."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight import FirstlightError
from firstlight.study import Boot, kept_text, stamps_of
from firstlight_studies.udev_ptys.system_files import NUMBERS, UNITS


class NotLeftError(FirstlightError):
    """A guest left nothing of that, or it cannot be read."""


@dataclass(frozen=True)
class Left:
    """As it was left."""

    stamps: dict[str, int]
    """Instants by name, in virtual nanoseconds from power on."""
    units: dict[str, dict[str, int]]
    """Of each unit the properties that are times, in nanoseconds of the guest's monotonic clock; 0 is never."""
    numbers: dict[str, int]

    def between(self, first: str, last: str) -> int:
        """From one instant to another.

        :raises NotLeftError: when one was not noted.
        """
        for name in (first, last):
            if name not in self.stamps:
                raise NotLeftError(f"the guest did not come to the instant `{name}`")
        return self.stamps[last] - self.stamps[first]

    def unit(self, name: str, what: str) -> int:
        """A time of a unit.

        :raises NotLeftError: when the unit did not get there.
        """
        time = self.units.get(name, {}).get(what, 0)
        if not time:
            raise NotLeftError(f"`{name}` was never at `{what}`")
        return time

    def number(self, name: str) -> int:
        """A number.

        :raises NotLeftError: when the guest did not count that.
        """
        if name not in self.numbers:
            raise NotLeftError(f"the guest did not count `{name}`")
        return self.numbers[name]


def left_by(boot: Boot) -> Left:
    """Read what a guest left; a file that it did not leave is empty.

    >>> import firstlight
    >>> left_by(firstlight.open(bundle)).stamps
    {}
    """
    return Left(
        stamps=stamps_of(boot),
        units=read_units(kept_text(boot, UNITS)),
        numbers={name: int(value) for name, value in _pairs(kept_text(boot, NUMBERS)) if value.isdigit()},
    )


def read_units(text: str) -> dict[str, dict[str, int]]:
    """What `systemctl show` prints of several units, an empty line between them; times of microseconds.

    >>> read_units("ActiveEnterTimestampMonotonic=12\\nId=a.service\\n\\nId=b.service\\nX=[not set]\\n")
    {'a.service': {'ActiveEnterTimestampMonotonic': 12000}, 'b.service': {}}
    """
    found = {}
    for block in text.split("\n\n"):
        pairs = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if "Id" in pairs:
            found[pairs["Id"]] = {name: int(value) * 1000 for name, value in pairs.items() if value.isdigit()}
    return found


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(first, second) for first, _, second in (line.partition(" ") for line in text.splitlines())]
