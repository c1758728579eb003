"""Fleets of invented boots, with planted differences that a test knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import polars as pl

from firstlight.fleet.columns import BOOTS, SPANS
from firstlight.fleet.files import write_boots, write_spans
from firstlight.fleet.layout import Fleet, Listing, init_fleet

#: The parts of every boot, with their durations in nanoseconds.
PARTS: Mapping[tuple[str, str], int] = {
    ("phase", "early_init"): 200_000_000,
    ("phase", "initcalls"): 300_000_000,
    ("phase", "userspace"): 500_000_000,
    **{("initcall", f"probe_{number}"): 1_000_000 + 50_000 * number for number in range(40)},
    ("unit", "network.service"): 40_000_000,
    ("process", "systemd-udevd"): 90_000_000,
}


@dataclass(frozen=True)
class Group:
    """Boots of one kind."""

    attributes: Mapping[str, str]
    boots: int
    factors: Mapping[str, float]
    """By the name of a part, what its duration is multiplied by."""


def make_fleet(directory: Path, groups: Sequence[Group], *, seed: int = 1, spread: float = 0.03) -> Fleet:
    """Write a fleet; every duration varies by a normal factor.

    :param spread: the standard deviation of that factor.
    """
    random = Random(seed)
    fleet = init_fleet(directory)
    boots, spans = [], []
    number = 0
    for group in groups:
        for _ in range(group.boots):
            number += 1
            total = 0
            for (kind, name), ns in PARTS.items():
                took = int(ns * group.factors.get(name, 1.0) * max(0.5, random.gauss(1, spread)))
                total += took if kind == "phase" else 0
                spans.append((number, kind, name, 0, took, None, 1))
            head = (
                number,
                f"{number:064x}",
                f"2026-01-{1 + number % 3:02d}",
                "imported",
                "complete",
                total,
                None,
                None,
            )
            boots.append(dict(zip(BOOTS, head, strict=True)) | dict(group.attributes))
    made = pl.DataFrame(boots, infer_schema_length=None).cast(BOOTS)  # type: ignore[arg-type]
    rows = pl.DataFrame(spans, schema=SPANS, orient="row")
    with fleet.locked():
        files = write_spans(fleet, rows, made.select("boot", "day"))
        fleet.replace_listing(Listing((write_boots(fleet, made),), tuple(files)))
    return fleet
