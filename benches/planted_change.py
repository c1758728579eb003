"""Planted changes: does the first line of `firstlight compare` name the cause, with one boot a side?"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

from measuring.plants import Plant, boot, read_plants

from firstlight import api
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.headline import headline
from firstlight.experiment import boot_cache

#: The share of the changes that have to be named.
TARGET = 0.95
#: What the quick form plants: a program, an initcall, a parameter without effect.
QUICK = ("a sleep", "UDP's hash table", "an ignored word")


def main() -> None:
    """Print a row for each change, and how many are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"plant {len(QUICK)} changes alone")
    parser.add_argument("--boots", type=Path, help="a folder that stores the boots (default: the cache alone)")
    parser.add_argument("--held-out", action="store_true", help="plant the changes that nothing was learnt on")
    given = parser.parse_args()
    plants = [plant for plant in read_plants(held_out=given.held_out) if not given.quick or plant.name in QUICK]
    print("| change | named | first line | caused | moved | accident |\n|---|---|---|---:|---:|---:|")
    named = 0
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as temporary:
        for plant in plants:
            row, right = score(plant, given.boots, Path(temporary))
            named += right
            print(row, flush=True)
    print(f"\n{named} of {len(plants)} are named ({named / len(plants):.1%}); target {TARGET:.0%}")
    if named < TARGET * len(plants):
        raise SystemExit(1)


def score(plant: Plant, boots: Path | None, folder: Path) -> tuple[str, bool]:
    """One planted change as a row of the table, and whether the first line names it."""
    slug = re.sub(r"[^a-z0-9]+", "-", plant.name.lower())
    before = _boot(plant.base, boots, f"{slug}-base" if plant.base else "base", folder)
    after = _boot(plant.change, boots, slug, folder)
    found = api.compare(before, after).evidence
    assert isinstance(found, ExactDifference)
    if found.ledger is None:
        raise SystemExit(f"{plant.name}: the boots have no profile")
    line, total = headline(found), found.ledger.total
    right = plant.is_named_by([name for cause in found.causes for name in cause.names])
    parts = " | ".join(f"{ns / 1e6:+.3f} ms" for ns in (total.caused_ns, total.moved_ns, total.accident_ns))
    return f"| {plant.name} | {'yes' if right else '**no**'} | {line} | {parts} |", right


def _boot(recipe: dict[str, object], boots: Path | None, name: str, folder: Path) -> Boot:
    if boots is None:
        return boot(recipe, folder)
    place = boots / f"{name}.boot"
    if not place.exists():
        boots.mkdir(parents=True, exist_ok=True)
        boot_cache.copy(boot(recipe, folder).directory, place)
    return open_boot(place)


if __name__ == "__main__":
    main()
