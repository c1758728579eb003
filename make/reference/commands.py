"""The commands of Firstlight as data, read from the command line: the source of the reference and manual pages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typer.main import get_command

from firstlight.cli.app import app
from firstlight.cli.help import Task

_VALUES = {"int": "N", "int range": "N", "float": "X", "float range": "X", "path": "PATH", "str": "TEXT"}
"""What stands for a value without a name of its own."""


@dataclass(frozen=True)
class Command:
    """One command, or a group of commands."""

    path: tuple[str, ...]
    """Its words after `firstlight`; none for the program itself."""
    summary: str
    usage: str
    text: tuple[str, ...]
    """The paragraphs of its help."""
    examples: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    task: str | None
    commands: tuple[Command, ...]

    @property
    def name(self) -> str:
        """As it is typed: `firstlight history add`."""
        return " ".join(("firstlight", *self.path))

    def walk(self) -> Iterator[Command]:
        """The command and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


def read_commands() -> Command:
    """The program with every command that its help shows."""
    return _read(get_command(app), (), None)


def _read(command: Any, path: tuple[str, ...], parent: Any) -> Command:
    context = command.make_context(path[-1] if path else "firstlight", [], parent=parent, resilient_parsing=True)
    text, examples = _help(command.help or "")
    rows = [(parameter, parameter.get_help_record(context)) for parameter in command.params]
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    children = [(name, command.get_command(context, name)) for name in names]
    shown = sorted(((name, child) for name, child in children if not child.hidden), key=lambda row: _place(*row))
    return Command(
        path=path,
        summary=(command.short_help or text[0]).rstrip("."),
        usage=" ".join(["firstlight", *path, *_usage(command, context)]),
        text=text,
        examples=examples,
        arguments=tuple(_row(*row) for parameter, row in rows if row and parameter.param_type_name == "argument"),
        options=tuple(_row(*row) for parameter, row in rows if row and parameter.param_type_name == "option"),
        task=getattr(command, "rich_help_panel", None),
        commands=tuple(_read(child, (*path, name), context) for name, child in shown),
    )


def _place(name: str, command: Any) -> int:
    tasks = [task.value for task in Task]
    task = getattr(command, "rich_help_panel", None)
    return tasks.index(task) if task in tasks else 0


def _usage(command: Any, context: Any) -> Iterator[str]:
    for piece in command.collect_usage_pieces(context):
        # An argument stands there as `{BOOT}`, `{BOOT...}...` or `[[BOOT]]`.
        name = re.sub(r"[\[\]{}]|\.\.\.", "", piece)
        if piece.startswith("COMMAND"):
            yield piece
        elif piece.startswith("{"):
            yield f"{name}..." if "..." in piece else name
        else:
            yield f"[{name}]..." if "..." in piece else f"[{name}]"


def _help(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paragraphs, of which those with line breaks are laid out already, and the lines below `Examples:`."""
    paragraphs, examples = [], []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if not paragraph.startswith("\b"):
            paragraphs.append(" ".join(paragraph.split()))
        elif "Examples:" in paragraph:
            examples += [line.strip() for line in paragraph.splitlines() if line.strip().startswith("firstlight ")]
        else:
            paragraphs.append(paragraph.removeprefix("\b").strip("\n"))
    return tuple(paragraphs), tuple(examples)


def _row(name: str, text: str) -> tuple[str, str]:
    """A row of the help: without the Python types, and with the default and the range in words."""
    text, _, facts = text.removesuffix("]").partition("  [")
    for fact in facts.split("; ") if facts else []:
        if fact.startswith("default: "):
            text += f" Default: `{fact.removeprefix('default: ')}`."
        elif fact == "required":
            text += " Required."
        elif bounds := re.fullmatch(r"(\d+)<=x<=(\d+)", fact):
            text += f" From {bounds[1]} to {bounds[2]}."
        else:
            text += f" At least {fact.removeprefix('x>=')}."
    return _name(name), text.strip()


def _name(name: str) -> str:
    """A name with its value as the help shows it: `--limit <int range>` is `--limit N`, `BOOT <path>` is `BOOT`."""
    name, _, kind = name.removesuffix(">").partition(" <")
    if not name.lstrip("[").startswith("-"):
        return name.strip("[]")
    return " ".join([name, *([_VALUES.get(kind, kind)] if kind else [])])
