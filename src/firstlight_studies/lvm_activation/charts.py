"""The study's charts."""

from __future__ import annotations

from firstlight.study import Chart, MissingValue, Series
from firstlight_studies.lvm_activation.measured import Measured, row_title
from firstlight_studies.lvm_activation.models import QUANTITIES


def charts(measured: Measured) -> tuple[Chart, ...]:
    """Time and memory over the number of volumes."""
    return (
        _chart("active", "Until the last volume is active", measured, "active"),
        _chart("memory", "Memory of lvm2's processes at most", measured, "memory"),
    )


def _chart(key: str, title: str, measured: Measured, quantity: str) -> Chart:
    (chosen,) = [each for each in QUANTITIES if each.key == quantity]
    series = []
    for row, by_size in measured.items():
        values = [
            (size, chosen.of(each)) for size, each in sorted(by_size.items()) if not isinstance(each, MissingValue)
        ]
        points = tuple((float(size), float(value)) for size, value in values if isinstance(value, int | float))
        if points:
            series.append(Series(row_title(row), points))
    return Chart(key, title, "lines", "Physical volumes", title, chosen.kind, tuple(series), logarithmic=True)
