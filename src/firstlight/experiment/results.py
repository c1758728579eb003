"""What came of an experiment so far: of every cell its boots, what they measured, and which do not count and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from firstlight.analysis.mark_interval import measure
from firstlight.bundle.boot import Boot
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.known_bands import KnownBand, band_for
from firstlight.errors import FirstlightError
from firstlight.experiment.boards.session import event_notes
from firstlight.experiment.cell_result import CellResult, OneBoot
from firstlight.experiment.health import sick
from firstlight.experiment.no_effect import without_effect
from firstlight.experiment.plan import ExperimentPlan, read_plan
from firstlight.experiment.plan_parser import PlanError
from firstlight.experiment.schedule import CANARY_REPEAT
from firstlight.experiment.store import PLAN, CellState, State, Store
from firstlight.quantities import joined
from firstlight.recipe.mode import RecordMode


@dataclass(frozen=True)
class Results:
    """Everything that an experiment says."""

    path: Path
    plan: ExperimentPlan
    state: State
    cells: list[CellResult]
    canary: bool | None
    """Whether the second boot of one recipe was the same; `None`: there is no second boot."""
    notes: list[str] = field(default_factory=list)
    band: KnownBand | None = None
    """The noise band of the first cell; none where boots are not exact."""

    def is_accident(self, change_ns: Fraction | None) -> bool:
        """Whether a change lies within the noise band, so that it is no effect."""
        return self.band is not None and change_ns is not None and self.band.covers(change_ns)

    @property
    def unit(self) -> str:
        """What a nanosecond is one of."""
        return "virtual time" if self.plan.mode == RecordMode.EXACT else "time of the host"

    @property
    def exit_code(self) -> int:
        """1 when a cell could not be booted or boots are not exact, 4 when a boot does not count, otherwise 0."""
        if self.canary is False or any(cell.problem is not None for cell in self.cells):
            return 1
        return 4 if any(boot.excluded is not None for cell in self.cells for boot in cell.boots) else 0

    @property
    def span(self) -> tuple[str, str] | None:
        """The two marks of every figure."""
        for cell in self.cells:
            for each in cell.counted:
                return each.first, each.last
        return None

    def boot(self, cell: CellResult) -> Boot:
        """A boot of a cell that counts, the first one.

        :raises FirstlightError: when none does.
        """
        for each in cell.boots:
            if each.measured is not None:
                return open_boot(each.path)
        raise FirstlightError(f"`{cell.name}` has no boot that counts: {cell.why_not}", where=str(self.path))


def read_results(path: Path) -> Results:
    """Read an experiment's directory: finished or not, what is there counts.

    :raises FirstlightError: when it is not an experiment's directory.
    """
    store = Store(path)
    state = store.read()
    plan = read_plan(path / PLAN)
    _check_fit(plan, state, str(path))
    repeats: dict[int, list[int]] = {number: [] for number in range(len(state.cells))}
    for number, repeat in state.order:
        if number not in repeats:
            raise PlanError("the experiment's state is damaged: its order names a missing cell", where=str(path))
        repeats[number].append(repeat)
    baseline: Mapping[str, str] | None = None
    cells, notes = [], []
    facts_of: dict[str, Mapping[str, str]] = {}
    for number, cell in enumerate(state.cells):
        boots: list[OneBoot] = []
        for repeat in sorted(repeats[number]):
            boot, facts = _one(store, plan, cell, repeat, baseline if number or boots else None, number == 0)
            if number == 0 and baseline is None and boot.measured is not None:
                baseline = facts
            if boot.measured is not None:
                facts_of.setdefault(cell.name, facts)
            boots.append(boot)
        cells.append(CellResult(cell.name, cell.directory, cell.levels, cell.key, boots, cell.problem))
    canary = canary_agrees(store, state)
    if canary is False:
        notes.append("two boots of one recipe differ: this testbed is not exact, so these figures are not reliable")
    missing = sum(1 for cell in cells for boot in cell.boots if not boot.recorded)
    if missing:
        lacking = "1 boot is" if missing == 1 else f"{missing} boots are"
        notes.append(f"{lacking} missing: `firstlight experiment run` continues")
    if plan.board is not None:
        notes += event_notes(path)
    if plan.mode == RecordMode.EXACT:
        notes += without_effect(plan, cells, facts_of)
    spans = {(each.first, each.last) for cell in cells for each in cell.counted}
    if len(spans) > 1:
        shown = ", ".join(f"{first} to {last}" for first, last in sorted(spans))
        raise FirstlightError(
            f"its boots have different ends ({shown})", where=str(path), hint="set the marks in `[measure]`"
        )
    band = _band(cells[0]) if plan.mode == RecordMode.EXACT and canary is not False else None
    if band is not None:
        notes.append(band.text)
        notes += _accidents(cells, band)
    return Results(path, plan, state, cells, canary, notes, band)


def _band(baseline: CellResult) -> KnownBand | None:
    """The noise band of the first cell, if it has a boot that counts."""
    path = next((boot.path for boot in baseline.boots if boot.measured is not None), None)
    return None if path is None else band_for(open_boot(path))


def _accidents(cells: Sequence[CellResult], band: KnownBand) -> Iterator[str]:
    """The cells whose change is no effect."""
    before, *others = ((f"`{cell.name}`", cell.time) for cell in cells)
    within = [
        name for name, time in others if time is not None and before[1] is not None and band.covers(time - before[1])
    ]
    if within:
        yield f"the change from {before[0]} is within the noise band and may be an accident: {joined(within, 5)}"


def _check_fit(plan: ExperimentPlan, state: State, where: str) -> None:
    """Check that state and plan are of one experiment: both are replaced as a whole, but one after the other."""
    known = {factor.name: set(factor.levels) for factor in plan.factors}
    arms = [arm.name for arm in plan.arms]
    for cell in state.cells:
        if arms and cell.name in arms and not cell.levels:
            continue
        if known and cell.levels.keys() == known.keys() and all(cell.levels[name] in known[name] for name in known):
            continue
        raise FirstlightError(
            f"the experiment's state and its plan do not match: cell `{cell.name}`",
            where=where,
            hint="run the plan again: boots are kept",
        )


def _one(
    store: Store,
    plan: ExperimentPlan,
    cell: CellState,
    repeat: int,
    baseline: Mapping[str, str] | None,
    is_baseline: bool,
) -> tuple[OneBoot, Mapping[str, str]]:
    path = store.bundle(cell, repeat)
    if not path.is_dir():
        return OneBoot(repeat, path, None, None, recorded=False), {}
    try:
        boot = open_boot(path)
        if key_of_boot(boot.manifest) != cell.key:
            return OneBoot(repeat, path, None, "it has another recipe: run the plan again"), {}
        facts = boot.fact_values()
        reasons = sick(boot, plan.health, facts if is_baseline and baseline is None else baseline)
        if reasons:
            more = f" (and {len(reasons) - 3} more)" if len(reasons) > 3 else ""
            return OneBoot(repeat, path, None, "; ".join(reasons[:3]) + more), facts
        return OneBoot(repeat, path, measure(boot, plan.measure.first, plan.measure.last), None), facts
    except FirstlightError as error:
        meant = (error.hint or "").partition("\n")[0]
        meant = f"; {meant}" if meant.startswith("did you mean") else ""
        return OneBoot(repeat, path, None, error.message + meant), {}


def canary_agrees(store: Store, state: State) -> bool | None:
    """Whether both boots of the canary have the same tables; `None` where there are not two to be compared."""
    if state.canary is None or not 0 <= state.canary < len(state.cells):
        return None
    cell = state.cells[state.canary]
    try:
        first, second = (open_boot(store.bundle(cell, repeat)).manifest for repeat in (1, CANARY_REPEAT))
    except FirstlightError:
        return None
    if key_of_boot(first) != key_of_boot(second) or first.failure is not None:
        return None
    return first.tables == second.tables
