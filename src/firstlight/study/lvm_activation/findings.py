"""What was concluded in 2021, and what the figures here say of it."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.report.study_sheets import value_text
from firstlight.study.lvm_activation.arms import Row
from firstlight.study.lvm_activation.laws import Law
from firstlight.study.lvm_activation.measures import Figures, Programs
from firstlight.study.lvm_activation.tables import Measured, largest
from firstlight.study.outcome import Finding, untestable, verdict
from firstlight.study.table import Hole

Laws = Mapping[Row, Mapping[str, Law | Hole | None]]

#: Less than this part of a time is not called a gain or a loss.
_TELLING = 0.05
#: A growth with a larger exponent than this is called faster than linear; one within the same distance of 1 linear.
_FASTER = 1.15
_EVENT: Row = ("event", "groups")
_STATIC: Row = ("static", "groups")
#: Where a process asks udev.
_ASKED: tuple[Row, ...] = (("static-obtain", "groups"),)


def findings(measured: Measured, laws: Laws) -> tuple[Finding, ...]:
    """Every conclusion with its verdict; each is computed from the figures, and none is promised beforehand."""
    return (
        _static_wins(measured),
        _obtain(measured),
        _filter(measured),
        _memory(measured),
        _growth(laws),
        _database(measured, "udev_database_most", "udev's database", laws, "udev-most", _ASKED),
        _database(measured, "sysfs_most", "sysfs", laws, "sysfs-most", _ASKED),
        _scanners(measured),
        _at_once(measured),
    )


def _pair(measured: Measured, one: Row, other: Row) -> tuple[int, Figures, Figures] | str:
    """Two settings at the largest size that both came up with; or why there is no such size."""
    if one not in measured or other not in measured:
        return "this setting was left out of a quick run"
    size = largest(measured[one], measured[other])
    if size is None:
        return "no size came up with both"
    first, second = measured[one][size], measured[other][size]
    assert isinstance(first, Figures)
    assert isinstance(second, Figures)
    return size, first, second


def _time(value: int) -> str:
    return value_text(value, "time")


def _static_wins(measured: Measured) -> Finding:
    claim, then = "activation by a unit is faster than by events", "8.7 s against 126 s: 14.5 times"
    pair = _pair(measured, _EVENT, _STATIC)
    if isinstance(pair, str):
        return untestable(claim, then, pair)
    size, event, static = pair
    assert event.active_ns is not None
    assert static.active_ns is not None
    ratio = event.active_ns / static.active_ns
    now = f"N = {size:,}: {_time(static.active_ns)} against {_time(event.active_ns)}: {ratio:.2f} times"
    found = verdict(ratio > 1 + _TELLING)
    why = (
        "An event still costs a process that looks at its volume and one that activates its group, in udev's worker "
        "and in a unit; a static unit pays for its start once."
        if found == "holds"
        else "Events look at the volume that came and at nothing else since 2.03.14, while a unit has to wait for udev."
    )
    return Finding(claim, then, now, found, why)


def _obtain(measured: Measured) -> Finding:
    claim = "obtain_device_list_from_udev=0 makes event activation much faster"
    then = "126 s to 40 s: with 1 it takes 3.15 times as long"
    pair = _pair(measured, ("obtain", "groups"), _EVENT)
    if isinstance(pair, str):
        return untestable(claim, then, pair)
    size, with_udev, without = pair
    assert with_udev.active_ns is not None
    assert without.active_ns is not None
    ratio = with_udev.active_ns / without.active_ns
    now = f"N = {size:,}: {_time(without.active_ns)} with 0, {_time(with_udev.active_ns)} with 1: {ratio:.3f} times"
    if ratio > 1 + _TELLING:
        return Finding(claim, then, now, "holds", "Listing by udev still costs each process that lists devices.")
    why = "No process of an event lists the devices any more: each adds its own argument, and 0 is the default."
    return Finding(claim, then, now, "no longer holds", why)


def _filter(measured: Measured) -> Finding:
    claim, then = "a filter that accepts the root only makes the boot faster", "126 s to 102 s: -19.0 %"
    pair = _pair(measured, ("rejected", "groups"), _EVENT)
    if isinstance(pair, str):
        return untestable(claim, then, pair)
    size, filtered, event = pair
    change = filtered.settled_ns / event.settled_ns - 1
    now = (
        f"N = {size:,}, until udev has settled: {_time(event.settled_ns)} to {_time(filtered.settled_ns)}: "
        f"{value_text(change, 'percent')}"
    )
    why = (
        "Nothing is activated then, so that this is no remedy for volumes that are needed; each event still runs lvm2 "
        "once, which finds its volume rejected."
    )
    return Finding(claim, then, now, verdict(change < -_TELLING), why)


def _programs(figures: Figures) -> Programs | None:
    return None if isinstance(figures.programs, Hole) else figures.programs


def _memory(measured: Measured) -> Finding:
    claim, then = "event activation takes many times the memory of direct activation", "about 20 GB against 2 GB"
    pair = _pair(measured, _EVENT, _STATIC)
    if isinstance(pair, str):
        return untestable(claim, then, pair)
    size, event, static = pair
    one, other = _programs(event), _programs(static)
    if one is None or other is None or other.memory == 0:
        return untestable(claim, then, "the memory of lvm2's processes was not noted")
    ratio = one.memory / other.memory
    now = (
        f"N = {size:,}: processes of lvm2 {value_text(one.memory, 'bytes')} against "
        f"{value_text(other.memory, 'bytes')}: {ratio:.2f} times; all services "
        f"{value_text(event.services_memory, 'bytes')} against {value_text(static.services_memory, 'bytes')}"
    )
    if ratio > 2:
        why = f"{one.at_once} processes of lvm2 ran at once, {value_text(one.memory_most, 'bytes')} the largest."
        return Finding(claim, then, now, "holds", why)
    why = f"At most {one.at_once} processes of lvm2 run at once, and none keeps a list of all devices with its records."
    return Finding(claim, then, now, "no longer holds", why)


def _growth(laws: Laws) -> Finding:
    claim = "the cost of event activation grows faster than the number of volumes"
    then = "each of n processes does work for n volumes; some of it more than once"
    law = laws.get(_EVENT, {}).get("active")
    if not isinstance(law, Law) or law.study.growth_exponent is None:
        return untestable(claim, then, law.reason if isinstance(law, Hole) else "no exponent could be computed")
    growth = law.study.growth_exponent
    now = f"the growth's exponent is {growth.value:.3f} ({growth.low:.3f} to {growth.high:.3f}); law: {law.study.law}"
    if growth.value > _FASTER:
        return Finding(claim, then, now, "holds", "Something still looks at all volumes for each of them.")
    how = "linear" if growth.value > 2 - _FASTER else "slower than linear"
    return Finding(
        claim, then, now, "no longer holds", f"The growth is {how}: an event's work no longer has the others."
    )


def _database(measured: Measured, name: str, where: str, laws: Laws, key: str, rows: tuple[Row, ...]) -> Finding:
    claim = f"a process that looks for devices opens {where} once for each of them"
    then = "O(n) in every scanning process"
    row: Row = next((each for each in rows if each in measured), _STATIC)
    sizes = {size: each for size, each in measured.get(row, {}).items() if isinstance(each, Figures)}
    counts = {size: getattr(found, name) for size, each in sizes.items() if (found := _programs(each)) is not None}
    default = {
        size: getattr(found, name)
        for size, each in measured.get(_EVENT, {}).items()
        if isinstance(each, Figures) and (found := _programs(each)) is not None
    }
    if len(counts) < 2 or not default:
        return untestable(claim, then, "fewer than two sizes came up")
    low, high = min(counts), max(counts)
    each = (counts[high] - counts[low]) / (high - low)
    usual = max(default)
    now = (
        f"asked of udev, a static unit's process opens {each:.2f} more for each volume ({counts[high]:,} at "
        f"N = {high:,}); under events by default the process that opens most opens {default[usual]:,} at N = {usual:,}"
        if row != _STATIC
        else f"a static unit's process opens {each:.2f} more for each volume ({counts[high]:,} at N = {high:,})"
    )
    law = laws.get(row, {}).get(key)
    form = f"; law: {law.study.law}" if isinstance(law, Law) else ""
    if each >= 0.5:
        why = "Where udev is asked it still is so; by default it is not asked any more."
        return Finding(claim, then, now + form, "holds", why)
    return Finding(claim, then, now + form, "no longer holds", "Devices are listed in /dev, and each is asked itself.")


def _scanners(measured: Measured) -> Finding:
    claim, then = "there is about one process of lvm2 for each volume", "about one scanning process per volume"
    figures = _largest(measured, _EVENT)
    if figures is None or (programs := _programs(figures[1])) is None:
        return untestable(claim, then, "no size came up")
    each = programs.count / figures[0]
    now = f"N = {figures[0]:,}: {programs.count:,} processes, {each:.2f} for each volume"
    if each >= 1 - _TELLING:
        return Finding(claim, then, now, "holds", "One looks at the volume that came, one activates its group.")
    return Finding(claim, then, now, "no longer holds", "Fewer processes than volumes.")


def _at_once(measured: Measured) -> Finding:
    claim, then = "about as many of them as there are volumes run at the same time", "about 1,000 at once"
    came_up = {
        size: found.at_once
        for size, each in sorted(measured.get(_EVENT, {}).items())
        if isinstance(each, Figures) and (found := _programs(each)) is not None
    }
    if len(came_up) < 2:
        return untestable(claim, then, "fewer than two sizes came up")
    # A few volumes are all looked at at once, whatever the bound: the two largest sizes tell.
    (small, before), (large, after) = list(came_up.items())[-2:]
    share = (after - before) / (large - small)
    now = f"{before:,} at once at N = {small:,}, {after:,} at N = {large:,}: {share:.2f} more for each further volume"
    if share >= 0.5:
        return Finding(claim, then, now, "holds", "Units that activate start as fast as events come.")
    why = "Those that look at volumes run in udev's workers, whose number is bounded by processors and memory."
    return Finding(claim, then, now, "no longer holds", why)


def _largest(measured: Measured, row: Row) -> tuple[int, Figures] | None:
    came_up = {size: each for size, each in measured.get(row, {}).items() if isinstance(each, Figures)}
    return max(came_up.items(), default=None, key=lambda item: item[0])
