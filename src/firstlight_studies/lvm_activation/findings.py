"""What was concluded in 2021, and what the figures here say of it."""

from __future__ import annotations

from firstlight.study import Finding, untestable, value_text, verdict
from firstlight_studies.lvm_activation.measured import Measured, pair, programs_of
from firstlight_studies.lvm_activation.measures import ActivationFigures
from firstlight_studies.lvm_activation.mechanism import EVENT, STATIC, Laws, at_once, growth, opens, processes

#: Less than this part of a time is not called a gain or a loss.
_TELLING = 0.05
#: So many times the memory is many times the memory.
_MANY = 2.0


def findings(measured: Measured, laws: Laws) -> tuple[Finding, ...]:
    """Every conclusion with its verdict; each is computed from the figures, and none is promised beforehand."""
    return (
        _static_wins(measured),
        _obtain(measured),
        _filter(measured),
        _memory(measured),
        growth(measured, laws),
        opens(measured, laws, "udev's database", lambda command: command.udev_database_most, "udev-most"),
        opens(measured, laws, "sysfs", lambda command: command.sysfs_most, "sysfs-most"),
        processes(measured),
        at_once(measured),
    )


def _time(value: int) -> str:
    return value_text(value, "time")


def _size(value: int) -> str:
    return value_text(value, "bytes")


def _static_wins(measured: Measured) -> Finding:
    claim, then = "activation by a unit is faster than by events", "8.7 s against 126 s: 14.5 times"
    found = pair(measured, EVENT, STATIC)
    if isinstance(found, str):
        return untestable(claim, then, found)
    size, event, static = found
    assert event.active_ns is not None
    assert static.active_ns is not None
    ratio = event.active_ns / static.active_ns
    now = f"N = {size:,}: {_time(static.active_ns)} against {_time(event.active_ns)}: {ratio:.2f} times"
    why = (
        f"Processes called systemd computed {_time(static.systemd_ns)} against {_time(event.systemd_ns)}, those of "
        f"lvm2 {_time(static.lvm_ns)} against {_time(event.lvm_ns)}, each in user mode."
    )
    one, other = programs_of(static), programs_of(event)
    if one and other:
        why += f" The unit has {one.text()}; events have {other.text()}."
    return Finding(claim, then, now, verdict(ratio > 1 + _TELLING), why)


def _obtain(measured: Measured) -> Finding:
    claim = "obtain_device_list_from_udev=0 makes event activation much faster"
    then = "126 s to 40 s: with 1 it takes 3.15 times as long"
    found = pair(measured, ("obtain", "groups"), EVENT)
    if isinstance(found, str):
        return untestable(claim, then, found)
    size, asking, event = found
    assert asking.active_ns is not None
    assert event.active_ns is not None
    ratio = asking.active_ns / event.active_ns
    now = f"N = {size:,}: {_time(event.active_ns)} with 0, {_time(asking.active_ns)} with 1: {ratio:.3f} times"
    return Finding(claim, then, now, verdict(ratio > 1 + _TELLING), _asked(asking, event))


def _asked(asking: ActivationFigures, event: ActivationFigures) -> str:
    one, other = programs_of(asking), programs_of(event)
    if one is None or other is None:
        return ""
    each = [found.each(lambda command: command.udev_database) for found in (one, other)]
    return (
        f"With 1 a process that an event started opens {each[0]:.1f} files of udev's database on average, with 0, the "
        f"default, {each[1]:.1f}."
    )


def _filter(measured: Measured) -> Finding:
    claim, then = "a filter that accepts the root only makes the boot faster", "126 s to 102 s: -19.0 %"
    found = pair(measured, ("rejected", "groups"), EVENT)
    if isinstance(found, str):
        return untestable(claim, then, found)
    size, filtered, event = found
    change = filtered.settled_ns / event.settled_ns - 1
    now = (
        f"N = {size:,}, until udev has settled: {_time(event.settled_ns)} to {_time(filtered.settled_ns)}: "
        f"{value_text(change, 'percent')}"
    )
    why = "No volume is active then, so this is not a remedy if they are needed."
    if (still := programs_of(filtered)) is not None:
        why += f" Still run: {still.text()}."
    return Finding(claim, then, now, verdict(change < -_TELLING), why)


def _memory(measured: Measured) -> Finding:
    claim, then = "event activation takes many times the memory of direct activation", "about 20 GB against 2 GB"
    found = pair(measured, EVENT, STATIC)
    if isinstance(found, str):
        return untestable(claim, then, found)
    size, event, static = found
    one, other = programs_of(event), programs_of(static)
    if one is None or other is None or other.memory == 0:
        return untestable(claim, then, "the memory of lvm2's processes was not noted")
    ratio = one.memory / other.memory
    now = (
        f"N = {size:,}: processes of lvm2 {_size(one.memory)} against {_size(other.memory)}: {ratio:.2f} times; all "
        f"services {_size(event.services_memory)} against {_size(static.services_memory)}"
    )
    why = (
        f"At most {one.at_once:,} processes of lvm2 ran at once, the largest with {_size(one.memory_most)}; with the "
        f"static unit {other.at_once:,}, the largest with {_size(other.memory_most)}."
    )
    return Finding(claim, then, now, verdict(ratio > _MANY), why)
