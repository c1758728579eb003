"""The overview that `firstlight --help` prints: commands by task, each with a line that is never cut."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from typer.core import TyperGroup


class Task(StrEnum):
    """What a command is used for; the headings of the overview."""

    RECORD = "Record"
    LOOK = "Look at a boot"
    COMPARE = "Compare boots and experiment"
    AUTOMATE = "Automate"
    SET_UP = "Set up"


class GroupedCommands(TyperGroup):
    """A group that lists its commands by task: each has its task as `rich_help_panel` and a summary as `short_help`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each task."""
        shown = [(name, command) for name in self.list_commands(ctx)
                 if (command := self.get_command(ctx, name)) is not None and not command.hidden]  # fmt: skip
        widest = max(len(name) for name, _ in shown)
        for task in Task:
            rows = [(name.ljust(widest), command.short_help or "") for name, command in shown
                    if getattr(command, "rich_help_panel", None) == task]  # fmt: skip
            if rows:
                with formatter.section(task.value):
                    formatter.write_dl(rows)
