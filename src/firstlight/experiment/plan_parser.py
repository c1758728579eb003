"""A plan's text: read, taken apart, and checked against what a plan may say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from firstlight.errors import MISSING_INPUT, FirstlightError
from firstlight.toml_errors import explain, explain_syntax

Model = TypeVar("Model", bound=BaseModel)


class PlanError(FirstlightError):
    """A plan that cannot be run."""

    default_exit_code = 2


def read_text(path: Path) -> str:
    """The text of a plan.

    :raises PlanError: when the file cannot be read, or is not text.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PlanError(f"cannot read the plan: {error.strerror}", where=str(path), exit_code=MISSING_INPUT) from error
    except UnicodeDecodeError as error:
        raise PlanError(f"the plan is not UTF-8 text, from byte {error.start} on", where=str(path)) from error


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """What a plan says, unchecked.

    :param where: the file, for messages.
    :raises PlanError: when it is not TOML.

    >>> parse_toml('title = "a"', "x.toml")
    {'title': 'a'}
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place, message = explain_syntax(str(error), where)
        raise PlanError(message, where=place, hint="a plan is TOML: https://toml.io") from error
    except RecursionError as error:
        raise PlanError("the plan is nested too deeply", where=where) from error


def checked(data: object, model: type[Model], text: str, where: str, inside: str = "") -> Model:
    """Check a plan, or a part of it, against its model.

    :param text: the whole plan's, to find the line in.
    :param inside: the table that a part was made of, for messages.
    :raises PlanError: naming the line, what is wrong there, and the nearest known key.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        place, message, hint = explain(error, model, text, where)
        section = f" in `[{inside}]`" if inside and f"[{inside}]" not in message else ""
        raise PlanError(message + section, where=place, hint=hint) from error
