"""Marks of the user's own: what their names and patterns may be."""

from __future__ import annotations

import re

from firstlight import _core
from firstlight.schema.marks import Mark

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")

PATTERN_HINT = "the syntax is that of https://docs.rs/regex; a literal `[` is `\\[`"

NAME_HINT = "a name has lower case letters, digits, `_`, `.` and `-`"
ONLY_RECORDED = "this mark comes only from the records"


def is_name(name: str) -> bool:
    """Whether a mark may have this name: lower case letters, digits, `_`, `.` and `-`.

    >>> is_name("camera_up"), is_name("Camera up")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


def pattern_error(pattern: str) -> str | None:
    """Why a pattern cannot be that of a mark; none if it can.

    >>> pattern_error("login: ")
    >>> pattern_error("")
    'it is empty and matches every line'
    """
    if not pattern:
        return "it is empty and matches every line"
    try:
        _core.Pattern(pattern)
    except ValueError as error:
        return str(error)
    return None


def checked_pattern(pattern: str) -> str:
    """A pattern of a file.

    :raises ValueError: when it cannot be read.
    """
    if (error := pattern_error(pattern)) is not None:
        raise ValueError(f"the pattern cannot be read: {error}; {PATTERN_HINT}")
    return pattern


def checked_marks(marks: dict[str, str]) -> dict[str, str]:
    """Marks of a file: names and patterns.

    :raises ValueError: for a name that cannot be, one of the vocabulary, and a pattern that cannot be read.

    >>> checked_marks({"kernel_start": "camera"})
    Traceback (most recent call last):
    ValueError: `kernel_start` cannot be set: this mark comes only from the records
    """
    for name, pattern in marks.items():
        if name == Mark.READY:
            raise ValueError("`ready` cannot be set here: the key `ready` sets it")
        if name in tuple(Mark):
            raise ValueError(f"`{name}` cannot be set: {ONLY_RECORDED}")
        if not is_name(name):
            raise ValueError(f"`{name}` is not a name: {NAME_HINT}")
        try:
            checked_pattern(pattern)
        except ValueError as error:
            raise ValueError(f"`{name}`: {error}") from None
    return marks
