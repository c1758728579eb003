"""The figures that decide the claims of 2021."""

from __future__ import annotations

from collections.abc import Callable

from firstlight.study import Figure, MissingValue, derived, relative
from firstlight_studies.lvm_activation.arms import Row
from firstlight_studies.lvm_activation.counted import by_counts
from firstlight_studies.lvm_activation.measured import Measured, pair, programs_by_size
from firstlight_studies.lvm_activation.measures import ActivationFigures
from firstlight_studies.lvm_activation.models import growth_between
from firstlight_studies.lvm_activation.programs import Command, Programs

EVENT: Row = ("event", "groups")
STATIC: Row = ("static", "groups")
#: Whose process asks udev for the devices.
_ASKING: Row = ("static-obtain", "groups")
_TOO_FEW = MissingValue("fewer than two sizes came up")

Pair = tuple[int, ActivationFigures, ActivationFigures]


def figures_of(measured: Measured) -> dict[str, Figure]:
    """Every figure by its name in `claims.toml`."""
    return {
        **_ways(pair(measured, EVENT, STATIC)),
        **_settings(pair(measured, ("obtain", "groups"), EVENT), pair(measured, ("rejected", "groups"), EVENT)),
        **_growth(measured),
        **_opened(measured),
    }


def _ways(found: Pair | MissingValue) -> dict[str, Figure]:
    """Events against the static unit, at the largest size of both."""
    event, static = (derived(lambda each, place=place: each[place].programs, found) for place in (1, 2))
    active = derived(lambda each: each[1].active_ns, found), derived(lambda each: each[2].active_ns, found)
    figures: dict[str, Figure] = {
        "event-size": derived(lambda each: each[0], found),
        "event-active": active[0],
        "static-active": active[1],
        "event-over-static": derived(lambda one, other: one / other, *active),
        "memory-ratio": derived(
            lambda one, other: (
                one.memory / other.memory if other.memory else MissingValue("the memory of lvm2 was not noted")
            ),
            event, static,
        ),
    }  # fmt: skip
    for name, programs in (("event", event), ("static", static)):
        figures[f"{name}-memory"] = derived(lambda each: each.memory, programs)
        figures[f"{name}-at-once"] = derived(lambda each: each.at_once, programs)
        figures[f"{name}-programs"] = derived(lambda each: each.text(), programs)
    return figures


def _settings(obtain: Pair | MissingValue, rejected: Pair | MissingValue) -> dict[str, Figure]:
    """What two settings change, each at the largest size that both came up with."""

    def databases(place: int) -> Figure:
        programs = derived(lambda each: each[place].programs, obtain)
        return derived(lambda each: each.each(lambda command: command.udev_database), programs)

    return {
        "obtain-size": derived(lambda each: each[0], obtain),
        "obtain-active": derived(lambda each: each[1].active_ns, obtain),
        "obtain-over-event": derived(lambda each: each[1].active_ns / each[2].active_ns, obtain),
        "obtain-udev-each": databases(1),
        "event-udev-each": databases(2),
        "rejected-size": derived(lambda each: each[0], rejected),
        "rejected-change": derived(lambda each: relative(each[1].settled_ns, each[2].settled_ns), rejected),
    }


def _growth(measured: Measured) -> dict[str, Figure]:
    times = {
        size: each.active_ns
        for size, each in measured.get(EVENT, {}).items()
        if isinstance(each, ActivationFigures) and each.active_ns is not None
    }
    sizes = sorted(times)
    counts = programs_by_size(measured, EVENT)
    model = by_counts(times, counts)
    figures: dict[str, Figure] = {
        "growth-exponent": growth_between(sizes, [times[size] for size in sizes]),
        "growth-from": sizes[-2] if len(sizes) > 1 else _TOO_FEW,
        "growth-to": sizes[-1] if sizes else _TOO_FEW,
        "file-cost-least": derived(lambda fit: fit.grows_faster, model),
        "file-cost": derived(lambda fit: fit.per_file_ns, model),
    }
    known = list(counts.items())
    if len(known) < 2:
        return {**figures, "processes-each": _TOO_FEW, "at-once-each": _TOO_FEW}
    # A few volumes are all examined at once, whatever the bound: the two largest sizes decide.
    (small, before), (large, after) = known[-2:]
    return {
        **figures,
        "processes-each": after.count / large,
        "at-once-each": (after.at_once - before.at_once) / (large - small),
    }


def _opened(measured: Measured) -> dict[str, Figure]:
    """How many more files the process that opens most opens for each further volume."""
    asking = programs_by_size(measured, _ASKING if _ASKING in measured else STATIC)
    events = programs_by_size(measured, EVENT)
    ways: tuple[tuple[str, Callable[[Command], int]], ...] = (
        ("udev", lambda command: command.udev_database_most), ("sysfs", lambda command: command.sysfs_most),
    )  # fmt: skip
    figures: dict[str, Figure] = {}
    # A process that does not ask udev says nothing about its database.
    for name, most in ways:
        asks = name != "udev" or _ASKING in measured
        figures[f"{name}-each"] = _slope(asking, most) if asks else MissingValue("a quick run leaves this setting out")
        figures[f"event-{name}-most"] = events[max(events)].most(most) if events else _TOO_FEW
    return figures


def _slope(by_size: dict[int, Programs], most: Callable[[Command], int]) -> Figure:
    if len(by_size) < 2:
        return _TOO_FEW
    low, high = min(by_size), max(by_size)
    return (by_size[high].most(most) - by_size[low].most(most)) / (high - low)
