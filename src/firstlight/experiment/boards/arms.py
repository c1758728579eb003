"""From a cell of a plan to what a board boots."""

from __future__ import annotations

from pathlib import Path

from firstlight.experiment.change import RecipeChange
from firstlight.experiment.kernel_build import kernel_for
from firstlight.experiment.plan import ExperimentPlan
from firstlight.experiment.plan_parser import PlanError
from firstlight.lab.board.board import Arm
from firstlight.lab.host.progress import Progress

_BOARD_CAN = frozenset({"append", "kernel", "kconfig", "initrd", "rootfs"})


def arm_for(plan: ExperimentPlan, name: str, change: RecipeChange, folder: Path, progress: Progress) -> Arm:
    """What a board boots for a cell; a kernel that has to be built is built.

    :param change: of the cell and of all cells.
    :param folder: where the plan is: its relative paths begin there.
    :raises PlanError: when it changes what only an emulated machine has.
    :raises FirstlightError: when a kernel cannot be built.
    """
    own = RecipeChange.model_fields.keys()
    given = {*(change.given() & own), *(plan.base.model_fields_set - own)}
    if others := sorted(given - _BOARD_CAN):
        key = others[0].replace("_", "-")
        raise PlanError(f"`{name}`: a board has no `{key}`", hint="its `deploy` hook has the name of the arm")
    kernel = None if change.kconfig is None else kernel_for(change.kconfig, plan.build, folder, progress)
    paths = {key: folder / text for key in ("kernel", "initrd", "rootfs") if (text := getattr(change, key)) is not None}
    if kernel is not None:
        paths["kernel"] = kernel
    return Arm(name, change.append, **paths)
