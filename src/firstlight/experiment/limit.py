"""How much slower a boot may become before that is a regression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from firstlight.errors import UsageError
from firstlight.stats.verdict import settle

_UNITS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


@dataclass(frozen=True)
class Tolerance:
    """A share of the baseline's time, or a time."""

    text: str
    share: Fraction | None = None
    ns: Fraction | None = None

    def allows(self, change_ns: int, baseline_ns: int) -> bool:
        """Whether a change is not a regression yet.

        :param change_ns: nanoseconds, positive when the boot became slower.
        :param baseline_ns: nanoseconds of the baseline.

        >>> parse_tolerance("1%").allows(10, 1000), parse_tolerance("1%").allows(11, 1000)
        (True, False)
        """
        limit = self.ns if self.ns is not None else (self.share or Fraction(0)) * baseline_ns
        return settle(change_ns, change_ns, change_ns, float(limit)) != "regression"


def parse_tolerance(text: str) -> Tolerance:
    """Read `0.5%`, `2ms`, `100us` or `0`.

    :raises UsageError: when it is none of these.

    >>> parse_tolerance("2.5 ms").ns, parse_tolerance("0").ns
    (Fraction(2500000, 1), Fraction(0, 1))
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*(%|[nuµm]?s)?\s*", text)
    if match is None or (match[2] is None and Fraction(match[1]) != 0):
        raise UsageError(f"`{text}` is not a limit", where="--limit", hint="write for example `0.5%`, `2ms` or `0`")
    value = Fraction(match[1])
    if match[2] == "%":
        return Tolerance(text.strip(), share=value / 100)
    return Tolerance(text.strip(), ns=value * _UNITS.get(match[2] or "ns", 1))
