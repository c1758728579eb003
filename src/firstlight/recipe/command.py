"""The choices of a boot as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from firstlight.recipe.choices import Choices

_DEFAULTS = Choices()


def repeat_command(choices: Choices, output: Path) -> str:
    """The command line that makes a boot again, ready for a shell.

    >>> repeat_command(Choices(append="quiet loglevel=3", profile=False), Path("a.boot"))
    "firstlight record --append 'quiet loglevel=3' --no-profile -o a.boot"
    """
    words = [word for each in fields(Choices) for word in _words(each.name, getattr(choices, each.name))]
    return shlex.join(["firstlight", "record", *words, "-o", str(output)])


def _words(name: str, value: object) -> Iterator[str]:
    """One field: its option is its name, without the unit, and in the singular where it is repeated."""
    default = getattr(_DEFAULTS, name)
    if value == default:
        return
    option = "--" + name.removesuffix("_s").replace("_", "-")
    if isinstance(value, bool):
        yield option if value else option.replace("--", "--no-", 1)
    elif isinstance(value, tuple):
        yield from (f"{option.removesuffix('s')}={word}" for word in value)
    else:
        # What is on by default, as a limit is, is switched off by 0.
        text = "0" if value is None else repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
        # A value that starts with a dash would be taken for an option.
        yield from [f"{option}={text}"] if text.startswith("-") or not text else [option, text]
