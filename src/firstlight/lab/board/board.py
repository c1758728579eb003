"""What a session needs of a board, however the lab drives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from firstlight.errors import UsageError
from firstlight.lab.capture.session import CaptureOutcome


@dataclass(frozen=True)
class Arm:
    """What a board boots."""

    name: str = "board"
    append: str = ""
    """Words added to the kernel's command line."""
    kernel: Path | None = None
    initrd: Path | None = None
    rootfs: Path | None = None

    def environment(self) -> dict[str, str]:
        """The environment of a deploy command: a variable for each field, empty where nothing is given.

        >>> Arm("b", append="quiet").environment()["FIRSTLIGHT_APPEND"]
        'quiet'
        """
        return {
            "FIRSTLIGHT_ARM": self.name,
            "FIRSTLIGHT_APPEND": self.append,
            "FIRSTLIGHT_KERNEL": "" if self.kernel is None else str(self.kernel.absolute()),
            "FIRSTLIGHT_INITRD": "" if self.initrd is None else str(self.initrd.absolute()),
            "FIRSTLIGHT_ROOTFS": "" if self.rootfs is None else str(self.rootfs.absolute()),
        }

    def deployed_by(self, command: str, folder: Path) -> tuple[str, dict[str, str]]:
        """A deploy command as a shell runs it in the folder of the board's file, and its environment.

        >>> Arm().deployed_by("make flash", Path("/lab"))[1]["FIRSTLIGHT_FOLDER"]
        '/lab'
        """
        environment = {**self.environment(), "FIRSTLIGHT_FOLDER": str(folder)}
        return f'cd -- "$FIRSTLIGHT_FOLDER" && {{ {command}\n}}', environment

    @property
    def changes_something(self) -> bool:
        """Whether the board must be informed of it."""
        return bool(self.append or self.kernel or self.initrd or self.rootfs)


class Board(Protocol):
    """A board that can be booted again and again."""

    name: str
    """Its file."""
    digest: str
    """Of what the file says."""
    marks: tuple[tuple[str, str], ...]
    """Marks with the patterns of their lines; `ready` is among them."""
    can_append: bool
    """Whether words can be added to the kernel's command line."""
    can_deploy: bool
    """Whether other files, and other arms, can be deployed."""

    def deploy(self, arm: Arm) -> None:
        """Make the next boots those of an arm.

        :raises LabError: when that fails.
        """

    def capture(self, path: Path, about: Mapping[str, object]) -> CaptureOutcome:
        """Power the board off and on, and capture its console into a file until it is ready.

        :param about: further facts of the boot.
        :raises LabError: when the console or the relay fails, or nothing was printed.
        """

    def close(self) -> None:
        """Switch the board off and let go of it; this never fails."""


def check_arm(board: Board, arm: Arm) -> None:
    """Check that a board can boot an arm.

    :raises UsageError: when it has no hook for what the arm changes.
    """
    files = [name for name in ("kernel", "initrd", "rootfs") if getattr(arm, name) is not None]
    if files and not board.can_deploy:
        message = f"the board has no `deploy` hook for the {files[0]} of `{arm.name}`"
        raise UsageError(message, where=board.name, hint="add `deploy` to the board file")
    if arm.append and not board.can_append:
        message = f"the board has no hook for the command line of `{arm.name}`"
        raise UsageError(message, where=board.name, hint="add `deploy` or `[loader]` to the board file")
