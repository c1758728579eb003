"""The causes of the catalogue that a boot has, ranked by their time on its critical path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from firstlight.advise.contexts import Contexts, Stretch, inside, merged
from firstlight.advise.coverage import Coverage, coverage
from firstlight.advise.entry import TIMED, Entry, Nature, Remedy
from firstlight.advise.evidence import Seen, see
from firstlight.advise.observed import Observed
from firstlight.advise.price import Cost, Held, price, shared_ns, together
from firstlight.advise.read import Catalogue, catalogue
from firstlight.analysis.path.critical import CriticalPath
from firstlight.bundle.boot import Boot

#: A cause that holds less than this share of the boot is none.
LEAST_SHARE = 0.005
#: A cause is the machine's own when more than this part of its time is.
_MOST_MACHINE = 0.5
#: Two findings share time when they both hold more than this part of the smaller one.
_SHARED = 0.05


class Certainty(StrEnum):
    """How certain a finding is."""

    MEASURED = "measured"
    """The record has the time itself."""
    ESTIMATED = "estimated"
    """A part of the time was divided by shares, or lies between two lines of a log."""
    UNKNOWN = "unknown"
    """The evidence has no time: a line, a word, a setting."""


@dataclass(frozen=True)
class Shared:
    """Time that another finding has as well."""

    entry: str
    ns: int


@dataclass(frozen=True)
class Finding:
    """One cause of the catalogue that a boot has."""

    entry: Entry
    seen: tuple[Seen, ...]
    held: Held
    cost: Cost
    share: float
    """The cost as a share of the path, from 0 to 1."""
    certainty: Certainty
    shares: tuple[Shared, ...] = ()
    special_ns: int = 0
    """Of the cost of a general cause, the part of other findings below its functions."""

    @property
    def own_ns(self) -> int:
        """The key of the ranking: the system's time that no more specific finding has."""
        return self.cost.system_ns - self.special_ns

    @property
    def remedy(self) -> Remedy:
        """The advised remedy: the first that the lab can apply, otherwise the first."""
        return next((each for each in self.entry.remedies if each.is_applicable), self.entry.remedies[0])

    @property
    def gain_ns(self) -> int:
        """The expected saving of the remedy: the whole cost of the cause."""
        return self.cost.ns


@dataclass(frozen=True)
class Explanation:
    """The findings of a boot."""

    goal: str | None
    """The mark or unit that costs are counted until."""
    whole_ns: int
    """From the first mark to the goal."""
    findings: tuple[Finding, ...]
    """The causes, the most expensive first."""
    features: tuple[Finding, ...]
    """The costs of features of the kernel or system: each remedy gives one up."""
    machine: tuple[Finding, ...]
    """Causes whose time is mostly the emulated machine's own."""
    smaller: tuple[Finding, ...]
    """Causes with evidence whose cost is less than :data:`LEAST_SHARE`."""
    unpriced: tuple[Finding, ...]
    """Causes that a boot without a profile shows, and no evidence of their time."""
    known: Catalogue
    """The catalogue."""
    coverage: Coverage
    """How many of its entries could be looked for."""
    contexts: Contexts | None = None
    """The calling-context tree of the evidence; none without a profile."""

    @property
    def entries(self) -> int:
        """The number of entries of the catalogue."""
        return len(self.known.entries)

    def finding(self, id: str) -> Finding | None:
        """The finding of an entry."""
        every = (*self.findings, *self.features, *self.machine, *self.unpriced, *self.smaller)
        return next((each for each in every if each.entry.id.lower() == id.lower()), None)


def explain(
    boot: Boot, known: Catalogue | None = None, to: str | None = None, *, path: CriticalPath | None = None
) -> Explanation:
    """Look for every entry of a catalogue in a boot.

    :param known: the shipped catalogue when not given.
    :param to: the mark or unit that costs are counted until; by default the end of the critical path.
    :param path: the critical path until there; found when not given.
    :raises BundleError: when the boot has neither a mark nor a unit of that name, or a table cannot be read.

    >>> import firstlight
    >>> found = explain(firstlight.open(bundle))
    >>> found.machine[0].entry.id, str(found.goal)
    ('CAL-03', 'ready')
    """
    known = known or catalogue()
    observed = Observed(boot, to, path)
    found = [each for entry in known.entries if (each := find(observed, entry)) is not None]
    found = [left for each in found if (left := _without_special(observed, each, found)) is not None]
    found.sort(key=lambda each: (-each.own_ns, each.entry.id))
    machine = [each for each in found if each.cost.machine_ns > _MOST_MACHINE * each.cost.ns]
    rest = [each for each in found if each not in machine]
    shown = [each for each in rest if each.share >= LEAST_SHARE and each.cost.ns > 0]
    shown = _with_shares(observed, _without_same(observed, shown))
    large = tuple(each for each in machine if each.share >= LEAST_SHARE)
    # With a profile, functions that show little cost little.
    unpriced = tuple(each for each in found if observed.contexts is None and each.certainty is Certainty.UNKNOWN)
    kept = {each.entry.id for each in (*shown, *large, *unpriced)}
    return Explanation(
        goal=None if observed.path is None else observed.path.goal,
        whole_ns=observed.whole_ns,
        findings=tuple(each for each in shown if each.entry.nature is not Nature.FEATURE),
        features=tuple(each for each in shown if each.entry.nature is Nature.FEATURE),
        machine=large,
        smaller=tuple(each for each in found if each.entry.id not in kept),
        unpriced=unpriced,
        known=known,
        coverage=coverage(observed, known),
        contexts=observed.contexts,
    )


def find(observed: Observed, entry: Entry, but: Sequence[Stretch] = ()) -> Finding | None:
    """One entry in a boot: none without its evidence, or with its guard.

    :param but: contexts that do not count for `least` and `share`.
    """
    every = [see(observed, item, but) for item in entry.all]
    if not all(every):
        return None
    some = [seen for item in entry.any if (seen := see(observed, item, but)) is not None]
    if entry.any and not some:
        return None
    if any(see(observed, item) is not None for item in entry.none):
        return None
    some += [seen for item in entry.more if (seen := see(observed, item)) is not None]
    found = tuple(each for each in (*every, *some) if each is not None)
    held = together(each.held for each in found)
    cost = price(observed, held, entry.machine)
    share = cost.ns / observed.whole_ns if observed.whole_ns else 0.0
    return Finding(entry.filled(observed.facts), found, held, cost, share, _certainty(found, held, cost))


def _certainty(found: Sequence[Seen], held: Held, cost: Cost) -> Certainty:
    """How certain a cost is. Silences and stated times of a log count only where contexts do not locate the time."""
    kinds = {seen.item.kind for seen in found}
    stated = any(seen.item.takes and not seen.held.is_nothing for seen in found)
    if kinds.isdisjoint(TIMED) and not stated:
        return Certainty.UNKNOWN
    silence = ("gap" in kinds or stated) and not held.contexts and not held.portions
    return Certainty.MEASURED if cost.is_exact and not silence else Certainty.ESTIMATED


def _without_special(observed: Observed, finding: Finding, every: list[Finding]) -> Finding | None:
    """A general finding with the part of more specific ones below its functions; none if the rest is too small."""
    if not finding.entry.general or observed.contexts is None:
        return finding
    special = merged(
        stretch
        for other in every
        if other is not finding and not other.entry.general and other.share >= LEAST_SHARE
        for stretch in inside(other.held.contexts, finding.held.contexts)
    )
    if not special:
        return finding
    taken = observed.contexts.ns(special) - observed.contexts.machine_ns(special, finding.entry.machine)
    left = find(observed, finding.entry, special)
    return None if left is None else replace(finding, special_ns=taken)


def _without_same(observed: Observed, found: list[Finding]) -> list[Finding]:
    """Of findings with the same time, the one with the most evidence."""
    kept: list[Finding] = []
    for each in found:
        same = next((other for other in kept if other.held == each.held and not each.held.is_nothing), None)
        if same is None:
            kept.append(each)
        elif len(each.seen) > len(same.seen):
            kept[kept.index(same)] = each
    return kept


def _with_shares(observed: Observed, found: list[Finding]) -> list[Finding]:
    shown = []
    for each in found:
        shares = []
        for other in found:
            if other is each:
                continue
            ns = shared_ns(observed, each.held, other.held)
            if ns > _SHARED * min(each.cost.ns, other.cost.ns):
                shares.append(Shared(other.entry.id, ns))
        shown.append(replace(each, shares=tuple(shares)))
    return shown
