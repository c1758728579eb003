"""What each remedy of the ledger of machine costs does, measured again; beside it what the ledger has."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring.figures import arguments, line, title

import firstlight
from firstlight.analysis.ledger.costs import machine_costs
from firstlight.analysis.ledger.entries import Remedy, ledger


class Boots:
    """Recordings by the words that made them, each recorded once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made: dict[str, firstlight.Boot] = {}

    def of(self, words: str) -> firstlight.Boot:
        """The boot of these words for `firstlight record`."""
        if words not in self._made:
            bundle = self._directory / f"{len(self._made)}.boot"
            command = [sys.executable, "-m", "firstlight", "record", "-o", str(bundle), *shlex.split(words)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            self._made[words] = firstlight.open(bundle)
        return self._made[words]


def main() -> None:
    """Record every pair, print the cost and the change."""
    quick = arguments(__doc__ or "").quick
    title(
        "Cost before and after its remedy, and the change of the boot, ns of virtual time; wanted: the ledger's change"
    )
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        boots = Boots(Path(directory))
        for entry in ledger("x86_64").entries:
            for remedy in entry.remedies:
                if quick and remedy.measured.recipe:
                    continue
                before, after = (boots.of(words) for words in recipes(remedy))
                change = (after.manifest.totals.virtual_ns or 0) - (before.manifest.totals.virtual_ns or 0)
                figure = f"{cost(before, entry.id):,} -> {cost(after, entry.id):,}, boot {change:+,}"
                line(f"{entry.id} {remedy.change}", figure, f"{-remedy.measured.saved_ns:+,}")


def recipes(remedy: Remedy) -> tuple[str, str]:
    """The words for the boot without a remedy and with it, on the processor that the ledger's figures come from."""
    _, processor, _ = remedy.measured.on.split(", ")
    without = f"--cpu {processor} {remedy.measured.recipe}".strip()
    return without, f"{without} {remedy.change}"  # of two `--cpu` the last one counts


def cost(boot: firstlight.Boot, identifier: str) -> int:
    """What a boot has of one cost, in nanoseconds."""
    costs = machine_costs(boot)
    both = (*costs.machine, *costs.kernel) if costs else ()
    return next((each.ns for each in both if each.entry.id == identifier), 0)


if __name__ == "__main__":
    main()
