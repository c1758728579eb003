"""Sizes put into the texts of a recipe: `{n}`, `{n * 128}`, `{4 + i / 8}`, `{i:x}`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}:]*)(?::([xd]|0[1-9][xd]))?\}")
_LARGEST = 1 << 62


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise ValueError("it divides by zero")
    return left // right


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise ValueError("it divides by zero")
    return left % right


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: _divide,
    ast.FloorDiv: _divide,
    ast.Mod: _remainder,
}


def substitute(text: str, values: Mapping[str, int]) -> str:
    """Put whole numbers into a text. Division rounds down; `:x` writes hexadecimal; `{{` and `}}` are braces.

    :raises ValueError: for what is not a sum, difference, product, quotient or remainder of known names and numbers.

    >>> substitute("-device x,addr={4 + i / 8:x}.{i % 8}", {"i": 50})
    '-device x,addr=a.2'
    >>> substitute("{n*128}M {{kept}}", {"n": 3})
    '384M {kept}'
    """

    def put(found: re.Match[str]) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        return format(_value(found[1], values), found[2] or "d")

    return _PLACE.sub(put, text)


def substitute_all(data: Any, values: Mapping[str, int]) -> Any:
    """The same in every text of nested lists and tables.

    >>> substitute_all({"append": "a={n}", "words": ["{n}"]}, {"n": 2})
    {'append': 'a=2', 'words': ['2']}
    """
    if isinstance(data, str):
        return substitute(data, values)
    if isinstance(data, list):
        return [substitute_all(each, values) for each in data]
    if isinstance(data, dict):
        return {substitute(key, values): substitute_all(value, values) for key, value in data.items()}
    return data


def _value(expression: str, values: Mapping[str, int]) -> int:
    try:
        return _evaluate(ast.parse(expression.strip(), mode="eval").body, values)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"`{{{expression}}}` cannot be read") from error
    except ValueError as error:
        raise ValueError(f"`{{{expression}}}`: {error}") from error


def _evaluate(node: ast.expr, values: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in values:
            known = ", ".join(f"`{name}`" for name in values)
            raise ValueError(f"there is no `{node.id}`, there are: {known}")
        return values[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        result = _OPERATORS[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
        if abs(result) > _LARGEST:
            raise ValueError("it is too large")
        return result
    raise ValueError("only integers, names, `+`, `-`, `*`, `/`, `%` and brackets are allowed")
