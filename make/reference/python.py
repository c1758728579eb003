"""The reference of the Python interface: signatures and docstrings of `firstlight.api` as one Markdown page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import firstlight

_HEAD = """# Python interface

`import firstlight` gives the names below. `make reference` generates this page from their docstrings, and the tests run
the examples, in which `bundle` is the path of a boot bundle. Every error is a `FirstlightError` with a message, a place
and a hint.
"""


def python_page() -> str:
    """The page `docs/reference/python.md`: functions first, then the classes with their public methods."""
    names = [name for name in firstlight.__all__ if not name.startswith("_")]
    members = [(name, getattr(firstlight, name)) for name in names]
    lines = [_HEAD, "## Functions", ""]
    for name, member in members:
        if inspect.isfunction(member):
            lines += _entry(f"firstlight.{name}", member)
    for name, member in members:
        if inspect.isclass(member):
            lines += [f"## {name}", "", *_text(member.__dict__.get("__doc__") or "")]
            for attribute, function, value in _members(member):
                lines += _entry(f"{name}.{attribute}", function, value=value)
    return "\n".join(lines)


def _members(cls: Any) -> Iterator[tuple[str, Any, bool]]:
    """What the package itself defines in a class and above it, in the order of the source; whether each is a value."""
    seen = set()
    for base in cls.__mro__:
        if base.__module__.startswith("firstlight"):
            for name, member in vars(base).items():
                value = isinstance(member, (property, cached_property))
                function = member.fget if isinstance(member, property) else getattr(member, "func", member)
                # What pydantic adds to a class is none of the package's own.
                own = inspect.isfunction(function) and function.__module__.startswith("firstlight")
                if not name.startswith("_") and name not in seen and own and function.__doc__:
                    seen.add(name)
                    yield name, function, value


def _entry(name: str, function: Any, *, value: bool = False) -> list[str]:
    signature = inspect.signature(function)
    parameters: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not any(shown.startswith("*") for shown in parameters):
            parameters.append("*")
        if parameter.name != "self":
            parameters.append(_parameter(parameter))
    result = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    code = name + result.replace(" ->", ":") if value else f"{name}({', '.join(parameters)}){result}"
    if len(code) > 100:
        code = "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), f"){result}"])
    return [f"### `{name}`", "", "```python", code, "```", "", *_text(function.__doc__ or "")]


def _parameter(parameter: inspect.Parameter) -> str:
    star = (
        "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    )
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{star}{parameter.name}{kind}{default}"


def _text(docstring: str) -> list[str]:
    """A docstring in Markdown: its paragraphs, a list of parameters and errors, and its examples."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        if not paragraph:
            continue
        if paragraph.startswith(">>>"):
            lines += ["```pycon", paragraph, "```", ""]
        else:
            text = re.sub(r":(?:class|func|meth|mod):`~?([^`]+)`", r"`\1`", paragraph).replace("``", "`")
            text = re.sub(r"^:param (\w+):", r"- `\1`:", text, flags=re.MULTILINE)
            text = re.sub(r"^:raises (\w+):", r"- raises `\1`:", text, flags=re.MULTILINE)
            text = re.sub(r"^:returns:", "- returns", text, flags=re.MULTILINE)
            lines += [text, ""]
    return lines
