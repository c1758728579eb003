"""Durations as a person writes them."""

from __future__ import annotations

import re

from firstlight.errors import UsageError

_UNITS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_FORM = re.compile(r"([+-]?)(\d{1,12}(?:\.\d{1,9})?)\s*(ns|us|µs|ms|s)")


def duration_ns(text: str, where: str) -> int:
    """A duration such as `-100ms`, `1.5s` or `250us` in nanoseconds.

    :param where: the option that it was given to, for the message.
    :raises UsageError: when it is none.

    >>> duration_ns("-1.5ms", "--what-if"), duration_ns("2s", "--what-if")
    (-1500000, 2000000000)
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"`{text}` is no duration", where=where, hint="write a number and ns, us, ms or s: `-100ms`")
    sign, figure, unit = match.groups()
    whole, _, part = figure.partition(".")
    scaled = int(whole) * _UNITS[unit] + (int(part) * _UNITS[unit] // int("1" + "0" * len(part)) if part else 0)
    return -scaled if sign == "-" else scaled
