"""What differs between the health of two boots, fact by fact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstlight.study import time_text
from firstlight_studies.kernel_hotspots.health import HotspotHealth

#: Loops per jiffy that were measured twice differ by less.
_NEARLY = 0.01
#: Blocks of memory are devices of their own bus: more and fewer of them say what the size of the memory says.
_MEMORY = "device.memory/"
#: Facts that come to be some time after the start: what they are at ready depends on when a guest is, not on a remedy
#: alone.
PASSING = frozenset({"high resolution"})


@dataclass(frozen=True)
class FactDifference:
    """One fact that is not as it was."""

    fact: str
    """What it is of, as `meant` of the remedies names it."""
    said: str
    """With both values."""


def differences(health: HotspotHealth, before: HotspotHealth) -> tuple[FactDifference, ...]:
    """What differs; nothing when all is as it was.

    Loops per jiffy may differ by a hundredth, as two measurements do; a sleep and the delays by a twentieth: other work
    lies between the same two instants. What a guest without programs cannot show is not a difference.
    """
    return (
        *_values(health, before), *_devices(health, before),
        *_sets("mount", "mounts", health.mounts, before.mounts),
        *_sets("warning", "warnings", health.warnings, before.warnings),
        *_times(health, before), *_userspace(health, before),
    )  # fmt: skip


def broken(health: HotspotHealth, before: HotspotHealth, meant: frozenset[str] = frozenset()) -> list[str]:
    """What differs and was not meant to, in words.

    :param meant: the facts that a remedy is there to change.
    """
    return [each.said for each in differences(health, before) if each.fact not in meant]


def _values(health: HotspotHealth, before: HotspotHealth) -> Iterator[FactDifference]:
    if health.lpj != before.lpj and (not health.lpj or not before.lpj or abs(health.lpj / before.lpj - 1) > _NEARLY):
        yield FactDifference("lpj", f"loops per jiffy {_shown(health.lpj)}, not {_shown(before.lpj)}")
    pairs: tuple[tuple[str, str | int | None, str | int | None], ...] = (
        ("clock source", health.clock_source, before.clock_source),
        ("hash entries", health.hash_entries, before.hash_entries),
    )
    for what, now, then in pairs:
        if now != then:
            yield FactDifference(what, f"{what} {_shown(now)}, not {_shown(then)}")
    # What the kernel takes for itself varies by pages: not what a remedy is asked about.
    total, usual = health.memory, before.memory
    if total is not None and usual is not None and abs(total - usual) * 200 > usual:
        yield FactDifference("memory", f"memory {_mib(total)}, not {_mib(usual)}")


def _devices(health: HotspotHealth, before: HotspotHealth) -> Iterator[FactDifference]:
    def of_memory(names: frozenset[str]) -> frozenset[str]:
        return frozenset(name for name in names if name.startswith(_MEMORY))

    now, then = of_memory(health.devices), of_memory(before.devices)
    yield from _sets("memory block", "memory", now, then)
    yield from _sets("device", "devices", health.devices - now, before.devices - then)


def _sets(what: str, fact: str, now: frozenset[str], then: frozenset[str]) -> Iterator[FactDifference]:
    for verb, names in (("lost", then - now), ("more", now - then)):
        if names:
            shown = sorted(names)[0].removeprefix("device.")
            few = f" (`{shown[:80]}`{', ...' if len(names) > 1 else ''})"
            yield FactDifference(fact, f"{len(names)} {what}{'s' if len(names) > 1 else ''} {verb}{few}")


def _times(health: HotspotHealth, before: HotspotHealth) -> Iterator[FactDifference]:
    slept, usual = health.probed.slept_ns, before.probed.slept_ns
    if slept is not None and usual is not None and abs(slept - usual) * 20 > usual:
        yield FactDifference("sleep", f"a sleep of 100 ms takes {time_text(slept)}, not {time_text(usual)}")
    if health.delay and before.delay and health.delay[0] == before.delay[0]:
        took, took_before = health.delay[1], before.delay[1]
        if abs(took - took_before) * 20 > took_before:
            yield FactDifference("delays", f"the kernel's short delays take {took / took_before:.3g} times as long")


def _userspace(health: HotspotHealth, before: HotspotHealth) -> Iterator[FactDifference]:
    now, then = health.probed, before.probed
    if not now.reads:
        yield FactDifference("programs", "userspace does not find its own programs")
    elif now.reads != then.reads:
        found = f"userspace finds {_counts(now.reads)} of settings, processes and buses, not {_counts(then.reads)}"
        yield FactDifference("programs", found)
    if now.names_in_format is not None and now.names_in_format != then.names_in_format:
        yield FactDifference("names", "names are left in an event's format, where values belong")
    pairs: tuple[tuple[str, str | int | None, str | int | None], ...] = (
        ("block devices", now.block_devices, then.block_devices),
        ("terminals", now.terminals, then.terminals),
        ("clock event device", now.clock_event, then.clock_event),
    )
    for what, value, usual in pairs:
        if value is not None and usual is not None and value != usual:
            yield FactDifference(what, f"{what} {_shown(value)}, not {_shown(usual)}")
    if None not in (now.high_resolution, then.high_resolution) and now.high_resolution != then.high_resolution:
        state = "end between ticks" if now.high_resolution else "end only with a tick (no high resolution)"
        yield FactDifference("high resolution", f"timers {state}")


def _counts(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "no"


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def _shown(value: object) -> str:
    return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
