"""The exact difference of two boots."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from firstlight.analysis.doubtful import MOST_DOUBTFUL
from firstlight.bundle.boot import Boot
from firstlight.bundle.equality import equal_tables
from firstlight.bundle.manifest import Concern
from firstlight.comparison.exact.architectures import OnBoth, on_both
from firstlight.comparison.exact.causes import Cause, causes_of, programs_of
from firstlight.comparison.exact.facts import FactChange, fact_changes
from firstlight.comparison.exact.functions import doubtful_functions, functions
from firstlight.comparison.exact.initcalls import initcalls
from firstlight.comparison.exact.ledger import Ledger, Tolerance, ledger_of
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.level_parts import LevelParts, before_user_mode, parts_by_level, parts_by_mode
from firstlight.comparison.exact.moved import Moved, Renamed, moved, renamed
from firstlight.comparison.exact.parts import Parts
from firstlight.comparison.exact.path import PathDifference, path_difference
from firstlight.comparison.exact.path_splits import split_by_path
from firstlight.comparison.exact.phases import phases
from firstlight.comparison.exact.rows import Row
from firstlight.comparison.exact.totals import whole
from firstlight.comparison.exact.tree import TreeDifference, tree_difference
from firstlight.comparison.exact.userspace import Userspace, userspace_levels, userspace_of
from firstlight.comparison.exact.waits import Waits
from firstlight.comparison.sides.input_changes import InputChange, input_changes
from firstlight.comparison.sides.preconditions import Flag, check_comparable, is_rejected
from firstlight.quantities import joined, small_share_text, time_text
from firstlight.recipe.mode import RecordMode
from firstlight.schema.spans import SpanKind


@dataclass(frozen=True)
class ExactDifference:
    """What changed from boot A to boot B. A level is made when it is asked for, and checked when it is made."""

    a: Boot
    b: Boot
    flags: tuple[Flag, ...]
    inputs: tuple[InputChange, ...]
    tolerance: Tolerance = field(default_factory=Tolerance)
    """What of the change is an accident: by default nothing."""

    @cached_property
    def ledger(self) -> Ledger | None:
        """What of the change is caused, what moved, and what is an accident; none of boots without exact profiles."""
        if self.tree is None or self.a.manifest.mode != RecordMode.EXACT or self.a.table("phase_calls").is_empty():
            return None
        return ledger_of(self.a, self.b, self.tree, self.tolerance, self._waits)

    @cached_property
    def _waits(self) -> Waits:
        return Waits(self.a, self.b)

    @cached_property
    def causes(self) -> list[Cause]:
        """What the caused part is of, the largest first."""
        if self.tree is None or self.ledger is None:
            return []
        known = None
        if self._userspace is not None:
            level = self.userspace["processes"]
            parts = parts_by_level([level], self.ledger, self._userspace, self._by_mode)
            names = self._userspace[0].programs | self._userspace[1].programs
            less = {}
            if (first := self._userspace[0].first.get(1)) is not None:
                less[first] = before_user_mode(self._by_mode).caused_ns
            known = programs_of(level, parts[level.name], names, less)
        return causes_of(self.a, self.b, self.tree, self.ledger, known, self._waits)

    @cached_property
    def whole(self) -> Row:
        """Both boots as a whole."""
        return whole(self.a, self.b)

    @property
    def may_be_accident(self) -> bool:
        """Whether the change is so small that no noise band of this series of kernels tells it from an accident."""
        return 0 < abs(self.whole.change_ns) <= self.tolerance.doubt_ns

    @cached_property
    def phases(self) -> Level:
        """By phase."""
        return phases(self.a, self.b, self.whole)

    @cached_property
    def functions(self) -> Level | None:
        """By function, each with what it did itself; none without profiles, or where one of them is not reliable."""
        level = None if self.tree is None else functions(self.a, self.b, self.whole)
        return level if level is None or self.tree is None else split_by_path(level, self.tree)

    @cached_property
    def on_both(self) -> OnBoth | None:
        """The functions of one name on two architectures; none of one architecture, or without profiles."""
        return on_both(self.functions, self.a, self.b)

    @cached_property
    def initcalls(self) -> Level | None:
        """By initcall; none where a boot has none, or its initcalls are not reliable."""
        if self._is_refused(Concern.INITCALLS):
            return None
        return initcalls(self.a, self.b, self.whole, called=not self._is_refused(Concern.FUNCTIONS))

    @cached_property
    def _userspace(self) -> tuple[Userspace, Userspace] | None:
        refused = self._is_refused(Concern.FUNCTIONS) or self._is_refused(Concern.PROCESSES)
        return None if refused else userspace_of(self.a, self.b)

    @cached_property
    def _by_mode(self) -> dict[tuple[str, str], Parts]:
        if self.ledger is None or self.tree is None or self._userspace is None:
            return {}
        return parts_by_mode(self.tree, self.ledger)

    @cached_property
    def userspace(self) -> dict[str, Level]:
        """By process, service, system call and file; empty where processes of a boot were not followed."""
        return {} if self._userspace is None else userspace_levels(self._userspace, self.whole)

    @cached_property
    def parts(self) -> dict[str, LevelParts]:
        """The parts of every row of every level by the level's name; empty without a ledger."""
        if self.ledger is None or self.tree is None:
            return {}
        return parts_by_level(self.levels, self.ledger, self._userspace, self._by_mode)

    @cached_property
    def path(self) -> PathDifference:
        """By what stands on the critical path, devices and units among it; and the hidden work beside it.

        Initcalls stand on it: where they are not reliable, it is not reported.
        """
        if self._is_refused(Concern.INITCALLS):
            return PathDifference(None, None, None, ())
        return path_difference(self.a, self.b, self.whole)

    @cached_property
    def tree(self) -> TreeDifference | None:
        """By calling context; none without profiles, or where one of them is not reliable."""
        return None if self._is_refused(Concern.FUNCTIONS) else tree_difference(self.a, self.b, self.whole)

    @cached_property
    def moved(self) -> list[Moved]:
        """Cost that went from some callees of one caller to others."""
        return moved(self.tree) if self.tree is not None else []

    @cached_property
    def renamed(self) -> list[Renamed]:
        """Functions that may only have a new name."""
        return renamed(self.tree, self.functions) if self.tree is not None and self.functions is not None else []

    @cached_property
    def facts(self) -> list[FactChange]:
        """What else differs between the systems that came up."""
        return fact_changes(self.a, self.b)

    def _is_refused(self, concern: Concern) -> bool:
        return is_rejected(self.a, self.b, concern)

    @property
    def levels(self) -> list[Level]:
        """Every level that both boots have the evidence for; the rows of each add up to the whole."""
        on_path = (self.path.path, self.path.devices, self.path.units)
        found = (self.phases, self.initcalls, self.functions, *self.userspace.values(), *on_path)
        return [level for level in found if level is not None]

    def level(self, name: str) -> Level | None:
        """One level by its name; none where a boot has no evidence for it. No other level is made."""
        on_path = {"path", "devices", "units"}
        found: Level | None = getattr(self.path, name) if name in on_path else self.userspace.get(name)
        return getattr(self, name) if name in ("phases", "initcalls", "functions") else found

    @property
    def is_equal(self) -> bool:
        """Every table of one boot is that of the other."""
        return equal_tables(self.a, self.b)


def exact_difference(a: Boot, b: Boot, tolerance: Tolerance | None = None) -> ExactDifference:
    """Compare two boots, A the baseline.

    :param tolerance: how much figures change by themselves, as a noise band has it; none: not at all.
    :raises CompareError: when their figures do not mean the same; see :func:`check_comparable`.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> difference = exact_difference(boot, boot)
    >>> difference.is_equal, difference.whole.change_ns
    (True, 0)
    """
    tolerance = tolerance or Tolerance()
    flags = check_comparable(a, b)
    inputs = input_changes(a.manifest, b.manifest)
    difference = ExactDifference(a, b, (), tuple(inputs), tolerance)
    if a.manifest.mode == RecordMode.EXACT and not inputs and _differ(difference):
        text = "the boots differ, but no input does: this recipe is not exact here, so the change is not a finding"
        flags.append(Flag("unstable", text))
    if difference.may_be_accident:
        limit = time_text(tolerance.doubt_ns)
        text = f"the noise band is of another series of kernels: a change up to {limit} may be an accident"
        hint = "`firstlight calibrate` makes a band for this recipe"
        flags.append(Flag("noise_band", f"{text}; {hint}"))
    flags.extend(_one_sided(a, b))
    if not is_rejected(a, b, Concern.FUNCTIONS):
        flags.extend(_doubtful(a, b))
    return ExactDifference(a, b, tuple(flags), tuple(inputs), tolerance)


def _differ(difference: ExactDifference) -> bool:
    """The boots went differently. Where one recorded more than the other, tables differ and the boot need not."""
    chosen = [boot.manifest.chosen for boot in (difference.a, difference.b)]
    recorded = {(each.devices, each.user_functions, each.profile) for each in chosen if each is not None}
    return difference.whole.change_ns != 0 if len(recorded) > 1 else not difference.is_equal


def _one_sided(a: Boot, b: Boot) -> list[Flag]:
    """Kinds of spans that only one of two records has: their level would show all of them as new."""
    one, other = (set(boot.spans()["kind"].unique().to_list()) for boot in (a, b))
    whole = [boot.directory.name for boot in (a, b) if boot.phases().height == 1]
    flags = []
    if len(whole) == 1:
        flags.append(
            Flag(
                "completeness",
                f"`{whole[0]}` has no phases: it is shown as one phase, and the phases of the other boot look removed",
            )
        )
    return flags + [
        Flag("completeness", f"only `{boot.directory.name}` has {what}: they are not compared")
        for kind, what in (
            (SpanKind.INITCALL, "initcalls"),
            (SpanKind.PROBE, "probes of devices"),
            (SpanKind.UNIT, "units"),
        )
        for boot, its, others in ((a, one, other), (b, other, one))
        if kind in its and kind not in others
    ]


def _doubtful(a: Boot, b: Boot) -> list[Flag]:
    """Functions whose rows are marked, because too many of their calls were followed by inference."""
    found = sorted(doubtful_functions(a, b).items(), key=lambda each: (-each[1], each[0]))
    if not found:
        return []
    named = joined([f"`{key.name}` ({small_share_text(share)})" for key, share in found], 5)
    what = f"more than {MOST_DOUBTFUL * 100:g} % of the calls of these functions are doubtful, so they are listed last"
    return [Flag("doubtful", f"{what}: {named}")]
