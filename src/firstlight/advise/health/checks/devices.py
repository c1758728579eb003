"""Devices, their drivers and names, modules, interrupts."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.advise.health.differences import changed, lost
from firstlight.advise.health.evidence import Evidence
from firstlight.advise.health.result import Difference, HealthCheck, check_of, unknown
from firstlight.quantities import counted

_NO_BASELINE = "needs a baseline"
_OF_EMULATORS = ("52:54:00:", "02:42:")
"""Of QEMU and of Docker."""
_SECTOR = 512
"""Bytes of the unit in which the kernel gives the size of every block device."""


def devices(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """Every device of the baseline is there."""
    id, title = "HC-DEV", "devices"
    now = boot.group("device.")
    if not now:
        return unknown(id, title, "the evidence lists no devices")
    if baseline is None or not (before := baseline.group("device.")):
        return unknown(id, title, f"{_NO_BASELINE} that lists devices")
    return check_of(id, title, lost(before, now, "device."), counted(len(now), "device"), expected)


def drivers(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """Every device has the driver that it has in the baseline."""
    id, title = "HC-DRIVER", "drivers bound"
    now = boot.group("device.")
    if not now:
        return unknown(id, title, "the evidence lists no devices")
    if baseline is None or not (before := baseline.group("device.")):
        return unknown(id, title, f"{_NO_BASELINE} that lists devices")
    bound = {name: driver for name, driver in before.items() if driver}
    count = sum(1 for driver in now.values() if driver)
    return check_of(id, title, changed(bound, now, "device."), f"{counted(count, 'device')} with a driver", expected)


def names(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """Block devices have the same names and are not smaller, network devices the same names and addresses.

    An address that the kernel invents at every start does not count.
    """
    id, title = "HC-NAMES", "block and network names"
    if not boot.reported:
        return unknown(id, title, "the evidence has no report of the guest")
    if baseline is None or not baseline.reported:
        return unknown(id, title, f"{_NO_BASELINE} with a report of the guest")
    found: list[Difference] = []
    for prefix in ("block.", "network."):
        before, now = baseline.group(prefix), boot.group(prefix)
        unit = _SECTOR if prefix == "block." else None
        differ = changed(before, now, prefix, unit)
        if prefix == "block.":
            # Other files make a larger image of a root file system; nothing is lost by that.
            differ = [each for each in differ if _sectors(each.after) < _sectors(each.before)]
        else:
            differ = [each for each in differ if not (_is_random(each.before) and _is_random(each.after))]
        found += [*lost(before, now, prefix, unit), *differ]
    count = len(boot.group("block.")) + len(boot.group("network."))
    return check_of(id, title, found, counted(count, "name"), expected)


def _is_random(address: str | None) -> bool:
    """Whether the kernel may have invented an address, as it does for `dummy0` at every start.

    Such an address is administered locally, and of one machine (`eth_random_addr` in include/linux/etherdevice.h). So
    are those that emulators give their cards, which have a prefix of their own.
    """
    first = (address or "")[:2]
    if len(first) < 2 or any(sign not in "0123456789abcdef" for sign in first):
        return False
    return int(first, 16) & 3 == 2 and not str(address).startswith(_OF_EMULATORS)


def _sectors(text: str | None) -> int:
    return int(text) if text is not None and text.isascii() and text.isdecimal() else 0


def modules(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """Every module of the baseline is loaded."""
    id, title = "HC-MOD", "kernel modules"
    if not boot.reported and not boot.group("module."):
        return unknown(id, title, "the evidence lists no modules")
    if baseline is None or not (baseline.reported or baseline.group("module.")):
        return unknown(id, title, f"{_NO_BASELINE} that lists modules")
    now = boot.group("module.")
    return check_of(
        id, title, lost(baseline.group("module."), now, "module.", 1), counted(len(now), "module"), expected
    )


def interrupts(boot: Evidence, baseline: Evidence | None, expected: Sequence[str]) -> HealthCheck:
    """No interrupt is an error, and those that the baseline counted were counted."""
    id, title = "HC-IRQ", "interrupts"
    if (named := boot.facts.get("interrupts.counted")) is None:
        return unknown(id, title, "the evidence has no count of interrupts")
    found = []
    before = None if baseline is None else baseline.number("interrupts.errors")
    if (errors := boot.number("interrupts.errors") or 0) > (before or 0):
        found.append(Difference("interrupts.errors", str(before or 0), str(errors)))
    now = dict.fromkeys(named.split("\n"), "")
    if baseline is not None and (names := baseline.facts.get("interrupts.counted")) is not None:
        found += lost(dict.fromkeys(names.split("\n"), ""), now, "interrupt ")
    return check_of(id, title, found, f"{counted(len(now), 'source')} counted, {counted(errors, 'error')}", expected)
