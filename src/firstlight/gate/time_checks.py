"""The rules about times: of the total, of each phase, and of the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from firstlight.comparison.boot_figures import Sample
from firstlight.gate.checks import Check, Kind, limit_check, soft_check
from firstlight.gate.phase_evidence import PhaseEvidence
from firstlight.gate.rules import DEFAULT_NOISY_SOFT, OTHERS, Rules
from firstlight.quantities import time_text


def time_checks(
    evidence: PhaseEvidence, rules: Rules, band: Mapping[str, int], *, exact: bool, fail_within_band: bool = False
) -> list[Check]:
    """Check every rule about a time; what one side does not know is inconclusive.

    :param rules: with the present names of phases.
    :param band: the noise band of `total` and of phases, in nanoseconds; what is not there did not move by itself.
    :param fail_within_band: a growth beyond a limit of the rules is a regression within the band, too.
    """
    checks = list(_total(evidence, rules, band.get("total", 0), exact=exact, fail_within_band=fail_within_band))
    for phase in evidence.phases:
        limits, named = rules.for_phase(phase), phase in rules.phase
        if limits.soft is not None:
            checks.append(
                _not_judged(evidence, "soft", phase, named=named)
                or _within_bounds(
                    phase,
                    (evidence.baseline, evidence.measured),
                    partial(soft_check, phase, percent=limits.soft, floor_ns=limits.floor, exact=exact,
                            band_ns=band.get(phase, 0), fail_within_band=fail_within_band),
                )
            )  # fmt: skip
        if limits.hard is not None:
            checks.append(_limit(evidence, "hard", phase, limits.hard, named=named, exact=exact))
    return [*checks, *_budget(evidence, rules, exact=exact)]


def _total(
    evidence: PhaseEvidence, rules: Rules, band_ns: int, *, exact: bool, fail_within_band: bool
) -> Iterator[Check]:
    before, after = ([each.virtual_ns for each in side] for side in (evidence.baseline, evidence.measured))
    soft, floor = rules.total.soft, rules.total.floor
    if soft is None and rules.total.hard is None:
        # The default limit of exact boots is the noise band.
        soft, floor = (0.0, max(floor, band_ns)) if exact else (DEFAULT_NOISY_SOFT, floor)
    if soft is not None:
        yield soft_check("total", before, after, soft, floor, exact=exact, band_ns=band_ns,
                         fail_within_band=fail_within_band)  # fmt: skip
    if rules.total.hard is not None:
        yield limit_check("hard", "total", after, rules.total.hard, exact=exact)
    if rules.budget is not None:
        yield limit_check("budget", "total", after, rules.budget.goal, exact=exact)


def _limit(
    evidence: PhaseEvidence, kind: Literal["hard", "budget"], phase: str, limit_ns: int, *, named: bool, exact: bool
) -> Check:
    judge = partial(limit_check, kind, phase, limit_ns=limit_ns, exact=exact)
    return _not_judged(evidence, kind, phase, named=named) or _within_bounds(phase, (evidence.measured,), judge)


def _within_bounds(phase: str, sides: Sequence[Sequence[Sample]], judge: Callable[..., Check]) -> Check:
    """Judge a phase at both ends of what its records leave open; an outcome that depends on it is inconclusive.

    :param sides: the boots that the rule needs, the measured ones last.
    :param judge: makes the check from the durations of each side.
    """
    times = [[sample.phase_ns[phase] for sample in side] for side in sides]
    unsure = [[sample.unsure_ns(phase) for sample in side] for side in sides]
    found = judge(*times)
    if not any(far is None or far for side in unsure for far in side):
        return found
    unbounded = next((one.boot for side in sides for one in side if one.unsure_ns(phase) is None), None)
    if unbounded is not None:
        text = f"not checked: no record of `{unbounded}` has a bound for its begin or end"
        return Check(found.kind, phase, "inconclusive", text)
    far = [[ns or 0 for ns in side] for side in unsure]
    ends = [judge(*_moved(times, far, sign)) for sign in (1, -1)]
    outcomes = {found.outcome, *(end.outcome for end in ends)}
    if len(outcomes) == 1:
        return found
    if outcomes <= {"pass", "improvement"}:
        return replace(
            found, outcome="pass", text="no growth beyond the limit, for all possible begins and ends of the phase"
        )
    most = max(ns for side in far for ns in side)
    why = "because no record shows when it began or ended"
    text = f"not checked: its duration may be off by up to {time_text(most)}, {why}"
    return Check(found.kind, phase, "inconclusive", text)


def _moved(times: list[list[int]], far: list[list[int]], sign: int) -> list[list[int]]:
    """Measured boots as slow as may be and the baseline as fast, or the other way round."""
    signs = [-sign, sign][-len(times) :]
    return [
        [max(0, ns + one * by) for ns, by in zip(side, most, strict=True)]
        for side, most, one in zip(times, far, signs, strict=True)
    ]


def _budget(evidence: PhaseEvidence, rules: Rules, *, exact: bool) -> Iterator[Check]:
    if rules.budget is None:
        return
    allowances = rules.budget.phases
    named = [_limit(evidence, "budget", phase, ns, named=True, exact=exact) for phase, ns in allowances.items()]
    yield from named
    unknown = next((check for check in named if check.measured_ns is None), None)
    if unknown is not None:
        # The time of the unknown phase is somewhere among the others.
        text = f"the allowance of `{unknown.what}` could not be checked, and its time may be part of this"
        yield Check("budget", OTHERS, "inconclusive", text)
        return
    others = [
        sum(ns for phase, ns in sample.phase_ns.items() if phase not in allowances) for sample in evidence.measured
    ]
    yield limit_check("budget", OTHERS, others, rules.budget.others, exact=exact)


def _not_judged(evidence: PhaseEvidence, kind: Kind, phase: str, *, named: bool) -> Check | None:
    """Why a phase is not checked. A phase that a rule names has to happen; any other may be missing."""
    if phase in evidence.unreliable():
        text = "its bounds are not reliable: an invariant about initcalls does not hold"
        return Check(kind, phase, "unhealthy" if named else "inconclusive", text)
    unknown = evidence.unknown(phase, in_baseline=False)
    if unknown is None and kind == "soft":
        unknown = evidence.unknown(phase, in_baseline=True)
    if unknown is None:
        return None
    missing = named and evidence.did_not_happen(phase)
    return Check(kind, phase, "unhealthy" if missing else "inconclusive", f"not checked: {unknown}")
