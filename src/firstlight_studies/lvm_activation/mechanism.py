"""What was concluded in 2021 of the mechanism: the growth, what a process opens, how many there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firstlight.study import Finding, MissingValue, untestable, verdict
from firstlight_studies.lvm_activation.arms import Row
from firstlight_studies.lvm_activation.measured import Measured, programs_by_size
from firstlight_studies.lvm_activation.models import ActivationModel
from firstlight_studies.lvm_activation.programs import Command, Programs

Laws = Mapping[Row, Mapping[str, ActivationModel | MissingValue | None]]

EVENT: Row = ("event", "groups")
_ONE_GROUP: Row = ("event", "group")
STATIC: Row = ("static", "groups")
#: Whose process asks udev for the devices.
_ASKING: Row = ("static-obtain", "groups")

#: A growth is faster than linear with an exponent from the one on, and is not up to the other; between them, and where
#: the laws say otherwise, the figures leave it open.
_FASTER = 1.25
_NOT_FASTER = 1.15
#: So many more for each further volume are one for each; fewer are none.
_HALF = 0.5
#: Less than one process for each volume, by more than this.
_FEWER = 0.05


def growth(measured: Measured, laws: Laws) -> Finding:
    """Whether the time grows faster than the number of volumes."""
    claim = "the cost of event activation grows faster than the number of volumes"
    then = "each of n processes does work for n volumes; some of it more than once"
    law = laws.get(EVENT, {}).get("active")
    if not isinstance(law, ActivationModel) or (last := law.last_exponent) is None or law.study.growth_exponent is None:
        return untestable(claim, then, law.reason if isinstance(law, MissingValue) else "no exponent could be computed")
    among, sizes = law.study.growth_exponent, law.study.sizes[-2:]
    now = (
        f"from N = {sizes[0]:,.0f} to {sizes[1]:,.0f} the growth's exponent is {last:.3f} (between neighbouring sizes "
        f"{among.low:.3f} to {among.high:.3f}); law: {law.study.law} ({law.study.certainty})"
    )
    work, grows = _work(programs_by_size(measured, EVENT))
    other = _in_one_group(laws)
    if last >= _FASTER and law.faster:
        return Finding(claim, then, now, "holds", work + other)
    if last <= _NOT_FASTER and not law.faster:
        yet = " The time does not show it at these sizes." if grows else ""
        return Finding(claim, then, now, "no longer holds", work + yet + other)
    return untestable(claim, then, f"{now}: the figures leave it open", work + other)


def _in_one_group(laws: Laws) -> str:
    """What the growth is where one group has all volumes."""
    law = laws.get(_ONE_GROUP, {}).get("active")
    if not isinstance(law, ActivationModel) or law.last_exponent is None:
        return ""
    return f" In one group of N the exponent is {law.last_exponent:.3f}; law: {law.study.law} ({law.study.certainty})."


def _work(by_size: Mapping[int, Programs]) -> tuple[str, bool]:
    """What one process opens at the two largest sizes, and whether that grows with them."""
    if len(by_size) < 2:
        return "", False
    (small, before), (large, after) = list(by_size.items())[-2:]
    opened = [each.each(_opened) for each in (before, after)]
    notes = [each.each(_online) for each in (before, after)]
    grows = opened[1] - opened[0] > (large - small) * _HALF / 2
    said = (
        f"A process that an event started opens {opened[0]:.1f} files on average at N = {small:,} and {opened[1]:.1f} "
        f"at N = {large:,}; {notes[0]:.1f} and {notes[1]:.1f} of them are lvm2's own notes of arrived volumes: "
    )
    return said + ("each process does more with more volumes." if grows else "hardly more for more volumes."), grows


def _opened(command: Command) -> int:
    return command.opened


def _online(command: Command) -> int:
    return command.online


def opens(measured: Measured, laws: Laws, where: str, most: Callable[[Command], int], key: str) -> Finding:
    """Whether a process opens something once for each volume.

    :param where: what, for people.
    :param key: of the quantity.
    """
    claim = f"a process that looks for devices opens {where} once for each of them"
    then = "O(n) in every scanning process"
    row = _ASKING if _ASKING in measured else STATIC
    counts = {size: found.most(most) for size, found in programs_by_size(measured, row).items()}
    events = {size: found.most(most) for size, found in programs_by_size(measured, EVENT).items()}
    if len(counts) < 2 or len(events) < 2:
        return untestable(claim, then, "fewer than two sizes came up")
    low, high = min(counts), max(counts)
    each = (counts[high] - counts[low]) / (high - low)
    law = laws.get(row, {}).get(key)
    now = (
        f"the static unit's process{' that asks udev' if row == _ASKING else ''} opens {each:.2f} more for each volume "
        f"({counts[high]:,} at N = {high:,})" + (f"; law: {law.study.law}" if isinstance(law, ActivationModel) else "")
    )
    asked = (
        "It is configured to ask udev for the devices (obtain_device_list_from_udev=1)."
        if row == _ASKING
        else "It is not configured to ask udev for the devices: 0 is the default of obtain_device_list_from_udev."
    )
    first, last = min(events), max(events)
    why = (
        f"{asked} Of the processes that an event starts, by default, the one that opens most opens {events[first]:,} "
        f"at N = {first:,} and {events[last]:,} at N = {last:,}."
    )
    return Finding(claim, then, now, verdict(each >= _HALF), why)


def processes(measured: Measured) -> Finding:
    """Whether there is about one process for each volume."""
    claim, then = "there is about one process of lvm2 for each volume", "about one scanning process per volume"
    by_size = programs_by_size(measured, EVENT)
    if not by_size:
        return untestable(claim, then, "no size came up")
    size, found = list(by_size.items())[-1]
    each = found.count / size
    now = f"N = {size:,}: {found.count:,} processes, {each:.2f} for each volume"
    return Finding(claim, then, now, verdict(each >= 1 - _FEWER), f"They are {found.text()}.")


def at_once(measured: Measured) -> Finding:
    """Whether they run at the same time."""
    claim, then = "about as many of them as there are volumes run at the same time", "about 1,000 at once"
    by_size = programs_by_size(measured, EVENT)
    if len(by_size) < 2:
        return untestable(claim, then, "fewer than two sizes came up")
    # A few volumes are all looked at at once, whatever the bound: the two largest sizes tell.
    (small, before), (large, after) = list(by_size.items())[-2:]
    share = (after.at_once - before.at_once) / (large - small)
    now = (
        f"{before.at_once:,} at once at N = {small:,}, {after.at_once:,} at N = {large:,}: {share:.2f} more for each "
        "further volume"
    )
    static = programs_by_size(measured, STATIC).get(large)
    why = (
        f"With the static unit, where udev's rules start the processes that examine volumes and one process activates "
        f"all, {static.at_once:,} ran at once at N = {large:,}."
        if static
        else ""
    )
    return Finding(claim, then, now, verdict(share >= _HALF), why)
