"""Which boots of two arms belong together, and which do not take part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.sides.arms import BootSet, Excluded
from firstlight.comparison.sides.recording_time import recording_time
from firstlight.errors import FirstlightError
from firstlight.stats.estimate import Floats

How = Literal["auto", "names", "none"]
#: Of the boots of the smaller arm so many have a partner next to them in time, or the arms were not recorded in turns.
_LEAST_PAIRED = 0.75
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Pairing:
    """Boots of two arms, in pairs where they are; both lists have one length then, and place by place one pair."""

    a: tuple[Boot, ...]
    b: tuple[Boot, ...]
    paired: bool
    how: str
    """In words."""
    excluded: tuple[Excluded, ...]
    in_turns: bool | None
    """Whether boots of both arms took turns; none where it is unknown when they were recorded."""
    times: dict[Path, datetime]
    """When each boot was recorded, where that is known."""

    @property
    def a_first(self) -> npt.NDArray[np.bool_] | None:
        """Of each pair whether the boot of a was recorded first; None without pairs, or of unknown order."""
        times = [[self.times.get(boot.directory) for boot in arm] for arm in (self.a, self.b)]
        if not self.paired or not all(all(arm) for arm in times):
            return None
        if any(one == other for one, other in zip(*times, strict=True)):
            return None
        return np.array(times[0]) < np.array(times[1])

    def in_order(self, a: Floats, b: Floats) -> Floats | None:
        """A figure of each boot in the order of recording; None where that is unknown.

        :param a: of the boots of a; those of *b* likewise.
        """
        times = [self.times.get(boot.directory) for boot in (*self.a, *self.b)]
        known = [time for time in times if time is not None]
        if len(set(known)) < len(times):
            return None
        return np.concatenate([a, b])[np.argsort(np.array(known), kind="stable")]


@dataclass(frozen=True)
class _Member:
    arm: int
    path: Path
    boot: Boot | None
    """None: excluded."""
    reason: str
    at: datetime | None


def pair(a: BootSet, b: BootSet, how: How = "auto") -> Pairing:
    """Find the pairs of two arms.

    Boots that were recorded next to each other share the state of the machine, and make a pair; so do boots of one name
    in two directories when `how` is `names`. A boot that failed takes its partner with it. Boots that were not recorded
    in turns have no pairs. Equal instants order no boots.

    :param how: `auto` by the instants of the recordings, `names` by the bundles' names, `none` not at all.

    Source: matched pairs; exclusion of whole pairs as in intention-to-treat with the reason kept.
    """
    members = _ordered(_members(a, b))
    neighbours, known = _by_time(members), _is_order_known(members)
    in_turns = (neighbours is not None) if known else None
    if how == "none":
        return _unpaired(members, "the arms are compared without pairs, as requested", in_turns)
    if how == "names":
        return _paired(members, _by_name(members), "pairs by name", in_turns)
    if neighbours is not None:
        return _paired(members, neighbours, "pairs of boots that were recorded next to each other", True)
    if not known:
        return _unpaired(members, "no pairs: the order in which these boots were recorded is unknown", None)
    return _unpaired(members, "no pairs: the arms were not recorded in turns", False)


def _members(a: BootSet, b: BootSet) -> list[_Member]:
    members = []
    for number, arm in enumerate((a, b)):
        members += [_Member(number, boot.directory, boot, "", recording_time(boot)) for boot in arm.boots]
        for each in arm.excluded:
            members.append(_Member(number, each.path, None, each.reason, _instant_of(each.path)))
    return members


def _instant_of(path: Path) -> datetime | None:
    try:
        return recording_time(open_boot(path))
    except FirstlightError:
        return None


def _ordered(members: Sequence[_Member]) -> list[_Member]:
    """The members without instants that order none: those of both arms, and of several boots of one."""
    counts = Counter((each.at, each.arm) for each in members)
    shared = {at for at, _ in counts if counts[at, 0] and counts[at, 1] and counts[at, 0] + counts[at, 1] > 2}
    return [replace(each, at=None) if each.at in shared else each for each in members]


def _by_time(members: Sequence[_Member]) -> list[tuple[_Member, _Member]] | None:
    """Pairs of neighbours; none where the arms did not take turns, or too few instants are known."""
    timed = sorted((each for each in members if each.at is not None), key=lambda each: (each.at, each.path.name))
    pairs: list[tuple[_Member, _Member]] = []
    waiting: _Member | None = None
    for member in timed:
        if waiting is None or waiting.arm == member.arm:
            waiting = member
        else:
            pairs.append((waiting, member) if waiting.arm == 0 else (member, waiting))
            waiting = None
    smaller = min(sum(member.arm == arm for member in members) for arm in (0, 1))
    return pairs if len(pairs) >= 2 and len(pairs) >= _LEAST_PAIRED * smaller else None


def _by_name(members: Sequence[_Member]) -> list[tuple[_Member, _Member]]:
    second = {member.path.name: member for member in members if member.arm == 1}
    return [(one, second[one.path.name]) for one in members if one.arm == 0 and one.path.name in second]


def _is_order_known(members: Sequence[_Member]) -> bool:
    return all(any(each.arm == arm and each.at is not None for each in members) for arm in (0, 1))


def _times(members: Sequence[_Member]) -> dict[Path, datetime]:
    return {each.path: each.at for each in members if each.at is not None}


def _paired(
    members: Sequence[_Member], pairs: Sequence[tuple[_Member, _Member]], how: str, in_turns: bool | None
) -> Pairing:
    a, b, excluded = [], [], []
    for pair in pairs:
        one, other = pair[0].boot, pair[1].boot
        if one is not None and other is not None:
            a.append(one)
            b.append(other)
            continue
        for member, partner in (pair, pair[::-1]):
            reason = member.reason or f"its pair is incomplete: `{partner.path.name}`: {partner.reason}"
            excluded.append(Excluded(member.path, reason))
    inside = {(member.arm, member.path) for pair in pairs for member in pair}
    for member in members:
        if (member.arm, member.path) not in inside:
            excluded.append(Excluded(member.path, member.reason or "no boot of the other arm makes a pair with it"))
    return Pairing(tuple(a), tuple(b), True, how, tuple(excluded), in_turns, _times(members))


def _unpaired(members: Sequence[_Member], how: str, in_turns: bool | None) -> Pairing:
    members = sorted(members, key=lambda each: each.at or _NEVER)
    a, b = (tuple(each.boot for each in members if each.arm == arm and each.boot is not None) for arm in (0, 1))
    excluded = tuple(Excluded(each.path, each.reason) for each in members if each.boot is None)
    return Pairing(a, b, False, how, excluded, in_turns, _times(members))
