"""The noise band of a study: how far its baseline moves under changes that should not matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from firstlight.bundle.boot import Boot
from firstlight.experiment.calibrate.perturbations import nuisances
from firstlight.recipe.options import RecordOptions
from firstlight.study.runner import Lab, StudyArm
from firstlight.study.table import Field, MissingValue, Table, Value

Time = int | MissingValue

#: Of the perturbations, for a quick run: one of each kind.
_QUICK = 3
#: So few boots, the arm among them, show less of the band than a full run's.
_FEW = _QUICK + 1


@dataclass(frozen=True)
class NoiseBand:
    """What an arm takes as it is, and under each change that should not matter."""

    arm: str
    times: Mapping[str, Time]
    """Nanoseconds by change; the empty name is the arm itself."""

    @property
    def width_ns(self) -> Time:
        """A change of no more than this is not an effect."""
        known = [time for time in self.times.values() if isinstance(time, int)]
        return max(known) - min(known) if len(known) > 1 else MissingValue("no perturbed boot came up")

    @property
    def relative(self) -> float | MissingValue:
        """The same as a share of the arm."""
        width, time = self.width_ns, self.times[""]
        if isinstance(width, MissingValue):
            return width
        return width / time if isinstance(time, int) and time else MissingValue("the baseline did not come up")

    def table(self) -> Table:
        """Every perturbed boot."""
        base = self.times[""]
        rows: list[tuple[Value, ...]] = []
        for change, time in self.times.items():
            known = isinstance(time, int) and isinstance(base, int)
            rows.append((change or "as it is", time, time - base if known else None))  # type: ignore[operator]
        return Table(
            "band",
            f"The noise band: `{self.arm}` with changes that should not matter",
            (Field("Change"), Field("Time", "time"), Field("Difference", "change")),
            tuple(rows),
            (
                "The band is the difference of the longest and the shortest of these boots.",
                *(() if len(rows) > _FEW else ("So few boots show less of it than those of a full run do.",)),
            ),
        )


def noise_band(lab: Lab, arm: StudyArm, boot: Boot | MissingValue, measure: Callable[[Boot], Time]) -> NoiseBand:
    """Boot perturbed copies of an arm; a quick run boots three.

    :param boot: the arm itself.
    :param measure: nanoseconds of a boot.

    Source: perturbations without meaning (Mytkowicz et al. 2009, Producing wrong data without doing anything obviously
    wrong); :mod:`firstlight.experiment.calibrate.perturbations` has them.
    """
    if isinstance(boot, MissingValue) or not isinstance(arm.options, RecordOptions):
        return NoiseBand(arm.name, {"": boot if isinstance(boot, MissingValue) else MissingValue("not booted")})
    # The recipe has the memory that the arm left to its default.
    changes, _ = nuisances(arm.options, boot.manifest)
    if lab.quick:
        changes = changes[:: max(1, len(changes) // _QUICK)][:_QUICK]
    names = {f"{arm.name}-perturbed-{number}": change for number, change in enumerate(changes, 1)}
    boots = lab.boot_all(StudyArm(name, each.options) for name, each in names.items())
    times = {
        names[name].name: each if isinstance(each, MissingValue) else measure(each) for name, each in boots.items()
    }
    return NoiseBand(arm.name, {"": measure(boot), **times})
