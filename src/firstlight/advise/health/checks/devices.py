"""Devices, their drivers and names, modules, interrupts."""

from __future__ import annotations

from firstlight.advise.health.check import Found, NoEvidenceError, both, both_listed, both_reported, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.differences import changed, lost
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import HealthDifference
from firstlight.quantities import counted

_OF_EMULATORS = ("52:54:00:", "02:42:")
"""Of QEMU and of Docker."""
_SECTOR = 512
"""Bytes of the unit in which the kernel gives the size of every block device."""


@check(CheckId.DEV, "devices")
def devices(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Every device of the baseline is there."""
    now, before = both_listed(boot, baseline, "device.", "devices")
    return lost(before, now, "device."), counted(len(now), "device")


@check(CheckId.DRIVER, "drivers bound")
def drivers(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Every device has the driver that it has in the baseline."""
    now, before = both_listed(boot, baseline, "device.", "devices")
    bound = {name: driver for name, driver in before.items() if driver}
    count = sum(1 for driver in now.values() if driver)
    return changed(bound, now, "device."), f"{counted(count, 'device')} with a driver"


@check(CheckId.NAMES, "block and network names")
def names(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Block devices have the same names and are not smaller, network devices the same names and addresses.

    An address that the kernel invents at every start does not count.
    """
    boot, baseline = both_reported(boot, baseline)
    found: list[HealthDifference] = []
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
    return found, counted(count, "name")


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


@check(CheckId.MOD, "kernel modules")
def modules(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Every module of the baseline is loaded."""
    now, before = both(_modules, boot, baseline, "lists no modules", "that lists modules")
    return lost(before, now, "module.", 1), counted(len(now), "module")


def _modules(evidence: HealthEvidence) -> dict[str, str] | None:
    """The modules; none at all is evidence where the guest reported."""
    found = evidence.group("module.")
    return found if found or evidence.reported else None


@check(CheckId.IRQ, "interrupts")
def interrupts(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """No interrupt is an error, and those that the baseline counted were counted."""
    if (named := boot.facts.get("interrupts.counted")) is None:
        raise NoEvidenceError("the evidence has no count of interrupts")
    found = []
    before = None if baseline is None else baseline.number("interrupts.errors")
    if (errors := boot.number("interrupts.errors") or 0) > (before or 0):
        found.append(HealthDifference("interrupts.errors", str(before or 0), str(errors)))
    now = dict.fromkeys(named.split("\n"), "")
    if baseline is not None and (names := baseline.facts.get("interrupts.counted")) is not None:
        found += lost(dict.fromkeys(names.split("\n"), ""), now, "interrupt ")
    return found, f"{counted(len(now), 'source')} counted, {counted(errors, 'error')}"
