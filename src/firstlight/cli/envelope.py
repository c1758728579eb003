"""The one JSON document that a command prints with `--json`: what it found, or the error that ended it.

`docs/reference/formats/json-output.md` is the specification.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

VERSION = 1
"""The version of the shape of every command's data."""

GROUPS = ("baseline", "experiment", "farm", "fleet", "history", "image", "study", "tune")
"""The commands that have commands of their own."""

_ALIASES = {"bless": "baseline-set"}
_UNNAMED = {"study": ("run", ("list", "new", "recheck", "run")), "tune": ("run", ("run", "show"))}
"""The command that a group understands where none is named, and all that it has."""


@dataclass
class Envelope:
    """What the running command prints as JSON, once, when it ends."""

    arguments: Sequence[str] = ()
    parts: dict[str, Any] = field(default_factory=dict)

    @property
    def wanted(self) -> bool:
        """Whether `--json` is among the arguments."""
        return "--json" in self.arguments

    @property
    def verb(self) -> str:
        """The command, with the one of a group behind a hyphen; `firstlight` where none is named.

        >>> Envelope(["history", "add", "--json"]).verb, Envelope(["--json"]).verb
        ('history-add', 'firstlight')
        """
        words = [word for word in self.arguments if not word.startswith("-")] or ["firstlight"]
        default, commands = _UNNAMED.get(words[0], ("", ()))
        if default and (len(words) < 2 or words[1] not in commands):
            words = [words[0], default]
        verb = "-".join(words[: 2 if words[0] in GROUPS else 1])
        return _ALIASES.get(verb, verb)

    def fail(self, code: str, message: str, hint: str | None, exit_code: int, where: str | None = None) -> None:
        """Say which error ended the command."""
        self.parts["error"] = {
            "code": code, "message": message, "where": where, "hint": hint, "exit_code": exit_code,
        }  # fmt: skip

    def document(self) -> dict[str, Any]:
        """What is printed."""
        head = {"schema": f"firstlight.{self.verb}/{VERSION}", "command": ["firstlight", *self.arguments]}
        return head | self.parts

    def print(self) -> None:
        """Print the document, if there is anything in it: in plain ASCII, which can do nothing to a terminal."""
        if self.parts:
            print(json.dumps(self.document(), indent=2, ensure_ascii=True))


_running: list[Envelope] = []


def begin(arguments: Sequence[str]) -> Envelope:
    """The envelope of a command that begins to run, until :func:`end`."""
    _running.append(Envelope(list(arguments)))
    return _running[-1]


def end() -> None:
    """Print the envelope of the command that ends."""
    _running.pop().print()


def print_json(data: Any) -> None:
    """Give the data of the running command, which are printed when it ends."""
    _running[-1].parts["data"] = data
