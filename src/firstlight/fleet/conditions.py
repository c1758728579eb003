"""Which boots an analysis looks at: conditions on attributes, as `model = "A" and kernel != "6.1.0"`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

import ibis.expr.types as ir
import polars as pl

from firstlight.errors import UsageError
from firstlight.fleet.columns import BOOTS
from firstlight.suggest import one_of

_TOKEN = re.compile(r"""\s*(?:(?P<name>[a-z][a-z0-9_]*)|(?P<sign>!=|=|~)|(?P<text>"[^"]*"|'[^']*'))""")
_HINT = (
    'compare attributes with text: `model = "A" and kernel ~ "6.1.*"`; the operators are `=`, `!=` and `~` (with `*`)'
)


@dataclass(frozen=True)
class Condition:
    """One comparison of an attribute with a text."""

    attribute: str
    sign: str
    text: str

    @property
    def pattern(self) -> str:
        """The text of `~` as a regular expression of a whole value, in what RE2, Rust and Java have in common."""
        return rf"(?s)\A{'.*'.join(re.escape(part) for part in self.text.split('*'))}\z"

    def holds(self, boots: ir.Table) -> ir.BooleanValue:
        """The condition on a table; a boot that lacks the attribute equals nothing."""
        column = boots[self.attribute].fill_null("")
        if self.sign == "~":
            return column.re_search(self.pattern)
        return column == self.text if self.sign == "=" else column != self.text


def read_conditions(text: str, attributes: Sequence[str]) -> list[Condition]:
    """The comparisons of a text, all of which have to hold.

    :param attributes: those that the fleet has.
    :raises UsageError: for a text that is none, or an attribute that the fleet lacks.

    >>> read_conditions('model = "A" and kernel != "6.1"', ["model", "kernel"])[1]
    Condition(attribute='kernel', sign='!=', text='6.1')
    """
    tokens = []
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise UsageError(f"cannot parse `{text[at:].strip()[:40]}`", where="--where", hint=_HINT)
        tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
        at = found.end()
    conditions = []
    while tokens:
        kinds = [kind for kind, _ in tokens[:3]]
        if kinds != ["name", "sign", "text"]:
            raise UsageError(
                "a condition is an attribute, an operator and a text in quotes", where="--where", hint=_HINT
            )
        (_, name), (_, sign), (_, quoted), *tokens = tokens
        if name not in attributes:
            hint = one_of(name, attributes)
            raise UsageError(f"the fleet has no attribute `{name}`", where="--where", hint=hint)
        conditions.append(Condition(name, sign, quoted[1:-1]))
        if tokens:
            if tokens[0] != ("name", "and") or len(tokens) == 1:
                raise UsageError("join conditions with `and`", where="--where", hint=_HINT)
            tokens = tokens[1:]
    return conditions


def matching(boots: pl.DataFrame, text: str) -> pl.DataFrame:
    """The rows of boots that meet the conditions of a text.

    :raises UsageError: for a text that is none, or an attribute that the fleet lacks.

    >>> frame = pl.DataFrame({"boot": [1, 2], "model": ["A", None]})
    >>> matching(frame, 'model != "A"')["boot"].to_list()
    [2]
    """
    conditions = read_conditions(text, [name for name in boots.columns if name not in BOOTS])
    if not conditions:
        raise UsageError("no condition is given", where="--where", hint=_HINT)
    for condition in conditions:
        column = pl.col(condition.attribute).fill_null("")
        if condition.sign == "~":
            boots = boots.filter(column.str.contains(condition.pattern))
        else:
            boots = boots.filter(column == condition.text if condition.sign == "=" else column != condition.text)
    return boots


def where(boots: ir.Table, conditions: Sequence[Condition]) -> ir.Table:
    """The boots for which all conditions hold."""
    holds: list[ir.BooleanValue] = [condition.holds(boots) for condition in conditions]
    return boots.filter(reduce(and_, holds)) if holds else boots
