"""False alarms and coverage of experiments on a board that drifts, is cold at first, and hangs at times.

    python benches/board_experiments.py [--sessions 200] [--blocks 12]

A session is an experiment of two arms as `firstlight experiment run` makes it, on a board in simulated time: warm-up,
randomised blocks, captures, bundles, results. The board slows down by 2 % over the session, its first boot takes 6 %
longer, 4 % of its boots are outliers, and 1 % of its power cycles hang. Half of the sessions have equal arms: another
verdict than `equivalent` or `inconclusive` is a false alarm. The others have a change of 0.5 % or 1 %. The interval has
to contain the true change.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path

from simulated_board import SimulatedBoard
from simulated_progress import Silent

from firstlight.experiment.board_runner import run_on_board
from firstlight.experiment.boards.session import EVENTS
from firstlight.experiment.estimates import EffectEstimate, estimate_cells
from firstlight.experiment.plan import parse_plan
from firstlight.experiment.results import read_results
from firstlight.experiment.schedule import prepare_plan
from firstlight.lab.board.board import Arm

_PLAN = """\
board = "simulated.toml"
repeats = {blocks}
seed = {seed}
arm = [{{name = "before"}}, {{name = "after", append = "changed"}}]
"""


def session(folder: Path, seed: int, blocks: int, change: float) -> tuple[EffectEstimate, int]:
    """One experiment; what it says of the change, and its number of events."""

    def duration(arm: Arm) -> float:
        # The change is of the whole boot, so that the truth is known in percent.
        whole = 2300.0 * (1 + change if arm.append else 1.0)
        return whole - 300.0

    text = _PLAN.format(blocks=blocks, seed=seed)
    board = SimulatedBoard(duration, seed, session=2 * blocks + 1, hangs=0.01)
    plan_file = folder / "plan.toml"
    prepared = prepare_plan(parse_plan(text, "plan.toml"), text, plan_file, folder / str(seed), board=board)
    run_on_board(prepared, Silent())
    results = read_results(folder / str(seed))
    events = folder / str(seed) / EVENTS
    return estimate_cells(results)["after"], len(events.read_text().splitlines()) if events.exists() else 0


def share(hits: int, total: int) -> str:
    """A share with its exact binomial interval."""
    from scipy.stats import binomtest

    low, high = binomtest(hits, total).proportion_ci()
    return f"{100 * hits / total:.1f} % of {total} ({100 * low:.1f} to {100 * high:.1f})"


def main() -> int:
    """Run the sessions and print what they said."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--blocks", type=int, default=12)
    options = parser.parse_args()
    began, alarms, equal, covered, found, events = time.process_time(), 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(options.sessions):
            change = (0.0, 0.005, 0.0, 0.01)[number % 4]
            folder = Path(directory, str(number))
            folder.mkdir()
            estimate, unusual = session(folder, number + 1, options.blocks, change)
            events += unusual
            assert estimate.interval_percent is not None
            low, high = estimate.interval_percent
            covered += low <= 100 * change <= high
            alarm = not math.isclose(change, 0.0) or estimate.p >= 0.05
            if change == 0.0:
                equal += 1
                alarms += not alarm
            else:
                found += estimate.p < 0.05
    changed = options.sessions - equal
    print(f"{options.sessions} sessions of {options.blocks} blocks, {events} events: drift 2 %, cold first boots")
    print(f"false alarms: {share(alarms, equal)}, at most 6 % wanted")
    print(f"interval contains the true change: {share(covered, options.sessions)}, at least 94 % wanted")
    print(f"changes of 0.5 % and 1 % with p < 0.05: {share(found, changed)}")
    print(f"{time.process_time() - began:.0f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
