"""Booting the sizes of a plan, and one size more where a crossover is looked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from firstlight.analysis.mark_interval import measure
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.known_bands import KnownBand, band_for
from firstlight.errors import FirstlightError, UnhealthyBootError
from firstlight.experiment import boot_cache
from firstlight.experiment.cell_options import options_for
from firstlight.experiment.design import cells_of
from firstlight.experiment.plan_parser import read_text
from firstlight.experiment.results import canary_agrees
from firstlight.experiment.runner import RunProgress, run
from firstlight.experiment.scaling.costs import CostSeries, parts_of
from firstlight.experiment.scaling.plan import ScalePlan, arm_name, experiment_of, parse_scale_plan
from firstlight.experiment.schedule import Prepared, prepare_plan
from firstlight.lab.host.progress import Progress
from firstlight.lab.run.resolve import resolve
from firstlight.recipe.mode import RecordMode
from firstlight.stats.scaling.crossover import Bracket, bisect


@dataclass(frozen=True)
class Prepare:
    """A plan of scaling that can be booted."""

    plan: ScalePlan
    file: Path
    text: str
    experiment: Prepared


def prepare(file: Path, output: Path | None, progress: Progress) -> Prepare:
    """Read a plan, and find every input of every boot.

    :raises FirstlightError: when the plan or an input cannot be.
    """
    text = read_text(file)
    plan = parse_scale_plan(text, str(file))
    sizes = {name: plan.all_sizes() for name in plan.names()}
    experiment = experiment_of(plan, sizes, text, str(file))
    return Prepare(plan, file, text, prepare_plan(experiment, text, file, output, progress))


def without_effect(prepared: Prepare) -> list[str]:
    """Name every configuration whose boots have the same inputs at all sizes."""
    plan = prepared.plan
    keys = {cell.name: cell.key for cell in prepared.experiment.state.cells}
    found = []
    for name in plan.names():
        own = {keys[arm_name(plan, name, size)] for size in plan.all_sizes()}
        if len(own) == 1 and all(own):
            of = f" of `{name}`" if name else ""
            found.append(f"the size `{plan.variable}` changes no input of any boot{of}: all sizes are one boot")
    return found


def boot_all(prepared: Prepare, progress: RunProgress, jobs: int | None = None) -> tuple[list[CostSeries], list[str]]:
    """Boot every size that is not booted yet, and measure it.

    :returns: the costs of every configuration, and what the user should know of single boots.
    :raises FirstlightError: when nothing can be written, or exact boots of one recipe differ.
    """
    plan, store = prepared.plan, prepared.experiment.store
    state = run(prepared.experiment, progress, jobs)
    cells = {cell.name: cell for cell in state.cells}
    found, notes = [], []
    for name in plan.names():
        measured = CostSeries(name, exact=plan.mode == RecordMode.EXACT)
        for size in plan.all_sizes():
            cell = cells[arm_name(plan, name, size)]
            for repeat in range(1, plan.repeats + 1):
                if cell.problem is not None:
                    notes.append(f"{cell.name}: {cell.problem}")
                    break
                boot = open_boot(store.bundle(cell, repeat))
                if boot.manifest.failure is not None:
                    notes.append(f"{cell.name}: the boot failed ({boot.manifest.failure.reason}) and is left out")
                    continue
                _add(measured, plan, size, boot)
        found.append(measured)
    if state.canary is not None and canary_agrees(store, state) is False:
        message = f"{state.cells[state.canary].name} was booted twice, and the boots differ: they are not exact"
        raise FirstlightError(message, where=str(store.path), hint="`firstlight verify` shows the differences")
    return found, notes


def band_of_boots(prepared: Prepare) -> KnownBand:
    """The noise band of the first boot of a plan: calibrated or shipped."""
    experiment = prepared.experiment
    return band_for(open_boot(experiment.store.bundle(experiment.state.cells[0], 1)))


def bisect_crossing(
    prepared: Prepare, first: str, second: str, below: int, above: int, progress: Progress
) -> Bracket | None:
    """Find by exact boots between which two sizes the cheaper of two configurations changes.

    :param below: a size at which one of them is cheaper, and *above* one at which the other is.
    :raises FirstlightError: when a boot cannot be made, or does not come up.
    """

    def cost(name: str, size: int) -> int:
        boot = open_boot(_boot_once(prepared, name, size, progress))
        return measure(boot, prepared.plan.measure.first, prepared.plan.measure.last).time_ns

    difference: Callable[[int], float] = lambda size: cost(second, size) - cost(first, size)  # noqa: E731
    return bisect(difference, below, above)


def _boot_once(prepared: Prepare, name: str, size: int, progress: Progress) -> Path:
    plan = prepared.plan
    # Two arms at the least: the other configuration comes along, and is not looked at.
    sizes = {each: [size] for each in plan.names()}
    experiment = experiment_of(plan, sizes, prepared.text, str(prepared.file))
    cell = next(cell for cell in cells_of(experiment) if cell.name == arm_name(plan, name, size))
    options = options_for(experiment, cell, prepared.file.absolute().parent, Path("a.boot"), progress)
    inputs = resolve(options, progress)
    if not boot_cache.is_cached(inputs.key):
        progress.note(f"booting {cell.name}")
    try:
        return boot_cache.obtain(options, inputs, progress)[0]
    except UnhealthyBootError as error:
        message = f"{cell.name} does not come up: {error.message}"
        raise UnhealthyBootError(message, where=str(prepared.file), hint=error.hint) from error


def _add(measured: CostSeries, plan: ScalePlan, size: int, boot: Boot) -> None:
    marks = plan.measure.first, plan.measure.last
    measured.sizes.append(size)
    measured.costs.append(measure(boot, *marks).time_ns)
    measured.parts.append(parts_of(boot, plan.parts, *marks))
