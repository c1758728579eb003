"""Marks that the user asks for: `NAME=REGEX`, and `--ready REGEX`."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.errors import UsageError
from firstlight.recipe.own_marks import NAME_HINT, ONLY_RECORDED, PATTERN_HINT, is_name, pattern_error
from firstlight.schema.marks import Mark

WantedMarks = tuple[tuple[str, str], ...]
"""Names of marks, each with the pattern of its line."""


def wanted_marks(ready: str | None, marks: Sequence[str]) -> WantedMarks:
    """Read the marks that the user asks for.

    :param ready: the pattern of the line at which the boot ends.
    :param marks: `NAME=REGEX`, each.
    :raises UsageError: for a name that is not one, the name of a mark of the vocabulary, a name that is given twice,
        and a pattern that cannot be read.

    >>> wanted_marks("login: ", ["camera_up=camera [0-9] up"])
    (('ready', 'login: '), ('camera_up', 'camera [0-9] up'))
    """
    wanted = [] if ready is None else [_checked(Mark.READY, ready, "--ready")]
    for given in marks:
        name, separator, pattern = given.partition("=")
        if not separator or not is_name(name):
            hint = f"such as `--mark camera_up='camera 0 up'`; {NAME_HINT}"
            raise UsageError(f"`--mark` needs NAME=REGEX: `{given}`", hint=hint)
        if name in (known for known, _ in wanted):
            raise UsageError(f"the mark `{name}` is given twice", hint="one pattern can match several lines: `a|b`")
        if name in tuple(Mark):
            other = "choose another name; `--ready REGEX` sets the end of the boot"
            hint = "`--ready REGEX` sets it" if name == Mark.READY else other
            raise UsageError(f"`--mark` cannot set `{name}`: {ONLY_RECORDED}", hint=hint)
        wanted.append(_checked(name, pattern, "--mark"))
    return tuple(wanted)


def _checked(name: str, pattern: str, option: str) -> tuple[str, str]:
    if (error := pattern_error(pattern)) is not None:
        raise UsageError(f"the pattern of `{option}` cannot be read: `{pattern}`: {error}", hint=PATTERN_HINT)
    return (str(name), pattern)
