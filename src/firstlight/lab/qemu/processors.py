"""Guests with several processors: where such a boot repeats, and where it does not."""

from __future__ import annotations

from firstlight.errors import UsageError
from firstlight.lab.qemu.emulator import Qemu
from firstlight.recipe.isa import Architecture
from firstlight.recipe.options import RecordOptions

MOST_PROCESSORS = 64
"""More have not been tried."""


def check_processors(options: RecordOptions, architecture: Architecture) -> None:
    """Check the number of processors, as far as that needs no QEMU.

    :raises UsageError: for a number out of range, and for what is recorded with one processor only.

    >>> from pathlib import Path
    >>> from firstlight.recipe.isa import DEFAULT
    >>> check_processors(RecordOptions(Path("a.boot"), cpus=4), DEFAULT)
    >>> check_processors(RecordOptions(Path("a.boot"), cpus=0), DEFAULT)
    Traceback (most recent call last):
    firstlight.errors.UsageError: `--cpus 0` is out of range
    """
    if not 1 <= options.cpus <= MOST_PROCESSORS:
        raise UsageError(f"`--cpus {options.cpus}` is out of range", hint=f"1 to {MOST_PROCESSORS}")
    if options.cpus == 1 or options.live:
        return
    for option, given, why in (
        ("--loader", options.loader, "a boot loader is recorded with one processor"),
        ("--dtb", options.dtb, "a device tree of yours is booted with one processor"),
        ("--devices", options.devices or None, "the probes of devices are followed on one processor"),
        ("--storage", options.storage, "requests of a disk are timed with one processor"),
    ):
        if given is not None:
            raise UsageError(f"`{option}` cannot be combined with `--cpus`: {why}", hint="leave one of them out")


def several_text(qemu: Qemu, architecture: Architecture) -> str:
    """Whether a guest with several processors repeats in this QEMU, in words.

    >>> from pathlib import Path
    >>> from firstlight.recipe.isa import DEFAULT
    >>> several_text(Qemu(Path("/opt/qemu"), (7, 2, 0), "QEMU 7.2", True, True, ()), DEFAULT)
    '`--cpus` needs QEMU 10.0'
    """
    first = architecture.several_processors_since
    if first is None:
        return "one processor"
    return "also `--cpus`" if qemu.version[:2] >= first else f"`--cpus` needs QEMU {first[0]}.{first[1]}"


def require_repeatable(cpus: int, qemu: Qemu, architecture: Architecture) -> None:
    """Make sure that a guest with so many processors repeats in this QEMU.

    :param cpus: the number of processors.
    :raises UsageError: when it does not, or nobody has seen that it does, with the first version that is known to.

    Source: the measurements in docs/design/exact-mode.md, "Several processors".
    """
    if cpus == 1:
        return
    first = architecture.several_processors_since
    name = f"a guest of {architecture.distribution_name}"
    if first is None:
        raise UsageError(
            f"`--cpus {cpus}` breaks exactness: {name} {architecture.several_processors}", hint="leave it out"
        )
    if qemu.version[:2] < first:
        raise UsageError(
            f"`--cpus {cpus}` breaks exactness: {name} {architecture.several_processors}, and this is QEMU "
            f"{'.'.join(map(str, qemu.version))}",
            where=str(qemu.path),
            hint=f"name a QEMU {first[0]}.{first[1]} or newer with `--qemu`, or record with `--live`",
        )
