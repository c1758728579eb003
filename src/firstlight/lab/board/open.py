"""Opening the board of a file."""

from __future__ import annotations

from pathlib import Path

from firstlight.errors import UsageError
from firstlight.lab.board.board import Board


def open_board(path: Path) -> Board:
    """Open the board of a file: `.toml` is a board file of Firstlight, `.yaml` a labgrid environment.

    :raises UsageError: when the file is missing or malformed.
    :raises LabError: when the console cannot be opened.
    :raises ModuleNotFoundError: for a labgrid environment without labgrid.
    """
    if path.suffix == ".toml":
        from firstlight.lab.board.plain import PlainBoard

        return PlainBoard(path)
    if path.suffix in (".yaml", ".yml"):
        from firstlight.lab.board.labgrid_board import LabgridBoard

        return LabgridBoard(path)
    hint = "a board file ends in `.toml`, a labgrid environment in `.yaml`"
    raise UsageError("this is not a file of a board", where=str(path), hint=hint)
