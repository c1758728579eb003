"""Conditions on rows: comparisons of columns with values, joined by `and`, `or` and `not`, in the syntax of Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from firstlight.errors import UsageError
from firstlight.suggest import one_of

Condition = Callable[[Mapping[str, Any]], bool]
_WHERE = "--when"
_HINT = 'such as `comm == "udevadm" and result < 0`'
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda one, other: one in other, ast.NotIn: lambda one, other: one not in other,
}  # fmt: skip


def parse_condition(text: str, columns: Collection[str]) -> Condition:
    """A condition on the columns of a row.

    A comparison with something that is not known is false. A column whose name is not a word, such as `how->flags`, is
    written with `_` in place of `->`.

    :raises UsageError: when it is none, or names a column that does not exist.

    >>> condition = parse_condition('comm == "sh" and not dfd < 0', ["comm", "dfd"])
    >>> condition({"comm": "sh", "dfd": 3}), condition({"comm": "sh", "dfd": -100}), condition({"comm": None, "dfd": 0})
    (True, False, False)
    """
    names = {column.replace("->", "_"): column for column in columns}
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"`{text}` is not a condition", where=_WHERE, hint=_HINT) from error

    def known(node: ast.expr) -> Callable[[Mapping[str, Any]], Any]:
        match node:
            case ast.Constant(value=str() | int() as value):
                return lambda row: value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                return lambda row: -value
            case ast.Name(id=name):
                if name not in names:
                    raise UsageError(f"no column `{name}`", where=_WHERE, hint=one_of(name, list(names)))
                return lambda row: row[names[name]]
        raise UsageError(f"`{ast.unparse(node)}` is neither a column nor a value", where=_WHERE, hint=_HINT)

    def made(node: ast.expr) -> Condition:
        match node:
            case ast.BoolOp(op=joined, values=parts):
                each, of = [made(part) for part in parts], all if isinstance(joined, ast.And) else any
                return lambda row: of(part(row) for part in each)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = made(operand)
                return lambda row: not inner(row)
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARE:
                one, other, compare = known(left), known(right), _COMPARE[type(sign)]
                return lambda row: _compared(compare, one(row), other(row))
        raise UsageError(f"`{ast.unparse(node)}` is not a comparison", where=_WHERE, hint=_HINT)

    try:
        return made(tree)
    except RecursionError as error:
        raise UsageError(f"`{text[:60]}…` is nested too deeply", where=_WHERE, hint=_HINT) from error


def _compared(compare: Callable[[Any, Any], Any], one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    try:
        return bool(compare(one, other))
    except TypeError:
        # A text and a number are never equal, and have no order.
        return compare is operator.ne
