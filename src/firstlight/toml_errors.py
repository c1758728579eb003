"""What is wrong with a plan, in words: which line, which key, and the nearest known one."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from firstlight.quantities import joined

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PIECE = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_OWN_PART = re.compile(r"\[\w+\]")
_AT = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")

Loc = tuple[str | int, ...]


def explain_syntax(message: str, where: str) -> tuple[str, str]:
    """The place and the words of an error of TOML's own.

    >>> explain_syntax("Expected '=' after a key in a key/value pair (at line 3, column 5)", "p.toml")
    ('p.toml:3:5', "the plan is not TOML: expected '=' after a key in a key/value pair")
    """
    found = _AT.search(message)
    place = f"{where}:{found[1]}:{found[2]}" if found else where
    text = _AT.sub("", message)
    return place, f"the plan is not TOML: {text[:1].lower()}{text[1:]}"


def explain(error: ValidationError, model: type[BaseModel], text: str, where: str) -> tuple[str, str, str | None]:
    """The place, the words and the hint of the first thing that is wrong with a plan; the hint has the others' lines.

    :param model: what the plan was checked against.
    :param text: the plan, to find the line in.
    """
    # An unknown key is most often what the other errors come from.
    problems = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    first = problems[0]
    line = line_of(text, _location(first))
    words, hint = _words(first, model)
    hints = [each for each in (hint, _others(problems, text)) if each]
    return f"{where}:{line}" if line is not None else where, words, "\n".join(hints) or None


def _location(problem: ErrorDetails) -> Loc:
    # Pydantic's own parts are in brackets, such as `[key]`, and the tags of a choice as a plan's model has them.
    return tuple(part for part in problem["loc"] if not _OWN_PART.fullmatch(str(part)))


def _words(problem: ErrorDetails, model: type[BaseModel]) -> tuple[str, str | None]:
    """What is wrong, and the hint."""
    loc = _location(problem)
    name = _name(loc)
    if problem["type"] == "extra_forbidden":
        return f"unknown key `{loc[-1]}`" + _within(loc[:-1]), _nearest(str(loc[-1]), known_keys(model, loc[:-1]))
    if problem["type"] == "missing":
        return f"`{loc[-1]}` is missing" + _within(loc[:-1]), None
    if problem["type"] == "string_pattern_mismatch" and (shown := problem.get("input")) is not None:
        fits = f"it has to fit `{problem['ctx']['pattern']}`"
        return f"`{name}`: `{shown}` is not a good name or figure here", fits
    if problem["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", str(problem.get("ctx", {}).get("expected", "")))
        return f"`{name}`: there is no `{problem['input']}`", _nearest(str(problem["input"]), choices)
    message = problem["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:] if message[1:2].islower() else message
    if isinstance(loc[-1] if loc else None, int) and isinstance(shown := problem.get("input"), int | float | str):
        return f"`{name}`: `{json.dumps(shown)[:40]}`: {message}", None
    return f"`{name}`: {message}" if name else message, None


def _name(loc: Loc) -> str:
    return ".".join(str(part) for part in loc if isinstance(part, str))


def _others(problems: Sequence[ErrorDetails], text: str) -> str | None:
    """Where else something is wrong: of keys that are there, because a wrong key leaves the right one missing."""
    first, *rest = problems
    named = line_of(text, _location(first))
    lines = {
        line: _name(_location(each))
        for each in rest
        if each["type"] != "missing" and (line := line_of(text, _location(each))) not in (None, named)
    }
    if not lines:
        return None
    shown = [f"`{name}` in line {line}" for line, name in lines.items()]
    return f"also wrong: {joined(shown, 5)}"


def known_keys(model: type[BaseModel], loc: Loc) -> list[str]:
    """The keys that a plan may have at a place.

    :param loc: the place; numbers are places in an array of tables.
    """
    kind: Any = model
    for part in loc:
        kind = _below(kind, part)
        if kind is None:
            return []
    bare = _model(kind)
    return [] if bare is None else [field.alias or name for name, field in bare.model_fields.items()]


def _below(kind: Any, part: str | int) -> Any:
    bare = _model(kind)
    if bare is not None:
        return next((f.annotation for name, f in bare.model_fields.items() if part in (name, f.alias)), None)
    for each in _choices(kind):
        if get_origin(each) in (list, dict):
            return get_args(each)[-1]
        if get_origin(each) is tuple:
            return get_args(each)[0]
    return None


def _model(kind: Any) -> type[BaseModel] | None:
    for each in _choices(kind):
        if isinstance(each, type) and get_origin(each) is None and issubclass(each, BaseModel):
            return each
    return None


def _choices(kind: Any) -> list[Any]:
    """What an annotation may be, without `Annotated`, and each of a union."""
    if get_origin(kind) is Annotated:
        return _choices(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [each for choice in get_args(kind) for each in _choices(choice)]
    return [kind]


def _within(loc: Loc) -> str:
    names = [str(part) for part in loc if isinstance(part, str)]
    numbers = [part + 1 for part in loc if isinstance(part, int)]
    if not names:
        return ""
    return f" in `{'.'.join(names)}`" + (f" number {numbers[0]}" if numbers else "")


def _nearest(name: str, known: list[str]) -> str | None:
    if not known:
        return None
    near = difflib.get_close_matches(name.replace("_", "-"), known, n=1, cutoff=0.5)
    said = f"did you mean `{near[0]}`?\n" if near else ""
    return f"{said}there are: {', '.join(f'`{each}`' for each in known)}"


def line_of(text: str, loc: Loc) -> int | None:
    """The line of a plan, from 1, that a key or table stands in; what is written in one line has that line.

    >>> line_of('[[arm]]\\nname = "a"\\n[[arm]]\\nname = "b"\\napend = "x"\\n', ("arm", 1, "apend"))
    5
    """
    best, best_length = None, 0
    table: Loc = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if (header := _HEADER.match(line)) is not None:
            names = tuple(_unquoted(header[2]))
            if header[1] == "[[":
                counts[names] = counts.get(names, -1) + 1
            table = _numbered(names, counts)
            length = _shared(table, loc)
        elif (key := _KEY.match(line)) is not None:
            length = _shared((*table, *_unquoted(key[1])), loc)
        else:
            continue
        if length > best_length:
            best, best_length = number, length
    return best


def _numbered(names: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> Loc:
    place: list[str | int] = []
    for length, name in enumerate(names, start=1):
        place.append(name)
        if (number := counts.get(names[:length])) is not None:
            place.append(number)
    return tuple(place)


def _unquoted(text: str) -> list[str]:
    return [piece.strip("\"'") for piece in _PIECE.findall(text)]


def _shared(place: Loc, loc: Loc) -> int:
    """How much of *loc* a place says; nothing where it is another place."""
    length = min(len(place), len(loc))
    return length if place[:length] == loc[:length] and len(place) <= len(loc) else 0
