"""The search for the remedies that pay together.

A forward search rejects remedies that only pay together: a mask that makes a boot slower while another wait stands on
the path. So it goes backwards. Every remedy is priced alone; then all of them are applied, and those that give nothing
there are left out; then pairs that share a wait are tried. Where the budget is small, the most promising remedies go
through these steps first, and the others in later rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations

Choice = frozenset[str]
"""Remedies that are applied together, by their names."""


class SearchStep(StrEnum):
    """Why the search measured something."""

    BASELINE = "baseline"
    ALONE = "alone"
    TOGETHER = "together"
    WITHOUT = "without"
    PAIR = "pair"


@dataclass(frozen=True)
class Measured:
    """The result of a boot with some remedies."""

    time_ns: int | None
    """The time of the goal; none where the boot does not count."""
    why: str = ""
    """Why it does not count."""

    @property
    def counts(self) -> bool:
        """Whether the boot came up, reached the goal and is healthy."""
        return self.time_ns is not None and not self.why


@dataclass(frozen=True)
class Trial:
    """One measurement of the search."""

    choice: Choice
    step: SearchStep
    measured: Measured


Measure = Callable[[Sequence[Choice]], Sequence[Measured]]
"""Measures choices; several at a time may run in parallel."""


@dataclass
class Found:
    """What a search found."""

    kept: Choice
    trials: list[Trial]
    rejected: dict[str, str]
    """Why, by the names of the remedies."""
    complete: bool
    """Whether the budget was sufficient."""

    def time(self, choice: Collection[str]) -> int | None:
        """The time of a choice, if it was measured and counts."""
        wanted = frozenset(choice)
        found = next((each.measured for each in self.trials if each.choice == wanted), None)
        return found.time_ns if found is not None and found.counts else None


class _SpentError(Exception):
    """The budget does not allow another boot."""


@dataclass
class _Search:
    measure: Measure
    budget: int
    trials: dict[Choice, Trial] = field(default_factory=dict)

    @property
    def round(self) -> int:
        """How many remedies may be tried alone now: what they do together needs a third of the boots that are left."""
        return max(1, (self.budget - len(self.trials) - 2) * 2 // 3)

    def all_of(self, choices: Sequence[Choice], step: SearchStep) -> list[Measured]:
        """Measure several choices.

        :raises _SpentError: when the budget does not allow all of them; those that it does are measured.
        """
        new = [choice for choice in dict.fromkeys(choices) if choice not in self.trials]
        allowed = new[: max(0, self.budget - len(self.trials))]
        if allowed:
            for choice, measured in zip(allowed, self.measure(allowed), strict=True):
                self.trials[choice] = Trial(choice, step, measured)
        if len(allowed) < len(new):
            raise _SpentError
        return [self.trials[choice].measured for choice in choices]

    def one(self, choice: Choice, step: SearchStep) -> Measured:
        return self.all_of([choice], step)[0]


def search(
    names: Sequence[str], measure: Measure, budget: int, waits: Mapping[str, Collection[str]], least: float = 0.001
) -> Found:
    """Find the remedies that pay together.

    :param names: the remedies, the most promising first.
    :param budget: the number of boots, the baseline's included; at least 1.
    :param waits: the waits that a remedy shares with others, by its name.
    :param least: the share of the baseline's time that a remedy must give to be kept.

    Two remedies that only pay together:

    >>> def boots(choices):
    ...     together = lambda choice: 60 if {"mask", "entropy"} <= choice else 110 if "mask" in choice else 100
    ...     return [Measured(together(choice)) for choice in choices]
    >>> sorted(search(["mask", "entropy"], boots, 20, {"mask": ["w"], "entropy": ["w"]}).kept)
    ['entropy', 'mask']
    """
    run = _Search(measure, budget)
    rejected: dict[str, str] = {}
    kept: Choice = frozenset()
    complete = True
    try:
        baseline = run.one(frozenset(), SearchStep.BASELINE)
        if baseline.counts and baseline.time_ns is not None:
            tolerance = max(1, round(baseline.time_ns * least))
            able: list[str] = []
            untried = names
            while untried:
                tried, untried = untried[: run.round], untried[run.round :]
                gains = _alone(run, tried, waits, baseline.time_ns, tolerance, rejected)
                able += gains
                kept = _together(run, [*(name for name in able if name in kept), *gains], rejected)
                kept = _backwards(run, kept, tolerance, rejected)
            kept = _pairs(run, kept, able, waits, tolerance, rejected)
            kept = _backwards(run, kept, tolerance, rejected)
    except _SpentError:
        complete = False
        kept = _best(run)
    for name in names:
        if name in kept:
            rejected.pop(name, None)
        elif name not in rejected:
            alone = run.trials.get(frozenset([name]))
            rejected[name] = "the budget ended before it was " + ("tried" if alone is None else "decided")
    return Found(kept, list(run.trials.values()), rejected, complete)


def _alone(
    run: _Search,
    names: Sequence[str],
    waits: Mapping[str, Collection[str]],
    baseline: int,
    tolerance: int,
    rejected: dict[str, str],
) -> list[str]:
    """The useful remedies: they work alone, and gain alone or share a wait."""
    able = []
    for name, measured in zip(names, run.all_of([frozenset([name]) for name in names], SearchStep.ALONE), strict=True):
        if not measured.counts or measured.time_ns is None:
            rejected[name] = measured.why
        elif baseline - measured.time_ns >= tolerance or waits.get(name):
            able.append(name)
        elif measured.time_ns == baseline:
            rejected[name] = "no effect: the boot took exactly as long"
        else:
            rejected[name] = "by itself it gains less than the smallest gain that counts"
    return able


def _together(run: _Search, able: Sequence[str], rejected: dict[str, str]) -> Choice:
    """All that work together; without those that break the boot."""
    kept = frozenset(able)
    while kept:
        measured = run.one(kept, SearchStep.TOGETHER)
        if measured.counts:
            return kept
        without = [kept - {name} for name in able if name in kept]
        left = list(zip(without, run.all_of(without, SearchStep.WITHOUT), strict=True))
        healed = [(each.time_ns, place) for place, (_, each) in enumerate(left) if each.counts and each.time_ns]
        # Nothing heals alone: the least promising goes.
        smaller = left[min(healed)[1]][0] if healed else left[-1][0]
        (gone,) = kept - smaller
        rejected[gone] = f"with the others: {measured.why}"
        kept = smaller
    return kept


def _backwards(run: _Search, kept: Choice, tolerance: int, rejected: dict[str, str]) -> Choice:
    """Remove remedies without a gain among the others, until all have one."""
    while kept:
        now = run.one(kept, SearchStep.TOGETHER).time_ns
        assert now is not None
        names = sorted(kept)
        without = run.all_of([kept - {name} for name in names], SearchStep.WITHOUT)
        losses = {
            name: each.time_ns - now
            for name, each in zip(names, without, strict=True)
            if each.counts and each.time_ns is not None
        }
        useless = [name for name in names if name in losses and losses[name] < tolerance]
        if not useless:
            return kept
        smaller = kept - set(useless)
        at_once = run.one(smaller, SearchStep.WITHOUT) if smaller else run.one(frozenset(), SearchStep.BASELINE)
        if not (at_once.counts and at_once.time_ns is not None and at_once.time_ns - now < tolerance * len(useless)):
            # They stand in for one another: only the most useless goes.
            useless = [min(useless, key=lambda name: (losses[name], name))]
            smaller = kept - set(useless)
        for name in useless:
            slower = losses[name] < 0
            rejected[name] = "among the others it " + ("makes the boot slower" if slower else "gains too little")
        kept = smaller
    return kept


def _pairs(
    run: _Search,
    kept: Choice,
    able: Sequence[str],
    waits: Mapping[str, Collection[str]],
    tolerance: int,
    rejected: dict[str, str],
) -> Choice:
    """Add remedies that pay only with another remedy of the same wait."""
    left = [name for name in able if name not in kept and waits.get(name)]
    pairs = [{a, b} for a, b in combinations(left, 2) if set(waits[a]) & set(waits[b])]
    more = [kept | pair for pair in pairs]
    now = run.one(kept, SearchStep.TOGETHER).time_ns if kept else run.one(kept, SearchStep.BASELINE).time_ns
    assert now is not None
    times = [
        (each.time_ns, sorted(choice))
        for choice, each in zip(more, run.all_of(more, SearchStep.PAIR), strict=True)
        if each.counts and each.time_ns is not None
    ]
    if not times or now - min(times)[0] < tolerance:
        return kept
    better = frozenset(min(times)[1])
    for name in better - kept:
        rejected.pop(name, None)
    return better


def _best(run: _Search) -> Choice:
    """The fastest choice that counts, the smallest of equal ones; nothing where only the baseline does."""
    counted = [
        (trial.measured.time_ns, len(choice), sorted(choice))
        for choice, trial in run.trials.items()
        if trial.measured.counts and trial.measured.time_ns is not None
    ]
    return frozenset(min(counted)[2]) if counted else frozenset()
