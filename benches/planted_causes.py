"""Planted causes: does `firstlight explain` name each with its true cost, and nothing in clean boots?"""

from __future__ import annotations

import argparse
import re
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import plants

from firstlight.advise.findings import Explanation, explain
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.errors import FirstlightError
from firstlight.experiment import boot_cache

#: The share of the causes that have to be named first or second, with a cost this near to the true one.
TARGET = 0.9
NEAR = 0.1
#: Recipes without a known cause: nothing may be named in them.
CLEAN: tuple[dict[str, Any], ...] = (
    {},
    {"memory": "256M"},
    {"memory": "1G"},
    {"append": "quiet"},
    {"machine": "pc-i440fx-7.2"},
)
QUICK = ("a sleep", "initcalls printed", "loop devices")


@dataclass(frozen=True)
class Cause:
    """One planted cause."""

    name: str
    entries: tuple[str, ...]
    change: dict[str, Any]
    base: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """What was named for a planted cause."""

    cause: Cause
    rank: int | None
    cost_ns: int | None
    true_ns: int

    @property
    def error(self) -> float | None:
        """How far the cost is from the true one, as a part of that."""
        return (
            None if self.cost_ns is None or not self.true_ns else abs(self.cost_ns - self.true_ns) / abs(self.true_ns)
        )

    @property
    def right(self) -> bool:
        """Whether it is named first or second with the true cost."""
        return self.rank is not None and self.rank <= 2 and self.error is not None and self.error <= NEAR

    def row(self, first: str) -> str:
        """As a row of the table."""
        cost = "-" if self.cost_ns is None else f"{self.cost_ns / 1e6:.3f} ms"
        error = "-" if self.error is None else f"{self.error:.1%}"
        verdict = "yes" if self.right else "**no**"
        ids = ", ".join(self.cause.entries)
        true = f"{self.true_ns / 1e6:.3f} ms"
        cells = (self.cause.name, ids, verdict, str(self.rank or "-"), cost, true, error, first)
        return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a row for each cause and each clean boot, and what share is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"plant {len(QUICK)} causes alone")
    parser.add_argument("--boots", type=Path, help="a folder that stores the boots (default: the cache alone)")
    parser.add_argument("--only", help="a regular expression on the names of causes")
    given = parser.parse_args()
    clean, causes = read_causes()
    if given.quick:
        causes = [cause for cause in causes if cause.name in QUICK]
    if given.only:
        causes = [cause for cause in causes if re.search(given.only, cause.name)]
    print("| planted | entry | right | rank | cost | true cost | off by | named first |")
    print("|---|---|---|---:|---:|---:|---:|---|")
    right = 0
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as temporary:
        bench = Bench(clean, given.boots, Path(temporary))
        for cause in causes:
            try:
                score, found = bench.score(cause)
            except FirstlightError as error:
                print(f"| {cause.name} | {', '.join(cause.entries)} | **no** | - | - | - | - | {error} |", flush=True)
                continue
            right += score.right
            first = found.findings[0].entry.id if found.findings else "nothing"
            print(score.row(first), flush=True)
        recipes = () if given.only else CLEAN
        wrong = sum(len(bench.named_in_clean(recipe)) for recipe in recipes)
    print(f"\n{right} of {len(causes)} are right ({right / max(1, len(causes)):.1%}); target {TARGET:.0%}")
    if recipes:
        print(f"{wrong} causes are named in {len(recipes)} clean boots; target 0")
    else:
        print("The clean boots were left out: --only chooses planted causes alone.")
    if right < TARGET * len(causes) or wrong:
        raise SystemExit(1)


def read_causes() -> tuple[str, list[Cause]]:
    """The words of clean boots, and all planted causes in the order of `causes.toml`."""
    data = tomllib.loads((Path(__file__).parent / "measuring" / "causes.toml").read_text(encoding="utf-8"))
    return data["clean"], [Cause(**{**each, "entries": tuple(each["entries"])}) for each in data["cause"]]


class Bench:
    """Records the boots of causes, and scores what is explained."""

    def __init__(self, clean: str, boots: Path | None, folder: Path) -> None:
        self._clean, self._boots, self._folder = clean, boots, folder

    def score(self, cause: Cause) -> tuple[Score, Explanation]:
        """One planted cause."""
        before, after = (
            self.boot(cause.base, _base_name(cause)),
            self.boot(cause.change, cause.name),
        )
        found = explain(after)
        true = found.whole_ns - explain_length(before)
        order = [each.entry.id for each in (*found.findings, *found.features)]
        ranked = sorted((*found.findings, *found.features), key=lambda each: -each.cost.system_ns)
        causes = [each.entry.id for each in found.findings]
        named = next((each for each in ranked if each.entry.id in cause.entries), None)
        if named is None:
            return Score(cause, None, None, true), found
        place = causes if named.entry.id in causes else order
        return Score(cause, place.index(named.entry.id) + 1, named.cost.ns, true), found

    def named_in_clean(self, recipe: dict[str, Any]) -> list[str]:
        """The causes that are named in a boot that has none."""
        found = explain(self.boot(recipe, "clean-" + "-".join(map(str, recipe.values()))))
        names = [each.entry.id for each in found.findings]
        cells = (f"clean: {recipe or 'default'}", "", "**no**" if names else "yes", "", "", "", "")
        print(f"| {' | '.join(cells)} | {', '.join(names) or 'nothing'} |", flush=True)
        return names

    def boot(self, recipe: dict[str, Any], name: str) -> Boot:
        """The boot of a recipe, from the folder of boots where it is there."""
        recipe = dict(recipe)
        if not recipe.pop("stock", False):
            recipe["append"] = f"{self._clean} {recipe.get('append', '')}".strip()
        if self._boots is None:
            return plants.boot(recipe, self._folder)
        place = self._boots / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".boot")
        if not place.exists():
            self._boots.mkdir(parents=True, exist_ok=True)
            boot_cache.copy(plants.boot(recipe, self._folder).directory, place)
        return open_boot(place)


def _base_name(cause: Cause) -> str:
    """What the boot without a cause is stored as: equal recipes share one."""
    if not cause.base:
        return "clean"
    parts = [f"{name} {value}" for name, value in sorted(cause.base.items())]
    return "base " + " ".join(parts)


def explain_length(boot: Boot) -> int:
    """The length of a boot's critical path."""
    from firstlight.analysis.path.critical import find_path

    path = find_path(boot)
    return path.goal_ns - path.first_ns


if __name__ == "__main__":
    main()
