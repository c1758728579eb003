"""The names of the health checks, and patterns of differences that begin with one."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator


class CheckId(StrEnum):
    """A health check."""

    BOOT = "HC-BOOT"
    """The boot came up."""
    CMDLINE = "HC-CMDLINE"
    """The kernel read its command line."""
    DMESG = "HC-DMESG"
    """New warnings and errors of the kernel."""
    TAINT = "HC-TAINT"
    DEV = "HC-DEV"
    """Devices."""
    DRIVER = "HC-DRIVER"
    """Drivers that are bound to devices."""
    NAMES = "HC-NAMES"
    """Names of block and network devices."""
    MOD = "HC-MOD"
    """Modules of the kernel."""
    IRQ = "HC-IRQ"
    """Interrupts that were counted."""
    MOUNT = "HC-MOUNT"
    FS = "HC-FS"
    """The state of file systems."""
    CONTENT = "HC-CONTENT"
    """Files."""
    UNITS = "HC-UNITS"
    """Units that failed."""
    ACTIVE = "HC-ACTIVE"
    """Units that are active."""
    PORTS = "HC-PORTS"
    """Open ports."""
    LOGIN = "HC-LOGIN"
    """The time until the first login works."""
    MEM = "HC-MEM"
    """Memory."""
    CPU = "HC-CPU"
    """Processors."""
    LPJ = "HC-LPJ"
    """Loops per jiffy."""
    CLOCK = "HC-CLOCK"
    """The clock source."""
    ENTROPY = "HC-ENTROPY"
    VULN = "HC-VULN"
    """Mitigations of vulnerabilities."""
    POLICY = "HC-POLICY"
    """Security modules and policy."""
    POWEROFF = "HC-POWEROFF"
    """The power-off."""


def difference_pattern(pattern: str) -> str:
    """A pattern of `CHECK SUBJECT`, if its first part names a check.

    :raises ValueError: when no check has this name.

    >>> difference_pattern("HC-DEV device.platform/pcspkr")
    'HC-DEV device.platform/pcspkr'
    >>> difference_pattern("HC-DEVICES *")
    Traceback (most recent call last):
    ...
    ValueError: there is no health check `HC-DEVICES`: HC-BOOT, HC-CMDLINE, ...
    """
    check, _, subject = pattern.partition(" ")
    if not any(fnmatchcase(known, check) for known in CheckId):
        raise ValueError(f"there is no health check `{check}`: {', '.join(CheckId)}")
    if not subject.strip():
        raise ValueError(f"`{pattern}` names no subject: `{check} *` is every difference of the check")
    return pattern


DifferencePattern = Annotated[str, AfterValidator(difference_pattern)]
"""Differences of a health check, as a pattern of `CHECK SUBJECT` in the manner of the shell."""
