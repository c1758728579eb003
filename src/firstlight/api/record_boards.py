"""Recording boots of a board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.api.arguments import PathLike, as_path, progress_of
from firstlight.errors import UnhealthyBootError

if TYPE_CHECKING:
    from firstlight.experiment.boards.session import BoardBoot


@dataclass(frozen=True)
class BoardRecording:
    """Boots of a board."""

    boots: list[Path]
    """The bundles of boots that came up; warm-up boots are not among them."""
    events: list[str]
    """What went wrong, each with its boot."""


def record_board(
    board: PathLike,
    output: PathLike,
    *,
    repeat: int = 1,
    warm_up: int | None = None,
    append: str = "",
    kernel: PathLike | None = None,
    initrd: PathLike | None = None,
    rootfs: PathLike | None = None,
    arm: str = "board",
    force: bool = False,
    progress: bool = False,
) -> BoardRecording:
    """Boot a board and capture its console into bundles.

    Each boot switches the power off and on. A boot that hangs is repeated with up to as many power cycles as the board
    file allows; a boot that does not come up is an event, and the next one follows.

    :param board: a board file (`.toml`), or a labgrid environment (`.yaml`).
    :param output: the bundle; of several boots a directory with `1.boot`, `2.boot`, …, named without `.boot`.
    :param repeat: number of boots.
    :param warm_up: boots before those, which do not count: the first boots of a cold board differ. By default one
        before several boots and none before a single one. They are in `warm-up` of the directory.
    :param append: words for the kernel's command line, which the board's hook adds.
    :param kernel: a kernel for the board's `deploy` hook; likewise *initrd* and *rootfs*.
    :param arm: the name of the target, for the `deploy` hook.
    :param force: replace bundles that are there.
    :param progress: show on a terminal which boot runs.
    :raises UsageError: for a malformed board file, or a change that the board has no hook for.
    :raises LabError: when the board did not boot six times in a row.
    :raises UnhealthyBootError: when no boot came up.

    Source: docs/guides/boards.md.

    Example: ``firstlight.record_board("lab.toml", "base", repeat=12).events``.
    """
    from firstlight.experiment.boards.record import record_boots

    recording = record_boots(
        Path(board), Path(output), repeat=repeat, warm_up=warm_up, append=append, kernel=as_path(kernel),
        initrd=as_path(initrd), rootfs=as_path(rootfs), arm=arm, force=force, progress=progress_of(progress),
    )  # fmt: skip
    kept = [boot.bundle for _, boot in recording if boot.came_up and boot.bundle is not None]
    events = [f"{name}: {event}" for name, boot in recording for event in boot.events]
    if not kept:
        hint = "`firstlight capture` with only the port shows the board's output"
        raise UnhealthyBootError(f"no boot came up: {_last(recording)}", where=str(board), hint=hint)
    return BoardRecording(kept, events)


def _last(recording: list[tuple[str, BoardBoot]]) -> str:
    return "; ".join(recording[-1][1].events)
