"""How many recordings of one recipe are equal in every table and in the console, half of them under load.

    python benches/exactness.py [--quick] [--repeats N] [--no-load] [--arch NAME] [--loader NAME] [--rootfs NAME]
                                [--cpus N] [--shift N] [--qemu PROGRAM]

Without further choices the recipe is the default one.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from measuring.boots import load
from measuring.figures import line, parser, spread, title

from firstlight.bundle.open import open as open_boot
from firstlight.lab.run.record import record
from firstlight.lab.run.verify import compare
from firstlight.recipe.options import RecordOptions

#: What of the recipe can be chosen, by the names of `firstlight record`.
CHOICES: dict[str, type] = {"arch": str, "loader": str, "rootfs": str, "cpus": int, "shift": int, "qemu": Path}


def main() -> None:
    """Record, compare each with the first, print."""
    choices = parser(__doc__ or "")
    choices.add_argument("--repeats", type=int, default=20, help="how often to record (default: 20)")
    choices.add_argument(
        "--load", action=argparse.BooleanOptionalAction, default=True, help="every other repeat under load"
    )
    for name, kind in CHOICES.items():
        choices.add_argument(f"--{name}", type=kind, help=f"as for `firstlight record --{name}`")
    given = choices.parse_args()
    chosen: dict[str, Any] = {name: value for name in CHOICES if (value := getattr(given, name)) is not None}
    repeats = 4 if given.quick else given.repeats
    recipe = " ".join(f"--{name} {value}" for name, value in chosen.items()) or "the default recipe"
    title(f"Equal repeats of {recipe}, of {repeats}{', half of them under load' if given.load else ''}")
    equal, walls = 0, {False: list[float](), True: list[float]()}
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        first = Path(directory) / "0.boot"
        for number in range(repeats):
            bundle = Path(directory) / f"{number}.boot"
            loaded = given.load and number % 2 == 1
            with load() if loaded else nullcontext():
                record(RecordOptions(output=bundle, **chosen))
            verdict = compare(first, bundle)
            same_console = (first / "raw/console.log").read_bytes() == (bundle / "raw/console.log").read_bytes()
            equal += verdict.equal and same_console
            for difference in verdict.differences:
                print(f"  repeat {number}: {difference.describe()}")
            if not same_console:
                print(f"  repeat {number}: another console")
            walls[loaded].append(_wall_s(bundle))
    line("equal in every table and in the console", f"{equal} of {repeats}", f"{repeats}")
    for loaded, each in walls.items():
        if each:
            line(f"wall time of QEMU, host {'under load' if loaded else 'idle'}", spread(each))


def _wall_s(bundle: Path) -> float:
    value = open_boot(bundle).manifest.host["wall_s"]
    return float(value) if isinstance(value, (int, float)) else 0.0


if __name__ == "__main__":
    main()
