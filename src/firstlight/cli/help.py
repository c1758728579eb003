"""The overview that `firstlight --help` prints: commands by task, each with a line that is never cut."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import typer
from typer.core import TyperGroup

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""What every command's help has in common."""


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


class RunByDefault(TyperGroup):
    """A group that understands its command `run` where none is named: `firstlight study tree-walk`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before arguments that name no command."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


def command_group(text: str, cls: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """A command that has commands of its own, as `history add`.

    :param text: what its help says.
    """
    return typer.Typer(help=text, cls=cls, no_args_is_help=True, rich_markup_mode=None, context_settings=SETTINGS)
