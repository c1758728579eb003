"""A change of about 0.05 % in one function, planted ten times: is it found, and named, with one boot a side?"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring.figures import arguments, line, title
from measuring.plants import PLANTS, Plant, options, sides, write_initrd

from firstlight.boot.open import open as open_boot
from firstlight.compare.exact.difference import ExactDifference, exact_difference
from firstlight.lab.record import record


def main() -> None:
    """Found: the whole changed. Named: the function that was made dearer has the largest change of all."""
    plants = PLANTS[:2] if arguments(__doc__ or "").quick else PLANTS
    title("Planted changes, one boot a side")
    found = named = 0
    for plant in plants:
        with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
            difference = compare(plant, Path(directory))
        if difference.functions is None:
            raise SystemExit("the boots have no profile")
        whole, rows = difference.whole, difference.functions.changed
        first = rows[0]
        found += whole.change_ns != 0
        named += first.name == plant.function and first.change_ns > 0
        share = whole.change_ns / whole.a.ns if whole.a else 0.0
        mine = next((row.change_ns for row in rows if row.name == plant.function), 0)
        text = f"{share:+.4%} in all; {plant.function} {mine:+,} ns; largest: {first.name} {first.change_ns:+,} ns"
        line(f"{plant.name} ({plant.parameter}={plant.less} to {plant.more})", text)
    line("found", f"{found} of {len(plants)}", f"{len(plants)} of {len(plants)}")
    line(
        "named: the largest change is that of the function",
        f"{named} of {len(plants)}",
        f"{len(plants)} of {len(plants)}",
    )


def compare(plant: Plant, directory: Path) -> ExactDifference:
    """Boot both sides of a plant, and compare them."""
    initrd = directory / "plant.cpio"
    if plant.command:
        write_initrd(plant, initrd)
    paths = [record(options(plant, value, directory / f"{name}.boot", initrd)) for name, value in sides(plant)]
    difference = exact_difference(*map(open_boot, paths))
    _ = difference.functions  # made while the boots are there
    return difference


if __name__ == "__main__":
    main()
