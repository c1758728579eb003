"""The generated parts of `docs/reference/commands`: between two comments, the usage and the options of a command."""

from __future__ import annotations

import re
from pathlib import Path

from reference.commands import Command

_BLOCK = re.compile(r"<!-- generated: (firstlight[a-z ]*) -->\n.*?<!-- end of generated -->\n", re.DOTALL)


def block(command: Command) -> str:
    """The usage and the tables of one command, with the comments that enclose them.

    :param command: a command without commands of its own.
    """
    lines = [f"<!-- generated: {command.name} -->", "```", command.usage, "```", ""]
    for title, rows in (("Argument", command.arguments), ("Option", command.options)):
        if rows:
            lines += [f"| {title} | Meaning |", "|---|---|"]
            lines += [f"| {_names(name)} | {text.replace('|', chr(92) + '|')} |" for name, text in rows] + [""]
    return "\n".join([*lines, "<!-- end of generated -->", ""])


def regenerated(page: str, commands: dict[str, Command]) -> str:
    """A page with every generated part as the command line is now.

    :param page: the Markdown of the page.
    :param commands: every command by its name, as `firstlight history add`.
    :raises KeyError: where the page has a part for a command that there is not.
    """
    return _BLOCK.sub(lambda found: block(commands[found[1]]), page)


def pages(folder: Path, program: Command) -> dict[Path, str]:
    """Every page of the reference of commands, regenerated.

    :param folder: `docs/reference/commands`.
    :param program: what :func:`reference.commands.read_commands` gives.
    """
    commands = {command.name: command for command in program.walk()}
    return {path: regenerated(path.read_text(), commands) for path in sorted(folder.glob("*.md"))}


def _names(names: str) -> str:
    """`-o, --output FILE` as two names in code."""
    return ", ".join(f"`{name}`" for name in names.replace("|", "\\|").split(", "))
