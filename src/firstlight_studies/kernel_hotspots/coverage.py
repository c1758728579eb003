"""How much of a kernel a boot runs: functions entered and their bytes, of those linked, by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from firstlight_studies.kernel_hotspots.linked import Linked


@dataclass(frozen=True)
class Covered:
    """What one stage of the boot executed."""

    stage: str
    functions: int
    """Names of functions that ran in it: where several share a name, one is counted."""
    first: int
    """Of these, those that ran here first."""
    size: int
    """Bytes of those that ran: whole functions, also where only some of their instructions ran; of a shared name the
    smallest one's."""
    first_size: int
    init: int
    """Of the functions those that stand in the part of the text that is freed after the start."""


@dataclass(frozen=True)
class Coverage:
    """Of a whole boot."""

    linked: int
    linked_size: int
    linked_init: int
    stages: tuple[Covered, ...]
    whole: Covered
    unknown: tuple[str, ...]
    """Executed, and not among the linked: code made at run time, or of modules."""
    ambiguous: int
    """Names that ran and that several functions have: at most so many names stand for more than was counted."""


def coverage(linked: Linked, stages: Iterable[tuple[str, Iterable[str]]]) -> Coverage:
    """Hold what ran against what is linked.

    :param stages: in the order of the boot, each with the names of the functions that ran in it.

    >>> from firstlight_studies.kernel_hotspots.linked import LinkedFunction
    >>> linked = Linked((LinkedFunction("a", 10, True), LinkedFunction("b", 20, False)))
    >>> found = coverage(linked, [("one", ["a"]), ("two", ["a", "b"])])
    >>> [(each.functions, each.first, each.first_size) for each in found.stages], found.whole.size
    ([(1, 1, 10), (2, 1, 20)], 30)
    """
    size: dict[str, int] = {}
    init: dict[str, bool] = {}
    for each in linked.functions:
        size[each.name] = min(size.get(each.name, each.size), each.size)
        init[each.name] = init.get(each.name, True) and each.init
    several = linked.names()
    seen: set[str] = set()
    unknown: set[str] = set()
    rows = []
    for stage, names in stages:
        ran = set(names)
        unknown |= ran - size.keys()
        ran &= size.keys()
        rows.append(_covered(stage, ran, ran - seen, size, init))
        seen |= ran
    return Coverage(
        linked=len(linked.functions),
        linked_size=linked.size,
        linked_init=sum(each.init for each in linked.functions),
        stages=tuple(rows),
        whole=_covered("whole boot", seen, seen, size, init),
        unknown=tuple(sorted(unknown)),
        ambiguous=sum(several[name] > 1 for name in seen),
    )


def _covered(stage: str, ran: set[str], first: set[str], size: Mapping[str, int], init: Mapping[str, bool]) -> Covered:
    return Covered(
        stage,
        len(ran),
        len(first),
        sum(size[name] for name in ran),
        sum(size[name] for name in first),
        sum(init[name] for name in ran),
    )
