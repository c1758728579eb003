"""The noise band by which a gate evaluates exact boots."""

from __future__ import annotations

from firstlight.comparison.known_bands import KnownBand, band_of_recipe
from firstlight.comparison.noise_band import Band
from firstlight.comparison.sides.arms import CompareError
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.gate.baseline import Baseline
from firstlight.quantities import counted


def band_of_baseline(baseline: Baseline, release: str | None) -> KnownBand:
    """The noise band of a baseline: the one of its recipe if `firstlight calibrate` made one, else a shipped one.

    :param release: of the kernel of the measured boots; none where it is unknown.
    """
    chosen = baseline.recipe
    return band_of_recipe(
        baseline.key, has_rootfs=chosen is not None and chosen.rootfs is not None,
        kernel=baseline.samples[0].inputs.get("kernel"), release=release,
    )  # fmt: skip


def given_band(band: Band | Calibration, baseline: Baseline, where: str) -> KnownBand:
    """The noise band that the user names.

    :param where: the band's file, for messages.
    :raises CompareError: when the boots are not exact, or the band is of another kernel than the baseline.
    """
    if band.kind != "noise_band":
        hint = "`firstlight calibrate a.boot -o band.json` makes one from an exact boot"
        raise CompareError("a gate takes a noise band, but this is the noise of a testbed", where=where, hint=hint)
    if baseline.method != "exact":
        raise CompareError("a noise band is for exact boots, but these boots vary", where=where)
    before = baseline.samples[0]
    if before.inputs.get("kernel") != band.kernel:
        hint = "`firstlight calibrate BOOT -o band.json` makes one for the baseline's boot"
        raise CompareError("the noise band is of another kernel than the baseline", where=where, hint=hint)
    other = band.boots[0].virtual_ns != before.virtual_ns
    source = f"{where}, of `{band.boot}`, {counted(len(band.boots), 'boot')}"
    return KnownBand(
        band, f"{source}; the duration of that boot differs from the baseline" if other else source, not other
    )


def widths(known: KnownBand) -> dict[str, int]:
    """How far the total and each phase change by themselves, in nanoseconds."""
    phases = {name: width for (name, _, _), width in known.band.widths("phases").items()}
    return {**phases, "total": known.total_ns}
