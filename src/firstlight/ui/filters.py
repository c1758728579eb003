"""The filter language of the list: words, `-word`, `field:text`, `field~text` and comparisons such as `time>2s`.

The report page has the same language for its timeline and its tables (`docs/guides/timeline.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_TERM = re.compile(r'(-?)(?:([a-z_]+)(:|~|>=|<=|>|<|=))?(?:"([^"]*)"|(\S+))')
_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|ms|us|µs|ns)?")
_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}

Row = Mapping[str, str | int | None]
Test = Callable[[Row], bool]


@dataclass
class Filter:
    """A filter that was read.

    >>> rows = [{"name": "a.boot", "mode": "exact", "time": 2_000_000_000}, {"name": "b.boot", "mode": "live"}]
    >>> [row["name"] for row in rows if read_filter("mode:exact time>1.5s", ["name", "mode", "time"]).matches(row)]
    ['a.boot']
    """

    tests: list[Test] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Terms that mean nothing, as they were typed."""

    def matches(self, row: Row) -> bool:
        """Whether a row has all that the filter asks for."""
        return all(test(row) for test in self.tests)


def read_filter(text: str, fields: list[str]) -> Filter:
    """Read a filter; a term that means nothing is noted and filters nothing.

    :param fields: the names of fields; all of them are looked at for a word without a field.

    >>> read_filter("size>3", ["name"]).wrong
    ['size>3']
    """
    made = Filter()
    for found in _TERM.finditer(text.lower()):
        minus, name, operator, quoted, plain = found.groups()
        value = plain if quoted is None else quoted
        if not name:
            test: Test | None = _contains(fields, value)
        elif name not in fields:
            # `at:` of a name such as `usb:1` is a word, too.
            test = _contains(fields, f"{name}{operator}{value}") if operator in (":", "~", "=") else None
        elif operator in (":", "~"):
            test = _contains([name], value)
        elif operator == "=":
            test = _equals(name, value)
        else:
            test = _compared(name, operator, value)
        if test is None:
            made.wrong.append(found.group())
        else:
            made.tests.append(_without(test) if minus else test)
    return made


def _contains(fields: list[str], value: str) -> Test:
    return lambda row: any(value in str(row.get(name) or "").lower() for name in fields)


def _equals(name: str, value: str) -> Test:
    return lambda row: str(row.get(name) or "").lower() == value


def _without(test: Test) -> Test:
    return lambda row: not test(row)


def _compared(name: str, operator: str, value: str) -> Test | None:
    """A comparison of a figure; a time without a unit is in seconds."""
    read = _TIME.fullmatch(value)
    if read is None:
        return None
    limit = float(read[1]) * _UNITS[read[2] or "s"]
    compare: dict[str, Callable[[float], bool]] = {
        ">": lambda figure: figure > limit,
        ">=": lambda figure: figure >= limit,
        "<": lambda figure: figure < limit,
        "<=": lambda figure: figure <= limit,
    }

    def test(row: Row) -> bool:
        figure = row.get(name)
        return isinstance(figure, int) and compare[operator](figure)

    return test
