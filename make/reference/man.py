"""Manual pages in the macros of man(7): one for the program and one for each command."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from reference.commands import Command

# Of the sources: what is installed may be older.
_CARGO = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text())
_VERSION = _CARGO["workspace"]["package"]["version"]

_STATUS = (
    ("0", "Success."),
    ("1", "The command failed."),
    ("2", "Wrong usage, or an input file that does not exist or cannot be read."),
    ("3", "A regression."),
    ("4", "An unhealthy boot: it failed, or evidence that a rule needs is missing."),
    ("5", "Inconclusive, where `--strict` or `--fail` asks for a decision."),
    ("130", "Interrupted."),
)
_ENVIRONMENT = (
    ("XDG_CACHE_HOME", "Where the cache `firstlight` lies; otherwise `~/.cache`."),
    ("NO_COLOR", "Print without colours."),
    ("COLUMNS", "The width of tables where the output is not a terminal."),
    ("FIRSTLIGHT_CONFINE", "`no` runs QEMU without Landlock, for a QEMU outside the system directories."),
)


def man_pages(program: Command) -> dict[str, str]:
    """Every page by its file name: `firstlight.1`, `firstlight-record.1`, …

    :param program: what :func:`reference.commands.read_commands` gives.
    """
    pages = [program, *program.commands]
    return {f"{_title(page)}.1": "\n".join(_page(page, program)) + "\n" for page in pages}


def _page(command: Command, program: Command) -> Iterator[str]:
    yield f'.TH {_title(command).upper()} 1 "" "Firstlight {_VERSION}" "Firstlight manual"'
    yield from (".SH NAME", f"{_escape(_title(command))} \\- {_escape(command.summary)}", ".SH SYNOPSIS")
    leaves = command.commands if command.commands and command.path else (command,)
    for index, leaf in enumerate(leaves):
        yield from ([".br"] if index else [])
        yield _synopsis(leaf)
    yield from (".SH DESCRIPTION", *_paragraphs(command.text))
    if command.path:
        for leaf in leaves:
            if command.commands:
                yield from (f".SS {_escape(leaf.name)}", *_paragraphs(leaf.text))
            else:
                yield ".SH OPTIONS"
            yield from _terms([*leaf.arguments, *leaf.options])
    else:
        yield ".SH COMMANDS"
        yield from _terms((f"firstlight-{child.path[0]}(1)", f"{child.summary}.") for child in command.commands)
        yield from (".SH OPTIONS", *_terms(command.options))
    yield from (".SH EXIT STATUS", *_terms(_STATUS), ".SH ENVIRONMENT", *_terms(_ENVIRONMENT))
    examples = [line for leaf in leaves for line in leaf.examples]
    if examples:
        yield from (".SH EXAMPLES", ".nf", *map(_escape, examples), ".fi")
    yield ".SH SEE ALSO"
    yield ",\n".join(f".BR {_escape(_title(other))} (1)" for other in _related(command, program)).replace(",\n", " ,\n")


def _related(command: Command, program: Command) -> list[Command]:
    if not command.path:
        return list(program.commands)
    return [program, *(other for other in program.commands if other.task == command.task and other != command)]


def _title(command: Command) -> str:
    return "-".join(("firstlight", *command.path))


def _synopsis(command: Command) -> str:
    rest = command.usage.removeprefix(command.name).strip()
    return f"\\fB{_escape(command.name)}\\fR {_escape(rest)}".rstrip()


def _paragraphs(paragraphs: Iterable[str]) -> Iterator[str]:
    for index, paragraph in enumerate(paragraphs):
        yield from ([".PP"] if index else [])
        yield from [".nf", *map(_text, paragraph.splitlines()), ".fi"] if "\n" in paragraph else [_text(paragraph)]


def _terms(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", f"\\fB{_escape(name)}\\fR", _text(text))


def _text(text: str) -> str:
    """A paragraph: what stands in back quotes is bold."""
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fR", _escape(text))


def _escape(text: str) -> str:
    """A line that troff shows as it is, whatever it begins with."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return "\\&" + text if text.startswith((".", "'")) else text
