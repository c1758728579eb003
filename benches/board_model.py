"""Predictions of a board's changes from exact ones, on simulated silicon: how often the interval contains the truth.

    python benches/board_model.py [--boards 200] [--known 16] [--held-out 12]

Each simulated board runs at another clock rate, reads from a slow disk, and prints at 115,200 baud. A change is a
random mixture of instructions, waits, printing and reading. The model sees the exact counts. The board's price of an
instruction differs from change to change by 15 % (caches, branches), which the model cannot see, and its changes are
means of 12 pairs of noisy boots. The prices are fitted to the known changes; the held-out ones are predicted.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys

from firstlight.stats.board_model import KnownChange, fit_costs


class Silicon:
    """A board's prices."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.instruction_ns = dice.uniform(0.4, 4.0)
        self.wait = dice.uniform(0.8, 1.2)
        self.byte_ns = 10e9 / 115200
        self.read_ns = dice.uniform(10.0, 100.0)

    def truth(self, exact: dict[str, float]) -> float:
        """What a change takes, in nanoseconds."""
        instruction = self.instruction_ns * math.exp(self.dice.gauss(0, 0.15))
        return (
            instruction * exact["instructions"]
            + self.wait * exact["wait_ns"]
            + self.byte_ns * exact["console_bytes"]
            + self.read_ns * exact["read_bytes"]
        )

    def measured(self, truth: float) -> tuple[float, float]:
        """The mean of 12 pairs of boots of 3 s that vary by 0.6 %, and its standard error."""
        pairs = [truth + self.dice.gauss(0, 3e9 * 0.006 * math.sqrt(2)) for _ in range(12)]
        return statistics.fmean(pairs), statistics.stdev(pairs) / math.sqrt(len(pairs))


def change(dice: random.Random) -> dict[str, float]:
    """A random exact change: one or two sorts of cost, with either sign."""
    sizes = {"instructions": 3e8, "wait_ns": 2e8, "console_bytes": 5e3, "read_bytes": 5e6}
    chosen = dice.sample(sorted(sizes), k=dice.choice([1, 1, 2]))
    own = dict.fromkeys(sizes, 0.0)
    for name in chosen:
        own[name] = dice.choice([-1, 1]) * sizes[name] * math.exp(dice.gauss(0, 1))
    # Whatever else a change does, it executes something.
    own["instructions"] += dice.gauss(0, 2e6)
    return own


def one(seed: int, known: int, held_out: int) -> tuple[int, list[float]]:
    """How many held-out changes of a board the interval contains, and the relative half widths."""
    dice = random.Random(seed)
    silicon = Silicon(dice)
    changes = []
    for number in range(known):
        exact = change(dice)
        mean, error = silicon.measured(silicon.truth(exact))
        changes.append(KnownChange(name=str(number), exact=exact, board_ns=mean, error_ns=error))
    model = fit_costs(changes)
    covered, widths = 0, []
    for _ in range(held_out):
        exact = change(dice)
        truth, found = silicon.truth(exact), model.predict(exact)
        covered += found.low_ns <= truth <= found.high_ns
        widths.append((found.high_ns - found.low_ns) / 2 / abs(truth))
    return covered, widths


def main() -> int:
    """Print the share of held-out changes that the intervals contain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("--known", type=int, default=16)
    parser.add_argument("--held-out", type=int, default=12)
    options = parser.parse_args()
    results = [one(seed, options.known, options.held_out) for seed in range(options.boards)]
    total = options.boards * options.held_out
    covered = sum(found for found, _ in results)
    first, width = results[0][0], statistics.median(width for _, widths in results for width in widths)
    print(f"{options.boards} simulated boards, {options.known} known changes, {options.held_out} held out each")
    print(f"intervals contain the truth: {covered} of {total} ({100 * covered / total:.1f} %), at least 90 % wanted")
    print(f"first board: {first} of {options.held_out}; median half width: {100 * width:.0f} % of the change")
    return 0 if covered >= 0.9 * total else 1


if __name__ == "__main__":
    sys.exit(main())
