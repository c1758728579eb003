"""The exact difference of two boots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from firstlight.analysis.doubtful import MOST_DOUBTFUL
from firstlight.bundle.boot import Boot
from firstlight.bundle.equality import equal_tables
from firstlight.bundle.manifest import Concern
from firstlight.comparison.common.input_changes import InputChange, input_changes
from firstlight.comparison.common.preconditions import Flag, check_comparable, is_rejected
from firstlight.comparison.exact.facts import FactChange, fact_changes
from firstlight.comparison.exact.functions import doubtful_functions, functions
from firstlight.comparison.exact.initcalls import initcalls
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.moved import Moved, Renamed, moved, renamed
from firstlight.comparison.exact.path import PathDifference, path_difference
from firstlight.comparison.exact.phases import phases
from firstlight.comparison.exact.rows import Row
from firstlight.comparison.exact.totals import whole
from firstlight.comparison.exact.tree import TreeDifference, tree_difference
from firstlight.quantities import joined, small_share_text
from firstlight.schema.spans import SpanKind


@dataclass(frozen=True)
class ExactDifference:
    """What changed from boot A to boot B. A level is made when it is asked for, and checked when it is made."""

    a: Boot
    b: Boot
    flags: tuple[Flag, ...]
    inputs: tuple[InputChange, ...]

    @cached_property
    def whole(self) -> Row:
        """Both boots as a whole."""
        return whole(self.a, self.b)

    @cached_property
    def phases(self) -> Level:
        """By phase."""
        return phases(self.a, self.b, self.whole)

    @cached_property
    def functions(self) -> Level | None:
        """By function, each with what it did itself; none without profiles, or where one of them is not reliable."""
        return None if self._is_refused(Concern.FUNCTIONS) else functions(self.a, self.b, self.whole)

    @cached_property
    def initcalls(self) -> Level | None:
        """By initcall; none where a boot tells none, or its initcalls are not reliable."""
        if self._is_refused(Concern.INITCALLS):
            return None
        return initcalls(self.a, self.b, self.whole, called=not self._is_refused(Concern.FUNCTIONS))

    @cached_property
    def path(self) -> PathDifference:
        """By what stands on the critical path, devices and units among it; and the hidden work beside it.

        Initcalls stand on it: where they are not reliable, nothing is told of it.
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
        found = (self.phases, self.initcalls, self.functions, self.path.path, self.path.devices, self.path.units)
        return [level for level in found if level is not None]

    @property
    def is_equal(self) -> bool:
        """Every table of one boot is that of the other."""
        return equal_tables(self.a, self.b)


def exact_difference(a: Boot, b: Boot) -> ExactDifference:
    """Compare two boots, A the baseline.

    :raises CompareError: when their figures do not mean the same; see :func:`check_comparable`.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> difference = exact_difference(boot, boot)
    >>> difference.is_equal, difference.whole.change_ns
    (True, 0)
    """
    flags = check_comparable(a, b)
    inputs = input_changes(a.manifest, b.manifest)
    difference = ExactDifference(a, b, (), tuple(inputs))
    if a.manifest.mode == "exact" and not inputs and not difference.is_equal:
        text = "no input differs and the boots do: this recipe is not exact here, and the change is no finding"
        flags.append(Flag("unstable", text))
    flags.extend(_one_sided(a, b))
    if not is_rejected(a, b, Concern.FUNCTIONS):
        flags.extend(_doubtful(a, b))
    return ExactDifference(a, b, tuple(flags), tuple(inputs))


def _one_sided(a: Boot, b: Boot) -> list[Flag]:
    """Kinds of spans that only one of two records tells: their level would say that all of them are new."""
    one, other = (set(boot.spans()["kind"].unique().to_list()) for boot in (a, b))
    whole = [boot.directory.name for boot in (a, b) if boot.phases().height == 1]
    flags = []
    if len(whole) == 1:
        flags.append(
            Flag("completeness", f"`{whole[0]}` has no phases: it is one phase, and those of the other look gone")
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
    what = f"more than {MOST_DOUBTFUL * 100:g} % of the calls of these functions are doubtful, so that they stand last"
    return [Flag("doubtful", f"{what}: {named}")]
