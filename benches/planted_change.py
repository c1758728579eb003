"""A change of about 0.05 % in one function, planted ten times: is it found, and named, with one boot a side?"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring.figures import arguments, line, title
from measuring.plants import PLANTS, Plant, options

from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.lab.run.record import record

#: Named is what stands among the first rows of the table of functions.
_SHOWN = 3


def main() -> None:
    """Found: the function has the planted sign. Named: it stands among the first rows that are printed."""
    plants = PLANTS[:2] if arguments(__doc__ or "").quick else PLANTS
    title("Planted changes, one boot a side")
    found = named = 0
    for plant in plants:
        with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
            difference = compare(plant, Path(directory))
        if difference.functions is None:
            raise SystemExit("the boots have no profile")
        rows = difference.functions.changed
        places = [place for place, row in enumerate(rows, 1) if row.name == plant.function and row.change_ns > 0]
        found += bool(places)
        named += bool(places) and places[0] <= _SHOWN
        whole = difference.whole.a.ns if difference.whole.a else 0
        mine = rows[places[0] - 1].change_ns if places else 0
        first = f"first: {rows[0].name} {rows[0].change_ns:+,} ns"
        text = f"{plant.function} {mine:+,} ns ({mine / whole:+.3%}), row {places[:1]}; {first}"
        line(f"{plant.name}, {plant.less} to {plant.more}", f"{text}; all {difference.whole.change_ns:+,} ns")
    line("found", f"{found} of {len(plants)}", f"{len(plants)} of {len(plants)}")
    line(f"named, among the first {_SHOWN} rows", f"{named} of {len(plants)}", f"{len(plants)} of {len(plants)}")


def compare(plant: Plant, directory: Path) -> ExactDifference:
    """Boot both sides of a plant, and compare them."""
    values = (("less", plant.less), ("more", plant.more))
    paths = [record(options(plant, value, directory / f"{name}.boot")) for name, value in values]
    difference = exact_difference(*map(open_boot, paths))
    _ = difference.whole, difference.functions  # made while the boots are there
    return difference


if __name__ == "__main__":
    main()
