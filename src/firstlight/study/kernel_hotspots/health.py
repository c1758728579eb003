"""What a remedy broke: the facts of its boot beside those of the boot without it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from firstlight.boot.boot import Boot
from firstlight.lab.report import read_report
from firstlight.study.kernel_hotspots.guest import Probed, probed

_HASH = re.compile(r";([A-Za-z/-]+(?: [A-Za-z/-]+)*?) hash table entries: (\d+) \(")
_ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16}\b")
#: What every short delay goes through.
_DELAY = "__const_udelay"
#: Loops per jiffy that were measured twice differ by less.
_NEARLY = 0.01


@dataclass(frozen=True)
class Health:
    """What is compared."""

    lpj: int | None
    clock_source: str | None
    memory: int | None
    """Bytes that the kernel manages, at ready."""
    devices: frozenset[str]
    """With their drivers."""
    warnings: frozenset[str]
    mounts: frozenset[str]
    hash_entries: int | None
    """Of all hash tables that the kernel tells of."""
    probed: Probed
    delay: tuple[int, int] | None
    """Calls of udelay in the whole boot, and what they took, in nanoseconds."""


def health_of(boot: Boot, report: bytes | None = None) -> Health:
    """The facts of a boot that remedies are known to break.

    :param report: the guest's report, when it was read already.
    """
    facts: Mapping[str, str] = dict(boot.facts().select("fact", "value").iter_rows())
    kernel_log = read_report(_raw(boot.path) if report is None else report).text("kmsg") or ""
    tables = _HASH.findall(kernel_log)
    return Health(
        lpj=_number(facts.get("kernel.lpj")),
        clock_source=_clock_source(facts.get("clocksource.current")),
        memory=_number(facts.get("memory.total_bytes")),
        devices=frozenset(f"{name} {value}".strip() for name, value in facts.items() if name.startswith("device.")),
        warnings=frozenset(
            _ADDRESS.sub("ADDRESS", value) for name, value in facts.items() if name.startswith("kernel.warning.")
        ),
        mounts=frozenset(name.removeprefix("mount.") for name in facts if name.startswith("mount.")),
        hash_entries=sum(int(entries) for _, entries in tables) if tables else None,
        probed=probed(boot),
        delay=_delay(boot),
    )


def broken(health: Health, before: Health) -> list[str]:
    """What differs, in words; nothing when all is as it was.

    Loops per jiffy may differ by a hundredth, as two measurements do; a sleep and the delays by a twentieth: other work
    lies between the same two instants.
    """
    changes = _values(health, before)
    for what, now, then in (
        ("device", health.devices, before.devices),
        ("mount", health.mounts, before.mounts),
        ("warning", health.warnings, before.warnings),
    ):
        changes += _sets(what, now, then)
    changes += _times(health, before)
    if not health.probed.reads:
        changes.append("user land does not find its own programs")
    elif health.probed.reads != before.probed.reads:
        what = "settings, processes and buses"
        changes.append(f"user land finds {_counts(health.probed.reads)} of {what}, not {_counts(before.probed.reads)}")
    if health.probed.names_in_format is not None and health.probed.names_in_format != before.probed.names_in_format:
        changes.append("names are left in an event's format, where values belong")
    return changes


def _values(health: Health, before: Health) -> list[str]:
    said = []
    if health.lpj != before.lpj and (not health.lpj or not before.lpj or abs(health.lpj / before.lpj - 1) > _NEARLY):
        said.append(f"loops per jiffy {_shown(health.lpj)}, not {_shown(before.lpj)}")
    pairs: tuple[tuple[str, str | int | None, str | int | None], ...] = (
        ("clock source", health.clock_source, before.clock_source),
        ("hash table entries", health.hash_entries, before.hash_entries),
    )
    said += [f"{what} {_shown(now)}, not {_shown(then)}" for what, now, then in pairs if now != then]
    # What the kernel takes for itself varies by pages: not what a remedy is asked about.
    now, then = health.memory, before.memory
    if now is not None and then is not None and abs(now - then) * 200 > then:
        said.append(f"memory {_mib(now)}, not {_mib(then)}")
    return said


def _sets(what: str, now: frozenset[str], then: frozenset[str]) -> list[str]:
    said = []
    for verb, names in (("lost", then - now), ("more", now - then)):
        if names:
            shown = sorted(names)[0].removeprefix("device.")
            few = f" (`{shown[:80]}`{', ...' if len(names) > 1 else ''})"
            said.append(f"{len(names)} {what}{'s' if len(names) > 1 else ''} {verb}{few}")
    return said


def _times(health: Health, before: Health) -> list[str]:
    said = []
    slept, usual = health.probed.slept_ns, before.probed.slept_ns
    if slept is not None and usual is not None and abs(slept - usual) * 20 > usual:
        said.append(f"a sleep of 100 ms takes {slept / 1e6:,.1f} ms, not {usual / 1e6:,.1f} ms")
    if health.delay and before.delay and health.delay[0] == before.delay[0]:
        took, took_before = health.delay[1], before.delay[1]
        if abs(took - took_before) * 20 > took_before:
            said.append(f"the kernel's short delays take {took / took_before:.3g} times as long")
    return said


def _delay(boot: Boot) -> tuple[int, int] | None:
    # It calls nothing that calls it again: the nodes' totals add up.
    rows = boot.calls().filter(pl.col("function") == _DELAY)
    return None if rows.is_empty() else (int(rows["calls"].sum()), int(rows["total_ns"].sum()))


def _raw(bundle: Path) -> bytes:
    try:
        return (bundle / "raw" / "report.bin").read_bytes()
    except OSError:
        return b""


def _clock_source(name: str | None) -> str | None:
    # The same counter before and after its rate was refined, a second after the start: not what a remedy decides.
    return "tsc" if name == "tsc-early" else name


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _counts(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "no"


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def _shown(value: object) -> str:
    return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
