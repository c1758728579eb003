"""A question about a kernel function: `FUNCTION(VALUE, …)`, with parameters, members behind them, and kinds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from firstlight.errors import UsageError

KINDS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "string")
"""How a value can be read; without one, its type decides."""
_WHERE = "the question"
_QUESTION = re.compile(r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_VALUE = re.compile(r"([A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*)*)(?::(\w+))?")
_SHAPE = "such as `do_sys_openat2(dfd, filename:string, how->flags)`"


@dataclass(frozen=True)
class Value:
    """A value of a question."""

    path: tuple[str, ...]
    """The parameter, and the members to follow from it."""
    kind: str | None
    """One of :data:`KINDS`; none where its type decides."""

    @property
    def name(self) -> str:
        """What its column is called."""
        return "->".join(self.path)


@dataclass(frozen=True)
class Question:
    """What is asked of a function of the kernel."""

    function: str
    values: tuple[Value, ...]


def parse_question(text: str) -> Question:
    """Read a question.

    :raises UsageError: when it is none.

    >>> question = parse_question("do_sys_openat2(dfd, filename:string, how->flags)")
    >>> question.function, [(value.name, value.kind) for value in question.values]
    ('do_sys_openat2', [('dfd', None), ('filename', 'string'), ('how->flags', None)])
    >>> parse_question("schedule").values
    ()
    """
    match = _QUESTION.fullmatch(text)
    if match is None:
        raise UsageError(f"`{text}` is not a question", where=_WHERE, hint=_SHAPE)
    function, inside = match.groups()
    values: list[Value] = []
    for word in inside.split(",") if inside and inside.strip() else ():
        value = _VALUE.fullmatch(word.strip())
        if value is None:
            raise UsageError(f"`{word.strip()}` is not a value of `{function}`", where=_WHERE, hint=_SHAPE)
        path, kind = value.groups()
        if kind is not None and kind not in KINDS:
            raise UsageError(f"`{kind}` is not a kind of value", where=_WHERE, hint=f"the kinds are {', '.join(KINDS)}")
        values.append(Value(tuple(re.split(r"->|\.", path)), kind))
    names = [value.name for value in values]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"`{twice}` is asked for twice", where=_WHERE, hint="ask for it once")
    return Question(function, tuple(values))
