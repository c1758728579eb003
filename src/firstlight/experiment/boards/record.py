"""Recording some boots of a board."""

from __future__ import annotations

import shutil
from pathlib import Path

from firstlight.bundle.writer import check_destination
from firstlight.errors import LabError
from firstlight.experiment.boards.session import BoardBoot, BoardSession
from firstlight.lab.board.board import Arm, Board, check_arm
from firstlight.lab.board.open import open_board
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress

WARM_UP = "warm-up"


def record_boots(
    board: Path | Board,
    output: Path,
    *,
    repeat: int,
    warm_up: int | None,
    append: str,
    kernel: Path | None,
    initrd: Path | None,
    rootfs: Path | None,
    arm: str,
    force: bool,
    progress: Progress,
) -> list[tuple[str, BoardBoot]]:
    """Boot a board several times; every boot with its name, those of the warm-up too.

    :raises LabError: when an output is taken, or the board does not boot.
    :raises UsageError: for a board or an arm that cannot be.
    """
    cold = warm_up if warm_up is not None else 1 if repeat > 1 else 0
    folder = output.with_name(output.name.removesuffix(".boot"))
    outputs = [output] if repeat == 1 else [folder / f"{number}.boot" for number in range(1, repeat + 1)]
    warm = folder / WARM_UP if repeat > 1 else output.with_name(f"{folder.name}.{WARM_UP}")
    for each in outputs:
        if repeat == 1 or folder.is_dir():
            check_destination(each.absolute(), force=force)
    opened = open_board(board) if isinstance(board, Path) else board
    chosen = Arm(arm, append, kernel, initrd, rootfs)
    check_arm(opened, chosen)
    try:
        for parent in {path.parent for path in outputs} | ({warm} if cold else set()):
            parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"cannot be made: {error.strerror}", where=str(folder)) from error
    boots: list[tuple[str, BoardBoot]] = []
    with (
        interruptible(),
        progress,
        BoardSession(opened, folder if repeat > 1 else None, "its boots are kept; `--force` replaces them") as session,
    ):
        for number in range(1, cold + 1):
            progress.step(f"warm-up boot {number} of {cold}")
            booted = session.boot(chosen, warm / f"{number}.boot", {"warm_up": number})
            boots.append((f"warm-up {number}", BoardBoot(None, False, booted.power_cycles, booted.events)))
        for number, path in enumerate(outputs, 1):
            progress.step(f"boot {number} of {repeat}")
            if path.is_dir() and force:
                shutil.rmtree(path)
            booted = session.boot(chosen, path, {"block": number, "position": number})
            for event in booted.events:
                progress.note(f"{path.name}: {event}")
            boots.append((path.name, booted))
    return boots
