"""Which phases both sides of a gate have: a missing phase is not checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from firstlight.bundle.manifest import Concern
from firstlight.comparison.boot_figures import NO_PHASE, Sample
from firstlight.quantities import counted, joined
from firstlight.schema.spans import SpanKind

#: A note has no more names of phases than this.
_MOST = 4


@dataclass(frozen=True)
class PhaseEvidence:
    """The phases of a baseline and of measured boots.

    A phase ends where the next one begins. A boot that lacks a phase therefore has another interval under the name of
    the phase before it, and neither can be compared.
    """

    baseline: Sequence[Sample]
    measured: Sequence[Sample]

    @property
    def phases(self) -> list[str]:
        """Every phase of either side, in the order of the baseline."""
        return list(dict.fromkeys([*self.baseline[0].phase_ns, *self.measured[0].phase_ns]))

    def in_both(self) -> list[str]:
        """The phases of both sides, in the order of the measured boots."""
        common = set.intersection(*(set(each.phase_ns) for each in (*self.baseline, *self.measured)))
        return [phase for phase in self.measured[0].phase_ns if phase in common]

    def unknown(self, phase: str, *, in_baseline: bool) -> str | None:
        """Why one side does not know the duration of a phase; None where it does."""
        side, other = (self.baseline, self.measured) if in_baseline else (self.measured, self.baseline)
        following = dict(pairwise(other[0].phase_ns)).get(phase)
        for sample in side:
            name = f"the baseline's `{sample.boot}`" if in_baseline else f"`{sample.boot}`"
            if phase not in sample.phase_ns:
                return f"{name} has no such phase{_without_profile(sample)}"
            if following not in (None, NO_PHASE, *sample.phase_ns):
                return f"{name} has no end of this phase: it has no phase `{following}`{_without_profile(sample)}"
        return None

    def one_sided(self) -> Iterator[str]:
        """What to say of phases that one side has and the other lacks: no rule of a total shows them."""
        for has, lacks, words in (
            (self.measured, self.baseline, "the baseline lacks"),
            (self.baseline, self.measured, "the measured boots lack"),
        ):
            known = set.intersection(*(set(each.phase_ns) for each in lacks))
            others = [phase for phase in has[0].phase_ns if phase not in known and phase != NO_PHASE]
            if others:
                names = joined([f"`{phase}`" for phase in others], _MOST)
                yield (
                    f"{words} {counted(len(others), 'phase')} of the other side: {names}; "
                    f"the time counts as part of the phase before"
                )

    def did_not_happen(self, phase: str) -> bool:
        """Whether a measured boot has evidence of all its phases, and this one is not among them."""
        return any(phase not in sample.phase_ns and knows_phases(sample) for sample in self.measured)

    def unreliable(self) -> set[str]:
        """Phases that begin or end with an initcall level, where the recording of initcalls is not reliable."""
        if not any(Concern.INITCALLS in sample.unreliable for sample in (*self.baseline, *self.measured)):
            return set()
        return {phase for bounds in pairwise([*self.phases, ""]) for phase in _touched(*bounds)}


def knows_phases(sample: Sample) -> bool:
    """Whether a boot was recorded with a profile, which observes every phase that happens."""
    return bool(sample.functions) or Concern.FUNCTIONS in sample.unreliable


def _touched(phase: str, following: str) -> Iterator[str]:
    if any(each.startswith(SpanKind.INITCALL) for each in (phase, following)):
        yield phase


def _without_profile(sample: Sample) -> str:
    return "" if knows_phases(sample) else ", because it was recorded without a profile"
