"""Checks a boot's health, alone or against a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.advise.health.check import Check
from firstlight.advise.health.checks import devices, kernel, machine, protection, services, storage
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import Health
from firstlight.bundle.boot import Boot

_CHECKS: tuple[Check, ...] = (
    services.came_up,
    kernel.command_line,
    kernel.warnings,
    kernel.taint,
    devices.devices,
    devices.drivers,
    devices.names,
    devices.modules,
    devices.interrupts,
    storage.mounts,
    storage.file_systems,
    storage.files,
    services.failed_units,
    services.active_units,
    services.ports,
    services.login,
    machine.memory,
    machine.processors,
    machine.loops_per_jiffy,
    machine.clocks,
    machine.entropy,
    protection.mitigations,
    protection.policy,
    services.power_off,
)


def check_health(boot: Boot, baseline: Boot | None = None, expected: Sequence[str] = ()) -> Health:
    """Check a boot's health.

    :param baseline: a boot of the same system that is known to work; many checks need it.
    :param expected: differences that a remedy states, as patterns of `CHECK SUBJECT`.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> check_health(boot, boot).healthy
    True
    """
    seen = HealthEvidence(boot)
    before = None if baseline is None else HealthEvidence(baseline)
    checks = tuple(check(seen, before, expected) for check in _CHECKS)
    return Health(checks, None if baseline is None else str(baseline.directory))
