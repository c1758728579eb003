"""The hot spots and the functions that make them up, as data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class HotSpot:
    """Something that a kernel spends its start on."""

    key: str
    title: str
    then: bool
    """Named by the historical study; else one of today's."""
    about: str
    functions: tuple[str, ...]
    """Without compiler suffixes."""


@cache
def hot_spots() -> tuple[HotSpot, ...]:
    """The hot spots in the order of the tables.

    >>> [spot.key for spot in hot_spots() if spot.then]
    ['resources', 'console', 'calibration', 'root', 'proc', 'caches', 'memory']
    """
    text = resources.files(__package__).joinpath("hotspots.toml").read_text(encoding="utf-8")
    return tuple(
        HotSpot(each["key"], each["title"], each["then"], each["about"], tuple(each["functions"]))
        for each in tomllib.loads(text)["spot"]
    )


def plain_name(function: str) -> str:
    """A function's name without what the compiler added.

    >>> plain_name("free_area_init.isra.0"), plain_name("_printk")
    ('free_area_init', '_printk')
    """
    return function.split(".", 1)[0]
