"""The testbeds of a history: their boots are never mixed, but an anchor chains two of them by a ratio."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median
from typing import Any

from firstlight.comparison.sides.input_changes import OBSERVERS
from firstlight.comparison.testbed import Testbed, combined, differences
from firstlight.errors import UsageError
from firstlight.escape import printable
from firstlight.recipe.mode import RecordMode
from firstlight.stats.change_points import change_points

#: Inputs that belong to the testbed: an anchor has the others in common on both.
TOOLCHAIN = OBSERVERS | {"qemu", "firmware", "guest"}

#: Ratios of exact anchors contradict each other, in whatever order, if they differ by more than this without the lowest
#: and the highest tenth.
_MOST_SPREAD = 0.01
#: A ratio as a level of a series, which has whole numbers.
_PARTS = 10**9

_BedBoots = tuple[Testbed, list[dict[str, Any]]]


@dataclass(frozen=True)
class TestbedBoots:
    """A testbed of a history, with its boots in order."""

    __test__ = False  # pytest takes it for a test by its name

    name: str
    """`testbed 1` for the first that the history had."""
    testbed: Testbed
    boots: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class AnchorLabel:
    """A label that was booted with equal inputs on two testbeds."""

    at: str
    ratio: float
    """Of the total: the later testbed over the earlier."""
    old: tuple[int, ...]
    """The numbers of its boots on the earlier testbed, and on the later."""
    new: tuple[int, ...]


@dataclass(frozen=True)
class Anchor:
    """All labels that were booted with equal inputs on two testbeds."""

    before: str
    """The name of the earlier testbed, and of the later."""
    after: str
    changed: str
    """What differs between the testbeds, in words."""
    labels: tuple[AnchorLabel, ...]
    """In order of the earlier testbed."""
    contradiction: str = ""
    """Why the labels show no ratio of the testbeds; empty where they agree."""

    @property
    def at(self) -> str:
        """The newest label."""
        return self.labels[-1].at

    @property
    def ratio(self) -> float:
        """Of the total: the median of all labels."""
        return median(each.ratio for each in self.labels)


@dataclass(frozen=True)
class ChosenTestbed:
    """One testbed, with what is chained to it."""

    testbed: TestbedBoots
    earlier: tuple[TestbedBoots, ...]
    """Chained by `anchors`, the nearest first."""
    anchors: tuple[Anchor, ...]
    others: tuple[TestbedBoots, ...]
    contradictions: tuple[str, ...] = ()
    """Why testbeds that have labels in common are not chained."""

    @property
    def every(self) -> list[dict[str, Any]]:
        """The boots of the testbed and of those that are chained to it, in order."""
        boots = [boot for each in (self.testbed, *self.earlier) for boot in each.boots]
        return sorted(boots, key=lambda boot: int(boot["number"]))


def testbeds_of(boots: Sequence[Mapping[str, Any]]) -> list[TestbedBoots]:
    """The testbeds of some boots, in order of their first boot.

    Imported boots whose records state no difference of the machine are of one testbed. Boots that fit two machines are
    a testbed of their own.
    """
    by_text: dict[str, list[dict[str, Any]]] = {}
    for boot in boots:
        toolchain = json.loads(boot["inputs"]).get("qemu") if boot["inputs"] else None
        # A security update changes the digest, and not always the version.
        by_text.setdefault(f"{boot['testbed']}\n{toolchain}", []).append(dict(boot))
    found = [(Testbed.model_validate_json(text.partition("\n")[0]), its) for text, its in by_text.items()]
    return [
        TestbedBoots(f"testbed {number}", bed, tuple(its))
        for number, (bed, its) in enumerate(_by_machine(found), start=1)
    ]


def what_differs(one: TestbedBoots, other: TestbedBoots) -> str:
    """Why the boots of two testbeds are not mixed, in words."""
    if found := differences(one.testbed, other.testbed):
        return "; ".join(found.values())
    if one.testbed.mode == RecordMode.IMPORTED:
        return "the records of one do not state which of several machines it is"
    return "another build of QEMU"


def _by_machine(beds: Sequence[_BedBoots]) -> list[_BedBoots]:
    """Put imported boots together whose records differ only in what they state of their machine."""
    fits = {
        place: [
            other for other, (its, _) in enumerate(beds)
            if other != place and bed.mode == RecordMode.IMPORTED and not differences(bed, its)
        ]
        for place, (bed, _) in enumerate(beds)
    }  # fmt: skip
    # What fits two testbeds that differ may be of either.
    alone = {
        place for place, others in fits.items()
        if any(differences(beds[one][0], beds[other][0]) for one, other in combinations(others, 2))
    }  # fmt: skip
    groups: list[_BedBoots] = []
    done: set[int] = set()
    for place, (bed, boots) in enumerate(beds):
        if place in done:
            continue
        together = [] if place in alone else [other for other in fits[place] if other not in alone]
        done.update(together)
        for other in together:
            bed, boots = combined(bed, beds[other][0]), [*boots, *beds[other][1]]
        groups.append((bed, sorted(boots, key=lambda boot: int(boot["number"]))))
    return groups


def select_testbed(boots: Sequence[Mapping[str, Any]], name: str | None = None) -> ChosenTestbed:
    """The testbed of the newest boot, or another one, with all that anchors chain to it.

    :raises UsageError: when there are no boots, or no such testbed.
    """
    if not boots:
        raise UsageError("this history is empty", hint="`firstlight history add HISTORY BOOT --at LABEL`")
    every = testbeds_of(boots)
    newest = max(every, key=lambda each: int(each.boots[-1]["number"]))
    chosen = newest if name is None else next((each for each in every if name in (each.name, each.name[8:])), None)
    if chosen is None:
        names = ", ".join(f"`{each.name}`" for each in every)
        raise UsageError(f"there is no `{name}` in this history", where="--testbed", hint=f"there are: {names}")
    pairs = {
        (one.name, other.name): anchor
        for one, other in combinations(every, 2)
        if (anchor := _anchor(one, other)) is not None
    }
    anchors, earlier, later = [], [], chosen
    left = [each for each in every if each is not chosen]
    while found := next(
        (pair for each in reversed(left) if (pair := pairs.get((each.name, later.name))) and not pair.contradiction),
        None,
    ):
        later = next(each for each in left if each.name == found.before)
        left.remove(later)
        anchors.append(found)
        earlier.append(later)
    inside = {chosen.name, *(each.name for each in earlier)}
    contradictions = tuple(
        pair.contradiction for names, pair in pairs.items() if pair.contradiction and inside & set(names)
    )
    return ChosenTestbed(chosen, tuple(earlier), tuple(anchors), tuple(left), contradictions)


def chained(chosen: ChosenTestbed, values: Mapping[int, int]) -> dict[int, int]:
    """The figures of a series on the chosen testbed: those of earlier testbeds are multiplied by the anchors' ratios.

    :param values: nanoseconds by the numbers of boots.
    :returns: without the boots of earlier testbeds that an anchor replaces, and without those that have no ratio.
    """
    found = {boot["number"]: values[boot["number"]] for boot in chosen.testbed.boots if boot["number"] in values}
    # On the newer testbed an anchor stands at the place of the boot that it repeats.
    ratio = 1.0
    for anchor, bed in zip(chosen.anchors, chosen.earlier, strict=True):
        for label in anchor.labels:
            for number in label.new:
                found.pop(number, None)
        ratio *= _ratio(anchor, values)
        if ratio:
            found |= {
                boot["number"]: round(values[boot["number"]] * ratio) for boot in bed.boots if boot["number"] in values
            }
    return found


def _ratio(anchor: Anchor, values: Mapping[int, int]) -> float:
    """The later testbed over the earlier one, of one series: the median of all labels; 0 where there is none."""
    known = [
        (median(values[number] for number in label.old), median(values[number] for number in label.new))
        for label in anchor.labels
        if all(number in values for number in (*label.old, *label.new))
    ]
    ratios = [new / old for old, new in known if old > 0]
    if ratios:
        return median(ratios)
    return 1.0 if known and not any(new for _, new in known) else 0.0


def _anchor(before: TestbedBoots, after: TestbedBoots) -> Anchor | None:
    """The labels that both testbeds booted with equal inputs, apart from the toolchain."""
    if RecordMode.IMPORTED in (before.testbed.mode, after.testbed.mode):  # no QEMU that could be another build
        return None
    if before.testbed.mode != after.testbed.mode or before.boots[0]["number"] > after.boots[0]["number"]:
        return None
    changed = differences(before.testbed, after.testbed)
    if changed.keys() - {"emulator"}:
        return None
    older, newer = _by_label(before.boots), _by_label(after.boots)
    labels: dict[str, AnchorLabel] = {}
    for boot in before.boots:
        at = str(boot["label"])
        new = [each for each in newer.get(at, ()) if _same_inputs(boot, each)]
        if at in labels or not new:
            continue
        old = [each for each in older[at] if _same_inputs(each, boot)]
        sides = [median(each["total_ns"] for each in side) for side in (new, old)]
        if sides[1] > 0:
            numbers = [tuple(int(each["number"]) for each in side) for side in (old, new)]
            labels[at] = AnchorLabel(at, sides[0] / sides[1], numbers[0], numbers[1])
    if not labels:
        return None
    words = what_differs(before, after)
    found = tuple(labels.values())
    exact = before.testbed.mode == RecordMode.EXACT
    return Anchor(before.name, after.name, words, found, _contradiction(before.name, after.name, found, exact=exact))


def _by_label(boots: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for boot in boots:
        found.setdefault(str(boot["label"]), []).append(boot)
    return found


def _contradiction(before: str, after: str, labels: Sequence[AnchorLabel], *, exact: bool) -> str:
    """Which ratios of two testbeds contradict each other, in words; empty where all labels show one."""
    ratios = [each.ratio for each in labels]
    changes = change_points([[round(ratio * _PARTS)] for ratio in ratios], exact=exact)
    # A single label in between that strays does not move the median.
    moves = {
        each.place for each in changes
        if each.kind in ("step", "creep") and (each.status == "lasts" or (exact and not each.went_back))
    }  # fmt: skip
    left_out = max(1, len(ratios) // 10) if len(ratios) > 3 else 0
    middle = sorted(ratios)[left_out : len(ratios) - left_out]
    if not moves and not (exact and middle[-1] > middle[0] * (1 + _MOST_SPREAD)):
        return ""
    edges = sorted({0, *moves, len(labels)})
    groups = [labels[first:last] for first, last in pairwise(edges)]
    if len(groups) > 3 or not moves:
        low, high = (choose(labels, key=lambda each: each.ratio) for choose in (min, max))
        shown = f"{low.ratio:.5g} at {printable(low.at, 40)}, {high.ratio:.5g} at {printable(high.at, 40)}"
    else:
        shown = ", then ".join(_group_text(group) for group in groups)
    return f"{before} and {after} contradict each other: the ratio of their totals is {shown}"


def _group_text(labels: Sequence[AnchorLabel]) -> str:
    ratio = f"{median(each.ratio for each in labels):.5g}"
    first, last = (printable(each.at, 40) for each in (labels[0], labels[-1]))
    return f"{ratio} at {first}" if len(labels) == 1 else f"{ratio} from {first} to {last} ({len(labels)} labels)"


def _same_inputs(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    first, second = (json.loads(each["inputs"]) for each in (one, other))
    if "command_line" not in first.keys() & second.keys():  # an earlier version stored none
        first, second = ({**each, "command_line": None} for each in (first, second))
    return all(first.get(name) == second.get(name) for name in first.keys() | second.keys() if name not in TOOLCHAIN)
