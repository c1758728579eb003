"""Compares the evidence of two boots."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.advise.health.result import Difference


def lost(before: Mapping[str, str], after: Mapping[str, str], prefix: str = "") -> list[Difference]:
    """Entries that the baseline has and the boot lacks.

    >>> lost({"a": "1", "b": "2"}, {"b": "3"}, "module.")[0].text
    'module.a: gone (was 1)'
    """
    return [Difference(prefix + name, before[name], None) for name in sorted(before.keys() - after.keys())]


def changed(before: Mapping[str, str], after: Mapping[str, str], prefix: str = "") -> list[Difference]:
    """Entries that both have with different values.

    >>> changed({"a": "1", "b": "2"}, {"b": "3"}, "block.")[0].text
    'block.b: 3 (was 2)'
    """
    common = sorted(before.keys() & after.keys())
    return [Difference(prefix + name, before[name], after[name]) for name in common if before[name] != after[name]]
