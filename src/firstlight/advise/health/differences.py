"""Compares the evidence of two boots."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.advise.health.result import HealthDifference


def lost(
    before: Mapping[str, str], after: Mapping[str, str], prefix: str = "", unit_bytes: int | None = None
) -> list[HealthDifference]:
    """Entries that the baseline has and the boot lacks.

    :param unit_bytes: the values are sizes in units of so many bytes.

    >>> lost({"a": "1", "b": "2"}, {"b": "3"}, "module.")[0].text
    'module.a: gone (was 1)'
    """
    gone = sorted(before.keys() - after.keys())
    return [HealthDifference(prefix + name, before[name], None, unit_bytes=unit_bytes) for name in gone]


def changed(
    before: Mapping[str, str], after: Mapping[str, str], prefix: str = "", unit_bytes: int | None = None
) -> list[HealthDifference]:
    """Entries that both have with different values.

    :param unit_bytes: the values are sizes in units of so many bytes.

    >>> changed({"a": "1", "b": "2"}, {"b": "3"}, "block.")[0].text
    'block.b: 3 (was 2)'
    """
    common = sorted(before.keys() & after.keys())
    return [
        HealthDifference(prefix + name, before[name], after[name], unit_bytes=unit_bytes)
        for name in common
        if before[name] != after[name]
    ]
