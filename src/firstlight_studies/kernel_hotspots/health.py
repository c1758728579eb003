"""The facts of a boot that show what a remedy broke."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from firstlight.study import Boot, read_report
from firstlight_studies.kernel_hotspots.guest import Probed, probed

_HASH = re.compile(r";([A-Za-z/-]+(?: [A-Za-z/-]+)*?) hash table entries: (\d+) \(")
_ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16}\b")
#: What every short delay goes through.
_DELAY = "__const_udelay"


@dataclass(frozen=True)
class HotspotHealth:
    """What is compared."""

    lpj: int | None
    clock_source: str | None
    memory: int | None
    """Bytes that the kernel manages, at ready."""
    devices: frozenset[str]
    """On a bus, with their drivers: disks and terminals are on none."""
    warnings: frozenset[str]
    mounts: frozenset[str]
    hash_entries: int | None
    """Of all hash tables that the kernel reports."""
    probed: Probed
    delay: tuple[int, int] | None
    """Calls of udelay in the whole boot, and what they took, in nanoseconds."""


def health_of(boot: Boot, report: bytes | None = None) -> HotspotHealth:
    """The facts of a boot that remedies are known to break.

    :param report: the guest's report, when it was read already.
    """
    facts = boot.fact_values()
    kernel_log = read_report(_raw(boot.directory) if report is None else report).text("kmsg") or ""
    tables = _HASH.findall(kernel_log)
    return HotspotHealth(
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
