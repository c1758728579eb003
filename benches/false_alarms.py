"""Equal recipes compared a hundred times in exact mode, on a host under load every other boot: how many differ?"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from itertools import combinations
from pathlib import Path

from measuring.boots import load
from measuring.figures import arguments, line, title

from firstlight.comparison.compare import compare_exact
from firstlight.comparison.sides.arms import read_arm
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions

#: Ten recipes; the pairs of five boots of each are ten comparisons.
_RECIPES = ("", "quiet", "loglevel=7", "initcall_debug", "nosmp", "ro", "uhash_entries=512", "thash_entries=2048",
            "init_on_alloc=0", "slab_nomerge")  # fmt: skip
_BOOTS = 5


def main() -> None:
    """An alarm is any change in any row of any level, any differing table, or any flag."""
    quick = arguments(__doc__ or "").quick
    recipes, boots = (_RECIPES[:1], 3) if quick else (_RECIPES, _BOOTS)
    title("Equal recipes, exact mode")
    comparisons = alarms = 0
    for words in recipes:
        with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
            arms = []
            for number in range(boots):
                with load() if number % 2 else nullcontext():
                    path = record(RecordOptions(output=Path(directory) / f"{number}.boot", append=words))
                arms.append(read_arm(path))
            for one, other in combinations(arms, 2):
                difference = compare_exact(one, other)
                changed = [row.name for level in difference.levels for row in level.changed]
                comparisons += 1
                if changed or difference.flags or difference.whole.changed or not difference.is_equal:
                    alarms += 1
                    names = f"{one.name} and {other.name}"
                    print(f"  alarm: `{words}`, {names}: {changed[:5]} {[flag.text for flag in difference.flags]}")
    line("false alarms", f"{alarms} of {comparisons}", "0")


if __name__ == "__main__":
    main()
