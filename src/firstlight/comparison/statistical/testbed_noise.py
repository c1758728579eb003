"""The noise of a testbed, as a calibration measured it."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field

from firstlight.bundle.manifest import Manifest
from firstlight.comparison.sides.arms import CompareError
from firstlight.frozen import FrozenModel

#: Two equal arms that differ as much as this happens once in a hundred calibrations of a sound testbed.
_UNSTABLE = 0.01
_MOST_FALSE_ALARMS = 0.07


class Detectable(FrozenModel):
    """What so many pairs find nine times in ten."""

    pairs: int
    percent: float


class Calibration(FrozenModel):
    """The noise of one testbed; kept as JSON, dated."""

    kind: Literal["testbed"] = "testbed"
    schema_version: Literal[1] = 1
    made_at: str = Field(description="when")
    testbed: dict[str, str] = Field(description="what the boots ran on")
    seed: int = Field(description="of the order and of the relabellings")
    pairs: int = Field(description="pairs of equal boots")
    sigma_percent: float = Field(description="robust standard deviation of the pairs' ratios")
    drift_percent: float = Field(description="over the whole session, by Theil and Sen")
    modes: int = Field(description="sorts that the boots come in")
    p: float = Field(description="that two equal arms differ as much as these")
    false_alarms: float = Field(description="share of random relabellings whose interval leaves out 0 %")
    detectable: list[Detectable] = Field(description="least change that is found nine times in ten, by pairs")
    a_ns: list[int] = Field(description="times of the one arm, in pairs with the other")
    b_ns: list[int] = Field(description="times of the other arm")

    @property
    def is_stable(self) -> bool:
        """Whether comparisons on this testbed mean anything."""
        return self.p >= _UNSTABLE and self.false_alarms <= _MOST_FALSE_ALARMS

    def noise_floor(self, pairs: int) -> float:
        """The change, as a logarithm of a ratio, below which this many pairs show noise: twice its standard error."""
        return 2.0 * math.log1p(self.sigma_percent / 100.0) / math.sqrt(max(pairs, 1))

    def floor_percent(self, pairs: int) -> float:
        """The same in percent."""
        return math.expm1(self.noise_floor(pairs)) * 100.0

    def check(self, *manifests: Manifest, where: str) -> None:
        """Check that this calibration applies to boots.

        :raises CompareError: when the testbed was unstable, or is not the one of the boots.
        """
        if not self.is_stable:
            message = f"the testbed is unstable: two equal arms differed (p = {self.p:.2g}) when it was calibrated"
            raise CompareError(message, where=where, hint="quieten the machine and calibrate again")
        for manifest in manifests:
            now = facts_of_testbed(manifest)
            names = sorted(name for name in now.keys() | self.testbed.keys() if now.get(name) != self.testbed.get(name))
            other = [f"{name} {self.testbed.get(name)} there, {now.get(name)} here" for name in names]
            if other:
                message = f"the calibration is of another testbed: {'; '.join(other)}"
                raise CompareError(message, where=where, hint="`firstlight calibrate` this one")


def facts_of_testbed(manifest: Manifest) -> dict[str, str]:
    """What of a manifest says on what a boot ran: where it differs, a calibration says nothing.

    >>> facts_of_testbed(firstlight.open(bundle).manifest)["mode"]
    'exact'
    """
    found: dict[str, Any] = {
        "mode": manifest.mode,
        "clock": manifest.clock.kind,
        "system": manifest.host.get("system"),
        "cpus": manifest.host.get("cpus"),
        "machine": manifest.recipe.machine,
        "cpu": manifest.recipe.cpu,
        "accelerator": manifest.recipe.accelerator,
        "emulator": (manifest.digests.get("qemu") or "")[:16],
    }
    return {name: str(value) for name, value in found.items() if value not in (None, "")}
