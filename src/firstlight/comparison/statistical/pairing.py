"""Which boots of two arms belong together, and which do not take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from firstlight.bundle.boot import Boot
from firstlight.bundle.open import read_manifest
from firstlight.comparison.common.arms import BootSet, Excluded
from firstlight.errors import FirstlightError

How = Literal["auto", "names", "none"]
#: Of the boots of the smaller arm so many have a partner beside them in time, or the arms were not interleaved.
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
    interleaved: bool | None
    """Whether boots of both arms took turns; none where nobody knows when they were."""
    a_first: bool = True
    """Where they did not: whether those of a were before those of b."""


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
    in turns have no pairs.

    :param how: `auto` by the instants of the recordings, `names` by the bundles' names, `none` not at all.

    Source: matched pairs; exclusion of whole pairs as in intention-to-treat with the reason kept.
    """
    members = _members(a, b)
    if how == "none":
        return _unpaired(members, "the arms are compared without pairs, as asked", _interleaved(members))
    if how == "names":
        return _paired(members, _by_name(members), "pairs by name", _interleaved(members))
    pairs = _by_time(members)
    if pairs is not None:
        return _paired(members, pairs, "pairs of boots that were recorded next to each other", True)
    if all(member.boot is None or member.boot.manifest.mode == "imported" for member in members):
        return _unpaired(members, "no pairs: imported boots do not tell in which order they were", None)
    return _unpaired(members, "no pairs: the arms were not recorded in turns", _interleaved(members))


def _members(a: BootSet, b: BootSet) -> list[_Member]:
    members = []
    for number, arm in enumerate((a, b)):
        members += [_Member(number, boot.directory, boot, "", _instant(boot.manifest.recorded_at, boot.manifest.mode))
                    for boot in arm.boots]  # fmt: skip
        for each in arm.excluded:
            members.append(_Member(number, each.path, None, each.reason, _instant_of(each.path)))
    return members


def _instant_of(path: Path) -> datetime | None:
    try:
        manifest = read_manifest(path)
    except FirstlightError:
        return None
    return _instant(manifest.recorded_at, manifest.mode)


def _instant(text: str, mode: str) -> datetime | None:
    """When a boot was; of an imported one the manifest only tells when it was imported."""
    if mode == "imported":
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


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


def _interleaved(members: Sequence[_Member]) -> bool | None:
    """Whether it is not so that all boots of one arm were before all of the other."""
    times: tuple[list[datetime], list[datetime]] = ([], [])
    for member in members:
        if member.at is not None:
            times[member.arm].append(member.at)
    if not times[0] or not times[1]:
        return None
    return not (max(times[0]) < min(times[1]) or max(times[1]) < min(times[0]))


def _paired(
    members: Sequence[_Member], pairs: Sequence[tuple[_Member, _Member]], how: str, interleaved: bool | None
) -> Pairing:
    a, b, excluded = [], [], []
    for pair in pairs:
        one, other = pair[0].boot, pair[1].boot
        if one is not None and other is not None:
            a.append(one)
            b.append(other)
            continue
        for member, partner in (pair, pair[::-1]):
            reason = member.reason or f"its pair is not whole: `{partner.path.name}`: {partner.reason}"
            excluded.append(Excluded(member.path, reason))
    inside = {(member.arm, member.path) for pair in pairs for member in pair}
    for member in members:
        if (member.arm, member.path) not in inside:
            excluded.append(Excluded(member.path, member.reason or "no boot of the other arm makes a pair with it"))
    return Pairing(tuple(a), tuple(b), True, how, tuple(excluded), interleaved)


def _unpaired(members: Sequence[_Member], how: str, interleaved: bool | None) -> Pairing:
    members = sorted(members, key=lambda each: each.at or _NEVER)
    a, b = (tuple(each.boot for each in members if each.arm == arm and each.boot is not None) for arm in (0, 1))
    excluded = tuple(Excluded(each.path, each.reason) for each in members if each.boot is None)
    first = min((each for each in members if each.at is not None), key=lambda each: (each.at, each.arm), default=None)
    return Pairing(a, b, False, how, excluded, interleaved, first is None or first.arm == 0)
