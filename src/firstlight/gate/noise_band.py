"""What a gate makes of changes that something irrelevant can do as well."""

from __future__ import annotations

from dataclasses import replace

from firstlight.comparison.common.arms import CompareError
from firstlight.comparison.noise_band import Band
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.gate.checks import Check
from firstlight.gate.verdict import GateResult, verdict_of


def apply_band(result: GateResult, band: Band | Calibration, where: str, *, failing: bool = False) -> GateResult:
    """Take back what soft limits say of changes that are no larger than the noise band of the baseline.

    Hard limits and budgets stand as they are: they are for the time itself.

    :param where: the band's file, for messages.
    :param failing: let a growth beyond its limit fail within the band, too; it is told all the same.
    :raises CompareError: when the boots are not exact, or the band is of another kernel than the baseline.

    Source: a difference within the range of nuisance perturbations is exact but not robust.
    """
    if band.kind != "noise_band":
        hint = "`firstlight calibrate a.boot -o band.json` makes one of an exact boot"
        raise CompareError("a gate takes a noise band, and this is the noise of a testbed", where=where, hint=hint)
    if not result.came_up:
        return result
    if not result.exact:
        raise CompareError("a noise band is of exact boots, and these vary", where=where)
    before = result.baseline.samples[0]
    if before.inputs.get("kernel") != band.kernel:
        hint = "`firstlight calibrate BOOT -o band.json` makes the one of the baseline's boot"
        raise CompareError("the noise band is of another kernel than the baseline", where=where, hint=hint)
    flags = list(result.flags)
    if band.boots[0].virtual_ns != before.virtual_ns:
        flags.append(f"the noise band is of `{band.boot}`, which took another time than the baseline")
    widths = {name: width for (name, _, _), width in band.widths("phases").items()}
    widths["total"] = band.virtual_ns.width
    checks = tuple(_judged(check, widths.get(check.what, 0), failing=failing) for check in result.checks)
    return replace(result, verdict=verdict_of(checks), checks=checks, flags=tuple(flags))


def _judged(check: Check, width: int, *, failing: bool) -> Check:
    change = check.change_ns
    if check.kind != "soft" or change is None:
        return check
    if change == 0 or abs(change) > width:
        beyond = f"; beyond the noise band of {width:,} ns" if change else ""
        return replace(check, band_ns=width, text=check.text + beyond)
    text = f"{check.text}; exact but not robust: {width:,} ns can come of changes that do not matter"
    stands = failing and check.outcome == "regression"
    return replace(check, band_ns=width, outcome=check.outcome if stands else "pass", text=text)
