"""How many of 20 recordings of the default recipe are equal in every table, half of them under load."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path

from measuring.boots import load
from measuring.figures import arguments, line, spread, title

from firstlight.lab.run.record import record
from firstlight.lab.run.verify import compare
from firstlight.recipe.options import RecordOptions


def main() -> None:
    """Record, compare each with the first, print."""
    repeats = 4 if arguments(__doc__ or "").quick else 20
    title(f"Equal repeats, of {repeats}, half of them under load")
    equal, walls = 0, {False: list[float](), True: list[float]()}
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        first = Path(directory) / "0.boot"
        for number in range(repeats):
            bundle = Path(directory) / f"{number}.boot"
            loaded = number % 2 == 1
            with load() if loaded else nullcontext():
                record(RecordOptions(output=bundle))
            verdict = compare(first, bundle)
            same_console = (first / "raw/console.log").read_bytes() == (bundle / "raw/console.log").read_bytes()
            equal += verdict.equal and same_console
            for difference in verdict.differences:
                print(f"  repeat {number}: {difference.describe()}")
            walls[loaded].append(_wall_s(bundle))
    line("equal in every table and in the console", f"{equal} of {repeats}", f"{repeats}")
    line("wall time of QEMU, idle host", spread(walls[False]))
    line("wall time of QEMU, host under load", spread(walls[True]))


def _wall_s(bundle: Path) -> float:
    from firstlight.bundle.open import open as open_boot

    value = open_boot(bundle).manifest.host["wall_s"]
    return float(value) if isinstance(value, (int, float)) else 0.0


if __name__ == "__main__":
    main()
