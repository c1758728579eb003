"""Where the window went: the hot spots, and the functions that make them up."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Chart, Field, MissingValue, Series, Table, Value, missing_row
from firstlight_studies.kernel_hotspots.hotspots import HotSpot
from firstlight_studies.kernel_hotspots.linked import Linked
from firstlight_studies.kernel_hotspots.measured import HotspotTimings
from firstlight_studies.kernel_hotspots.partition import IDLE, REST
from firstlight_studies.kernel_hotspots.remedies import KernelName

Plain = Mapping[KernelName, HotspotTimings | MissingValue]

_TITLES: Mapping[str, str] = {"stock": "Stock", "lab": "Lab"}


def share_table(plain: Plain, spots: tuple[HotSpot, ...]) -> Table:
    """A row for each hot spot, one for the rest and one for the whole; the parts add up to it."""
    fields = [Field("Hot spot"), Field("Named"), Field("What it is")]
    for kernel in plain:
        fields += [Field(_TITLES[kernel], "time"), Field(f"{_TITLES[kernel]}, share", "share")]
    rows: list[tuple[Value, ...]] = [
        (spot.title, "then" if spot.then else "now", spot.about, *_figures(plain, spot.key)) for spot in spots
    ]
    rows.append((REST, "", "what was called under none of the functions", *_figures(plain, REST)))
    rows.append((IDLE, "", "the processor waits", *_figures(plain, IDLE)))
    whole: list[Value] = []
    for kernel in plain:
        found = plain[kernel]
        whole += missing_row(found, 2) if isinstance(found, MissingValue) else (found.parts.whole_ns, 1.0)
    rows.append(("whole", "", "start_kernel to the first instruction of user mode", *whole))
    below = ["Each nanosecond belongs to the innermost named function on its call path, so the parts add up."]
    return Table("hot-spots", "Where start_kernel to user mode goes", tuple(fields), tuple(rows), tuple(below))


def _figures(plain: Plain, key: str) -> list[Value]:
    figures: list[Value] = []
    for kernel in plain:
        found = plain[kernel]
        if isinstance(found, MissingValue):
            figures += missing_row(found, 2)
        else:
            figures += [found.parts.spots_ns[key], found.parts.spots_ns[key] / found.window.length_ns]
    return figures


def function_table(
    plain: Plain, spots: tuple[HotSpot, ...], linked: Mapping[KernelName, Linked | MissingValue]
) -> Table:
    """A row for each named function: its exact calls and total, and what of its hot spot it stands for."""
    fields = [Field("Hot spot"), Field("Function")]
    for kernel in plain:
        title = _TITLES[kernel]
        fields += [Field(f"{title}, calls", "count"), Field(f"{title}, total", "time"), Field(f"{title}, own", "time")]
    rows = tuple(
        (spot.title, function, *(value for kernel in plain for value in _function(plain, linked, kernel, function)))
        for spot in spots
        for function in spot.functions
    )
    below = (
        "Total: with all callees. Own: without callees that are also listed here. The own times of a hot spot's "
        "functions add up to it.",
        "No calls: the kernel has the function but did not call it in the window.",
    )
    return Table("functions", "The functions of each hot spot", tuple(fields), rows, below)


def _function(
    plain: Plain, linked: Mapping[KernelName, Linked | MissingValue], kernel: KernelName, function: str
) -> list[Value]:
    found, there = plain[kernel], linked[kernel]
    if isinstance(found, MissingValue):
        return [*missing_row(found, 3)]
    share = found.parts.functions.get(function)
    if share is not None:
        return [share.calls, share.total_ns, share.own_ns]
    if isinstance(there, MissingValue) or function in there.plain_names():
        return [0, 0, 0]
    return [*missing_row(MissingValue(f"not in the {kernel} kernel: inlined, or its option is off"), 3)]


def share_chart(plain: Plain, spots: tuple[HotSpot, ...]) -> Chart:
    """The same as a picture."""
    there = [(kernel, found) for kernel, found in plain.items() if not isinstance(found, MissingValue)]
    parts = [(spot.key, spot.title) for spot in spots] + [(REST, REST), (IDLE, IDLE)]
    series = tuple(
        Series(title, tuple((_TITLES[kernel], found.parts.spots_ns[key]) for kernel, found in there))
        for key, title in parts
        if any(found.parts.spots_ns[key] for _, found in there)
    )
    title = "Where start_kernel to user mode goes"
    return Chart("hot-spots", title, "stacked", "Kernel", "Virtual time", "time", series)
