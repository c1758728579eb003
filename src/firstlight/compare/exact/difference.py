"""The exact difference of two boots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from firstlight.boot.boot import Boot
from firstlight.compare.comparable import Flag, check_comparable
from firstlight.compare.exact.functions import functions
from firstlight.compare.exact.level import Level
from firstlight.compare.exact.phases import phases
from firstlight.compare.exact.rows import Row
from firstlight.compare.exact.totals import whole
from firstlight.compare.inputs import OBSERVERS, InputChange, input_changes


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
        """By function, each with what it did itself; none without profiles."""
        return functions(self.a, self.b, self.whole)

    @property
    def levels(self) -> list[Level]:
        """Every level that both boots have the evidence for."""
        return [level for level in (self.phases, self.functions) if level is not None]

    @property
    def is_equal(self) -> bool:
        """Every table of one boot is that of the other, byte for byte."""
        digests = [{name: table.sha256 for name, table in boot.manifest.tables.items()} for boot in (self.a, self.b)]
        return digests[0] == digests[1]


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
    deciding = [change for change in inputs if change.name not in OBSERVERS]
    if a.manifest.mode == "exact" and not deciding and difference.whole.changed:
        text = "no input differs and the boots do: they are not exact, and the change is no finding"
        flags.append(Flag("unstable", text))
    return ExactDifference(a, b, tuple(flags), tuple(inputs))
