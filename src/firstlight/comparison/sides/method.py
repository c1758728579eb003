"""Which way boots of one recipe can be compared: exactly, by statistics, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.equality import equal_tables
from firstlight.bundle.manifest import BootState
from firstlight.comparison.sides.arms import BootSet, CompareError, Excluded
from firstlight.comparison.sides.input_changes import recipe_changes
from firstlight.errors import UnhealthyBootError
from firstlight.quantities import joined
from firstlight.recipe.mode import RecordMode
from firstlight.schema.spans import SpanKind

#: Spans whose names are what a boot did; workers, processes and events have numbers that differ every time.
_EVENTS = (SpanKind.PHASE, SpanKind.INITCALL, SpanKind.UNIT, SpanKind.MOUNT)
#: So many of the boots have to do the same, or the recipe is not fit to be timed.
_LEAST_SHARE = 0.75
_MOST_NAMED = 5

Events = Counter[tuple[str, str]]


class Method(StrEnum):
    """How figures of boots of one recipe are to be compared."""

    EXACT = "exact"
    """Every repeat is equal: whole numbers, one boot a side."""
    NOISY = "noisy"
    """The same happens, in other times: statistics."""
    UNSTABLE = "unstable"
    """Not the same happens: a matter of health, not of time."""


@dataclass(frozen=True)
class MethodReport:
    """The method of some boots of one recipe, and why."""

    method: Method
    reasons: tuple[str, ...]
    """In words, for people."""


def decide_method(first: Boot, second: Boot) -> MethodReport:
    """Decide from two boots of one recipe how such boots are to be compared.

    Equal tables: exact. The same marks, phases, initcalls, units and mounts at other times: noisy. Others: unstable.

    :raises CompareError: when the two are not of one recipe; a plugin that only watches may differ.

    Source: statistics belong to what varies; a deterministic boot is compared as a whole number (the rule of
    `benchstat`'s `assume=exact`).

    >>> boot = firstlight.open(bundle)
    >>> decide_method(boot, boot).reasons
    ('both are the same recording: record a second one to learn more',)
    """
    _check_one_recipe(first, second)
    exact = first.manifest.mode == RecordMode.EXACT
    if first.directory.resolve() == second.directory.resolve():
        method = Method.EXACT if exact else Method.NOISY
        return MethodReport(method, ("both are the same recording: record a second one to learn more",))
    failed = [boot.directory.name for boot in (first, second) if boot.manifest.status == BootState.FAILED]
    if failed:
        reason = f"{' and '.join(f'`{name}`' for name in failed)} did not come up"
        return MethodReport(Method.UNSTABLE, (reason,))
    if equal_tables(first, second):
        if exact:
            return MethodReport(Method.EXACT, ("all tables are equal, byte for byte",))
        reason = f"two {first.manifest.mode} boots with equal tables are copies, so they count as one boot"
        return MethodReport(Method.NOISY, (reason,))
    different = event_difference(events_of(first), events_of(second))
    if different:
        return MethodReport(Method.UNSTABLE, different)
    reasons = ["the same happens in both, at different times"]
    if exact:
        reasons.append("exact boots should be equal: run `firstlight verify`")
    return MethodReport(Method.NOISY, tuple(reasons))


def method_of(boots: Sequence[Boot]) -> MethodReport:
    """The method of an arm: the worst that its first boot and any other one give.

    :param boots: of one recipe, at least one; of one exact boot it is supposed that a repeat would be equal.
    :raises CompareError: when they are not of one recipe.

    >>> method_of([firstlight.open(bundle)]).method
    <Method.EXACT: 'exact'>
    """
    if len(boots) == 1:
        mode = boots[0].manifest.mode
        if mode == RecordMode.EXACT:
            reason = "one recording in exact mode: `firstlight verify` checks that a repetition is equal"
            return MethodReport(Method.EXACT, (reason,))
        return MethodReport(Method.NOISY, (f"one boot in {mode} mode does not show how boots vary",))
    order = list(Method)
    reports = [decide_method(boots[0], other) for other in boots[1:]]
    worst = max(reports, key=lambda report: order.index(report.method))
    reasons = [reason for report in reports if report.method == worst.method for reason in report.reasons]
    return MethodReport(worst.method, tuple(dict.fromkeys(reasons)))


def keep_alike(arm: BootSet) -> BootSet:
    """An arm with those of its boots that did the same; the others are excluded, each with what was different.

    :raises UnhealthyBootError: when less than three quarters did the same: such boots are not to be timed.
    """
    signatures = [events_of(boot) for boot in arm.boots]
    keys = [tuple(sorted(events.items())) for events in signatures]
    most, number = Counter(keys).most_common(1)[0]
    usual = signatures[keys.index(most)]
    if number < _LEAST_SHARE * len(keys):
        others = [events for events, key in zip(signatures, keys, strict=True) if key != most]
        reasons = event_difference(usual, others[0])
        message = f"unstable: only {number} of {len(keys)} boots did the same work, so their times cannot be compared; "
        hint = "run `firstlight show` for both kinds; boots that do different work are a problem of health"
        raise UnhealthyBootError(message + "; ".join(reasons), where=arm.name, hint=hint)
    kept, excluded = [], list(arm.excluded)
    for boot, events, key in zip(arm.boots, signatures, keys, strict=True):
        if key == most:
            kept.append(boot)
        else:
            reason = "other events than in the other boots: " + "; ".join(event_difference(usual, events))
            excluded.append(Excluded(boot.directory, reason))
    return BootSet(arm.name, tuple(kept), tuple(excluded))


def events_of(boot: Boot) -> Events:
    """What happened in a boot, however long it took: its marks, phases, initcalls, units and mounts, with how often.

    >>> events_of(firstlight.open(bundle))["mark", "ready"]
    1
    """
    spans = boot.spans().filter(pl.col("kind").is_in(_EVENTS)).select("kind", "name")
    return Counter([*(("mark", mark) for mark in boot.marks()["mark"].to_list()), *spans.iter_rows()])


def event_difference(usual: Events, other: Events) -> tuple[str, ...]:
    """What one boot did and another did not, in words; nothing when they did the same.

    >>> event_difference(Counter({("mark", "ready"): 1, ("unit", "a"): 1}), Counter({("mark", "ready"): 1}))
    ('lacks unit `a`',)
    """
    reasons = []
    for word, events in (("lacks", usual - other), ("has besides", other - usual)):
        names = [f"{kind} `{name}`" for kind, name in sorted(events)]
        if names:
            reasons.append(f"{word} {joined(names, _MOST_NAMED)}")
    return tuple(reasons)


def _check_one_recipe(first: Boot, second: Boot) -> None:
    one, other = first.manifest, second.manifest
    if one.mode != other.mode:
        message = f"not of the same recipe: {one.mode} mode and {other.mode} mode"
        raise CompareError(message, where=str(second.directory), hint="record both in one mode")
    if changed := recipe_changes(one, other):
        names = ", ".join(f"`{change.name}`" for change in changed[:_MOST_NAMED])
        message = f"not of the same recipe: `{first.directory.name}` and `{second.directory.name}` differ in {names}"
        raise CompareError(
            message, where=str(second.directory), hint="`firstlight compare` shows the effect of a change"
        )
