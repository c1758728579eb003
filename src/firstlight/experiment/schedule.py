"""From a plan to what has to be booted: every input found, and every boot with its key."""

from __future__ import annotations

import os
import random
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.bundle.key import key_of_described
from firstlight.cache import NotCachedError, only_cached
from firstlight.errors import FirstlightError
from firstlight.experiment.boards.arms import arm_for
from firstlight.experiment.boards.session import described
from firstlight.experiment.cell_options import options_for
from firstlight.experiment.change import combine
from firstlight.experiment.design import Cell, cells_of
from firstlight.experiment.no_effect import one_boot
from firstlight.experiment.plan import ExperimentPlan, parse_plan
from firstlight.experiment.plan_parser import read_text
from firstlight.experiment.randomize import blocks
from firstlight.experiment.store import PLAN, STATE, CellState, State, Store
from firstlight.lab.board.board import Arm, Board, check_arm
from firstlight.lab.board.open import open_board
from firstlight.lab.host.progress import Progress, SilentProgress
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.recipe.isa import architectures
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions
from firstlight.schema.marks import Mark
from firstlight.suggest import nearest

CANARY_REPEAT = 2

#: Marks of every recording that no function of the kernel makes, or several do.
_OTHER_MARKS = frozenset(
    {Mark.POWER_ON, Mark.DECOMPRESSION_START, Mark.KERNEL_ENTRY, Mark.USER_START, Mark.GUEST_START, Mark.READY}
    | {f"initcall_{level}" for level in (
        "early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late")}
)  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """An experiment that can be run."""

    store: Store
    plan: ExperimentPlan
    text: str
    """The plan's, as it is written."""
    state: State
    options: list[RecordOptions]
    """Of each cell."""
    inputs: list[Inputs | None]
    """What the options of each cell were resolved to; none where that needs what is not built."""
    notes: list[str]
    board: Board | None = None
    """The board that boots, instead of QEMU."""
    arms: list[Arm] = field(default_factory=list)
    """Of each cell, the arm that the board boots."""

    def boots(self) -> list[tuple[int, int]]:
        """Every boot that belongs to it: cell and repeat."""
        canary = [] if self.state.canary is None else [(self.state.canary, CANARY_REPEAT)]
        return [*self.state.order, *canary]


def directory_of(plan: Path, output: Path | None) -> Path:
    """Where an experiment is: beside its plan, and called like it, unless somewhere else is given."""
    if output is not None:
        return output
    if plan.suffix == "":
        raise FirstlightError(
            "the experiment's directory would be the plan itself", where=str(plan), hint="choose another with `-o`",
            exit_code=2,
        )  # fmt: skip
    return plan.with_suffix("")


def prepare(
    plan_file: Path, output: Path | None = None, progress: Progress | None = None, *, dry_run: bool = False
) -> Prepared:
    """Read a plan, and find every input of every boot; nothing is written or booted, but perhaps the probe that asks a
    new kernel for its symbols, and an image or a kernel that has to be made first.

    :param dry_run: boot nothing and build nothing; a cell that needs what is not built has no key.
    :raises FirstlightError: when the plan, an input or the directory cannot be.
    """
    text = read_text(plan_file)
    plan = parse_plan(text, str(plan_file))
    return prepare_plan(plan, text, plan_file, output, progress, dry_run=dry_run)


def prepare_plan(
    plan: ExperimentPlan,
    text: str,
    plan_file: Path,
    output: Path | None = None,
    progress: Progress | None = None,
    *,
    dry_run: bool = False,
    board: Board | None = None,
) -> Prepared:
    """The same for a plan that was made of what the file says.

    :param text: the file's.
    :param board: the board to boot; by default the one that the plan names.
    :raises FirstlightError: when an input or the directory cannot be.
    """
    progress = progress or SilentProgress()
    cells = cells_of(plan)
    store = Store(directory_of(plan_file, output))
    former = _former(store)
    folder = plan_file.absolute().parent
    if plan.board is not None and board is None:
        board = open_board(folder / plan.board)
    options: list[RecordOptions] = []
    resolved: list[Inputs | None] = []
    states, arms = [], []
    for number, cell in enumerate(cells):
        progress.step(f"looking at the inputs of {cell.name} ({number + 1} of {len(cells)})")
        try:
            bundle = store.path.absolute() / cell.directory / "1.boot"
            with only_cached() if dry_run else nullcontext():
                inputs = None
                if board is not None:
                    arm = arm_for(plan, cell.name, combine(plan.base, cell.change), folder, progress)
                    check_arm(board, arm)
                    arms.append(arm)
                    chosen = RecordOptions(output=bundle, append=arm.append, live=True)
                    key = key_of_described(*described(board, arm))
                else:
                    chosen = options_for(plan, cell, folder, bundle, progress)
                    inputs = resolve(chosen, progress, dry_run=dry_run)
                    key = inputs.key
        except NotCachedError:
            chosen, inputs, key = RecordOptions(output=bundle, append=cell.change.append), None, ""
        except FirstlightError as error:
            kind = "arm" if plan.arms else "cell"
            place = f"{plan_file}: {kind} `{cell.name}`" + (f": {error.where}" if error.where else "")
            raise type(error)(error.message, where=place, hint=error.hint, exit_code=error.exit_code) from error
        options.append(chosen)
        resolved.append(inputs)
        states.append(CellState(name=cell.name, directory=cell.directory, levels=cell.levels, key=key))
    seed = plan.seed if plan.seed is not None else former.seed if former else random.SystemRandom().randrange(1 << 31)
    repeats = plan.boots_per_cell
    state = State(
        schema_version=1,
        plan_file=os.path.abspath(plan_file),  # noqa: PTH100  a link's own name is kept
        seed=seed,
        order=blocks([cell.name for cell in cells], repeats, seed),
        canary=0 if plan.canary and plan.mode == RecordMode.EXACT and repeats == 1 else None,
        cells=states,
    )
    notes = [] if board is not None else [*unusual_marks(plan), *_notes(plan, cells, states)]
    return Prepared(store, plan, text, state, options, resolved, notes, board, arms)


def _former(store: Store) -> State | None:
    """What was run here before.

    :raises FirstlightError: when another process uses the directory.
    """
    path = store.path
    if not os.path.lexists(path):
        return None
    if (path / STATE).is_file():
        try:
            return store.read()
        except FirstlightError:
            # Its boots are still good: each says by itself what it is.
            return None
    if not path.is_dir() or any(each.name not in (PLAN, ".lock") for each in path.iterdir()):
        raise FirstlightError("this already exists, and is not an experiment", where=str(path), hint="choose `-o`")
    return None


def unusual_marks(plan: ExperimentPlan) -> list[str]:
    """Marks that a plan names, that recordings do not have by themselves, and whose names look like one of these.

    A guest may set marks of any name: only a boot shows whether they exist.
    """
    usual = {mark.mark for each in architectures().values() for mark in each.marks} | _OTHER_MARKS
    named = [("measure", "from", plan.measure.first), ("measure", "to", plan.measure.last)]
    named += [("health", "marks", mark) for mark in plan.health.marks]
    named += [(f"stage {stage.name}", key, mark) for stage in plan.stages
              for key, mark in (("from", stage.first), ("to", stage.last))]  # fmt: skip
    return [
        f"`{table}`, `{key}`: no recording has a mark `{mark}` by itself{meant}"
        for table, key, mark in named
        if mark is not None and mark not in usual and (meant := nearest(mark, usual))
    ]


def _notes(plan: ExperimentPlan, cells: list[Cell], states: list[CellState]) -> list[str]:
    """What the user should know before anything is booted."""
    notes = [
        f"factor `{factor.name}`: levels `{one}` and `{other}` are equal"
        for factor in plan.factors
        for one, other in factor.same_levels()
    ]
    if plan.arms:
        for number, state in enumerate(states):
            for earlier, cell in zip(states[:number], cells, strict=False):
                if cells[number].change == cell.change:
                    notes.append(f"arms `{earlier.name}` and `{state.name}` make the same change: they are one boot")
                    break
                if state.key and state.key == earlier.key:
                    notes.append(one_boot(earlier.name, state.name))
                    break
        return notes
    for factor in plan.factors:
        if not factor.same_levels() and _changes_no_input(factor.name, cells, states):
            notes.append(f"factor `{factor.name}` changes no input of any boot")
    return notes


def _changes_no_input(factor: str, cells: list[Cell], states: list[CellState]) -> bool:
    keys: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for cell, state in zip(cells, states, strict=True):
        others = tuple((name, level) for name, level in cell.levels.items() if name != factor)
        keys.setdefault(others, []).append(state.key)
    compared = [each for each in keys.values() if len(each) > 1]
    return bool(compared) and all(state.key for state in states) and all(len(set(each)) == 1 for each in compared)
