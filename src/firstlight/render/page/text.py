"""Texts and figures as a page carries them: valid Unicode of bounded length, and what any reader of JSON takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import polars as pl

#: No more characters of one text than this go into a page.
TEXT = 4_000


def shortened(text: str, length: int) -> str:
    """*text* as valid Unicode of at most *length* characters; what is cut off is counted.

    >>> shortened("a" * 12, 10)
    'aaaaaaaaaa… (12 characters)'
    """
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return sound if len(sound) <= length else f"{sound[:length]}… ({len(sound):,} characters)"


def bounded(value: Any, length: int) -> Any:
    """A text as :func:`shortened` gives it; all else as it is.

    >>> bounded("a" * 12, 10), bounded(12, 10)
    ('aaaaaaaaaa… (12 characters)', 12)
    """
    return shortened(value, length) if isinstance(value, str) else value


def columns_of(frame: pl.DataFrame, names: Iterable[str], length: int) -> dict[str, list[Any]]:
    """Some columns of a table as lists, their texts bounded."""
    return {name: [bounded(value, length) for value in frame[name].to_list()] for name in names}


def sound(value: Any) -> Any:
    """Data that any JSON reader takes: texts valid and not too long, no figure that is not finite.

    >>> sound({"a": [1, float("inf"), "\\ud800"]})
    {'a': [1, None, '\ufffd']}
    """
    if isinstance(value, str):
        return shortened(value, TEXT)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {shortened(str(name), TEXT): sound(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [sound(each) for each in value]
    return value
