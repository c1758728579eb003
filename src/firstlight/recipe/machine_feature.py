"""What the guests of some architectures have and those of others do not."""

from __future__ import annotations

from enum import StrEnum


class MachineFeature(StrEnum):
    """A part of a guest's machine, or a way of its kernel to be configured, that not every architecture has.

    The value completes the sentence "a guest there has no ...".
    """

    TSC = "time stamp counter"
    LOCAL_APIC = "local APIC"
    HPET = "HPET"
    CMOS_CLOCK = "CMOS clock chip"
    ACPI = "ACPI"
    PC_PORTS = "ports of a PC to probe"
    IDE = "IDE controller"
    PCI_SWITCH = "kernel parameter that leaves PCI out"
    MEMORY_BY_ADDRESS = "way to add memory by its address"
