"""The testbeds of a history: their boots are never mixed, but an anchor chains two of them by a ratio."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from firstlight.comparison.common.input_changes import OBSERVERS
from firstlight.comparison.testbed import Testbed, differences
from firstlight.errors import UsageError

#: Inputs that belong to the testbed: an anchor has the others in common on both.
TOOLCHAIN = OBSERVERS | {"qemu", "firmware", "guest"}


@dataclass(frozen=True)
class TestbedBoots:
    """A testbed of a history, with its boots in order."""

    __test__ = False  # pytest takes it for a test by its name

    name: str
    """`testbed 1` for the first that the history had."""
    testbed: Testbed
    boots: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Anchor:
    """A label that was booted with equal inputs on two testbeds."""

    at: str
    before: str
    """The name of the earlier testbed, and of the later."""
    after: str
    changed: str
    """What differs between the testbeds, in words."""
    ratio: float
    """Of the total: the later testbed over the earlier."""
    old: tuple[int, ...]
    """The numbers of its boots on the earlier testbed, and on the later."""
    new: tuple[int, ...]


@dataclass(frozen=True)
class ChosenTestbed:
    """One testbed, with what is chained to it."""

    testbed: TestbedBoots
    earlier: tuple[TestbedBoots, ...]
    """Chained by `anchors`, the nearest first."""
    anchors: tuple[Anchor, ...]
    others: tuple[TestbedBoots, ...]

    @property
    def every(self) -> list[dict[str, Any]]:
        """The boots of the testbed and of those that are chained to it, in order."""
        boots = [boot for each in (self.testbed, *self.earlier) for boot in each.boots]
        return sorted(boots, key=lambda boot: int(boot["number"]))


def testbeds_of(boots: Sequence[Mapping[str, Any]]) -> list[TestbedBoots]:
    """The testbeds of some boots, in order of their first boot."""
    by_text: dict[str, list[dict[str, Any]]] = {}
    for boot in boots:
        toolchain = json.loads(boot["inputs"]).get("qemu") if boot["inputs"] else None
        # A security update changes the digest, and not always the version.
        by_text.setdefault(f"{boot['testbed']}\n{toolchain}", []).append(dict(boot))
    return [
        TestbedBoots(f"testbed {number}", Testbed.model_validate_json(text.partition("\n")[0]), tuple(its))
        for number, (text, its) in enumerate(by_text.items(), start=1)
    ]


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
    anchors, earlier, later = [], [], chosen
    left = [each for each in every if each is not chosen]
    while found := next((pair for each in reversed(left) if (pair := _anchor(each, later))), None):
        later = next(each for each in left if each.name == found.before)
        left.remove(later)
        anchors.append(found)
        earlier.append(later)
    return ChosenTestbed(chosen, tuple(earlier), tuple(anchors), tuple(left))


def chained(chosen: ChosenTestbed, values: Mapping[int, int]) -> dict[int, int]:
    """The figures of a series on the chosen testbed: those of earlier testbeds are multiplied by the anchors' ratios.

    :param values: nanoseconds by the numbers of boots.
    :returns: without the boots of earlier testbeds that an anchor replaces, and without those that have no ratio.
    """
    found = {boot["number"]: values[boot["number"]] for boot in chosen.testbed.boots if boot["number"] in values}
    # On the newer testbed an anchor stands at the place of the boot that it repeats.
    ratio = 1.0
    for anchor, bed in zip(chosen.anchors, chosen.earlier, strict=True):
        for number in anchor.new:
            found.pop(number, None)
        old, new = ([values[number] for number in side if number in values] for side in (anchor.old, anchor.new))
        if not old or not new or median(old) <= 0:
            step = 1.0 if not any(old) and not any(new) else 0.0
        else:
            step = median(new) / median(old)
        ratio *= step
        if ratio:
            found |= {
                boot["number"]: round(values[boot["number"]] * ratio) for boot in bed.boots if boot["number"] in values
            }
    return found


def _anchor(before: TestbedBoots, after: TestbedBoots) -> Anchor | None:
    """The newest label that both testbeds booted with equal inputs, apart from the toolchain."""
    if before.testbed.mode != after.testbed.mode or before.boots[0]["number"] > after.boots[0]["number"]:
        return None
    changed = differences(before.testbed, after.testbed)
    if changed.keys() - {"emulator"}:
        return None
    for boot in reversed(after.boots):
        old = [each for each in before.boots if each["label"] == boot["label"] and _same_inputs(each, boot)]
        if old:
            new = [each for each in after.boots if each["label"] == boot["label"]]
            ratio = median(each["total_ns"] for each in new) / median(each["total_ns"] for each in old)
            words = "; ".join(changed.values()) or "another build of QEMU"
            numbers = [tuple(int(each["number"]) for each in side) for side in (old, new)]
            return Anchor(str(boot["label"]), before.name, after.name, words, ratio, numbers[0], numbers[1])
    return None


def _same_inputs(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    first, second = (json.loads(each["inputs"]) for each in (one, other))
    if "command_line" not in first.keys() & second.keys():  # an earlier version stored none
        first, second = ({**each, "command_line": None} for each in (first, second))
    return all(first.get(name) == second.get(name) for name in first.keys() | second.keys() if name not in TOOLCHAIN)
