"""The figures that decide the claims of 2009."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from firstlight.study import Figure, MissingValue, derived, relative
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.arms import MOST
from firstlight_studies.udev_ptys.counts import Counted
from firstlight_studies.udev_ptys.latency import Latency
from firstlight_studies.udev_ptys.model import CostLaw
from firstlight_studies.udev_ptys.per_device import CALLS, EXEC, FORK, MKNOD, STAT, per_count
from firstlight_studies.udev_ptys.udev_end import Done

Time = int | MissingValue
Times = Mapping[str, Time]
_NOT_BOOTED = MissingValue("an arm is missing")


@dataclass(frozen=True)
class PtyEvidence:
    """What the figures are computed from; missing values where arms are missing."""

    a: Times | MissingValue = _NOT_BOOTED
    b: Times | MissingValue = _NOT_BOOTED
    c: Times | MissingValue = _NOT_BOOTED
    """Stages of the three arms without an observer, and what programs execute."""
    sizes: Mapping[int, Counted] = field(default_factory=dict)
    """Counts by the number of pseudo-terminals."""
    terminals: Mapping[int, int] = field(default_factory=dict)
    """Devices of the class tty by that number."""
    latency: Mapping[tuple[str, str], Latency | MissingValue] = field(default_factory=dict)
    """By stage (`initramfs`, `system`) and arm (`B`, `C`)."""
    done: Done | MissingValue = _NOT_BOOTED
    """When udev is done in the system of B."""
    law: CostLaw | MissingValue = _NOT_BOOTED
    """Of the entire boot."""
    free: tuple[Time, Time] = (_NOT_BOOTED, _NOT_BOOTED)
    """The entire boot with and without them where nothing waits for udev."""
    band: float | MissingValue = _NOT_BOOTED

    def pair(self, stage: str) -> tuple[Time, Time]:
        """A stage with the pseudo-terminals (B) and without (C)."""
        b, c = (derived(lambda times: times[stage], arm) for arm in (self.b, self.c))
        return b, c


def figures_of(evidence: PtyEvidence) -> dict[str, Figure]:
    """Every figure by its name in `claims.toml`."""
    return {
        "band": evidence.band,
        **_saved(evidence),
        **_udev(evidence),
        **_calls(evidence),
        **_latencies(evidence),
        **_model(evidence.law),
    }


def _share(part: Figure, of: Figure) -> Figure:
    return derived(lambda one, other: one / other if other else MissingValue("compared with zero"), part, of)


def _saved(evidence: PtyEvidence) -> dict[str, Figure]:
    system, boot, kernel = map(evidence.pair, (stages.SYSTEM, stages.WHOLE, stages.KERNEL))
    less = {name: derived(lambda b, c: b - c, *pair) for name, pair in
            (("system", system), ("boot", boot), ("kernel", kernel), ("free", evidence.free))}  # fmt: skip
    a = derived(lambda times: times[stages.WHOLE], evidence.a)
    return {
        "system-saved": less["system"],
        "system-saved-share": _share(less["system"], system[0]),
        "saved": less["boot"],
        "saved-share": _share(less["boot"], boot[0]),
        "kernel-saved": less["kernel"],
        "kernel-part": _share(less["kernel"], less["boot"]),
        "free-saved": less["free"],
        "free-share": _share(less["free"], less["boot"]),
        "a-to-b": relative(boot[0], a),
    }


def _udev(evidence: PtyEvidence) -> dict[str, Figure]:
    def left(stage: str) -> Figure:
        b, c = evidence.pair(stage)
        return _share(c, b)

    early, late = left(stages.TRIGGER_EARLY), left(stages.TRIGGER)
    with_b = {stage: evidence.pair(stage)[0] for stage in
              (stages.COLDPLUG_EARLY, stages.INITRAMFS, stages.UDEV, stages.PROGRAMS)}  # fmt: skip
    return {
        "trigger-left-early": early,
        "trigger-left-late": late,
        "trigger-left": derived(max, early, late),
        "early-processing-left": left(stages.COLDPLUG_EARLY),
        "late-processing-left": left(stages.UDEV),
        "early-share": _share(with_b[stages.COLDPLUG_EARLY], with_b[stages.INITRAMFS]),
        "late-share": _share(with_b[stages.UDEV], with_b[stages.PROGRAMS]),
        "busy-share": derived(lambda done: done.busy / done.system, evidence.done),
    }


def _calls(evidence: PtyEvidence) -> dict[str, Figure]:
    low, high = (min(evidence.sizes), max(evidence.sizes)) if evidence.sizes else (0, 0)
    figures: dict[str, Figure] = {}
    for call in CALLS:
        if call.name in (MKNOD, STAT, FORK, EXEC):
            figure = per_count(evidence.sizes, call, None, low, high)
            figures[call.name] = _NOT_BOOTED if figure is None else round(figure, 2)
    figures["as-many-calls"] = derived(
        lambda mknod, fork, execs: int(abs(mknod - 2) < 0.5 and fork > 2 and execs > 2),
        figures[MKNOD], figures[FORK], figures[EXEC],
    )  # fmt: skip
    counts = evidence.terminals
    figures["fewer-nodes"] = counts[MOST] - counts[0] if {0, MOST} <= counts.keys() else _NOT_BOOTED
    return figures


def _latencies(evidence: PtyEvidence) -> dict[str, Figure]:
    figures: dict[str, Figure] = {}
    for stage in ("initramfs", "system"):
        b, c = (evidence.latency.get((stage, arm), _NOT_BOOTED) for arm in "BC")
        for letter, arm in (("b", b), ("c", c)):
            figures[f"{stage}-mean-{letter}"] = derived(lambda each: each.mean, arm)
            figures[f"{stage}-median-{letter}"] = derived(lambda each: each.median, arm)
            figures[f"{stage}-others-{letter}"] = derived(lambda each: each.others_mean, arm)
            figures[f"{stage}-early-{letter}"] = derived(lambda each: each.too_early, arm)
            figures[f"{stage}-events-{letter}"] = derived(lambda each: each.events, arm)
        means, medians = (_share(figures[f"{stage}-{what}-b"], figures[f"{stage}-{what}-c"])
                          for what in ("mean", "median"))  # fmt: skip
        figures[f"{stage}-latency-ratio"] = derived(min, means, medians)
        figures[f"{stage}-others-ratio"] = _share(figures[f"{stage}-others-b"], figures[f"{stage}-others-c"])
    return figures


def _model(law: CostLaw | MissingValue) -> dict[str, Figure]:
    no_exponent = MissingValue("no exponent could be computed")
    return {
        "exponent": derived(lambda each: no_exponent if each.growth is None else round(each.growth.value, 3), law),
        "law": derived(lambda each: each.law, law),
        "certainty": derived(lambda each: each.certainty, law),
        "slope": derived(lambda each: round(each.slope) if each.law == "n" else MissingValue("not linear"), law),
    }
