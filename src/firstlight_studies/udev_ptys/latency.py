"""How long udev took over each event, from the kernel's uevent to the end of udev's work."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.study import Chart, Field, MissingValue, Series, Table, Value, histogram, time_text
from firstlight_studies.udev_ptys.events import is_legacy


@dataclass(frozen=True)
class Latency:
    """Figures of many events; times in nanoseconds."""

    events: int
    """That have both instants."""
    unfinished: int
    """Others: one of the two was not seen, or they stand in the wrong order."""
    mean: int
    median: int
    mode: int
    """The middle of the fullest bin."""
    bin: int
    stddev: int
    others: int
    """Events of devices that are not legacy terminals."""
    others_mean: int
    others_median: int
    others_worst: int
    too_early: int
    """Events that the kernel sent before udevd was up."""
    up_after_first: int
    """From the first event until udevd was up; negative where it was up before."""
    figures: tuple[int, ...]


def latency_of(events: pl.DataFrame | MissingValue, up_ns: int = 0) -> Latency | MissingValue:
    """The figures of one stage of one arm; the standard deviation is that of all events.

    :param up_ns: when udevd was up, by the clock of the events; 0 where it was up before anything was asked for.
    """
    if isinstance(events, MissingValue):
        return events
    known = events.drop_nulls("latency_ns").filter(pl.col("latency_ns") >= 0)
    rows = list(known.select("device", "latency_ns").iter_rows())
    sent = known["arrival_ns"].drop_nulls().to_list()
    figures = sorted(latency for _, latency in rows)
    if not figures:
        return MissingValue("no event was seen from beginning to end")
    width, bins = histogram(figures)
    fullest = max(bins, key=lambda each: each.count)
    others = [latency for device, latency in rows if not is_legacy(device)] or [0]
    width = width or 1
    return Latency(
        events=len(figures),
        unfinished=events.height - len(figures),
        mean=round(statistics.fmean(figures)),
        median=round(statistics.median(figures)),
        mode=fullest.start_ns + width // 2,
        bin=width,
        stddev=round(statistics.pstdev(figures)),
        others=len(others),
        others_mean=round(statistics.fmean(others)),
        others_median=round(statistics.median(others)),
        others_worst=max(others),
        too_early=sum(at < up_ns for at in sent),
        up_after_first=up_ns - min(sent, default=0) if up_ns else 0,
        figures=tuple(figures),
    )


_ROWS = (
    ("mean", "mean", "time"), ("median", "median", "time"), ("mode (middle of the fullest bin)", "mode", "time"),
    ("(width of a bin)", "bin", "time"), ("stddev", "stddev", "time"), ("events", "events", "count"),
    ("mean of the others", "others_mean", "time"), ("median of the others", "others_median", "time"),
    ("longest of the others", "others_worst", "time"), ("events of the others", "others", "count"),
    ("events before udevd was up", "too_early", "count"),
)  # fmt: skip


def latency_table(stage: str, arms: Sequence[Latency | MissingValue]) -> Table:
    """The old table of latencies, of one stage.

    :param stage: `initramfs` or `system`.
    :param arms: A, B and C.
    """
    rows = []
    for title, name, kind in _ROWS:
        values: list[Value] = [_value(arm, name, kind) for arm in arms]
        rows.append((title, *values))
    unseen = [f"{name}: {arm.unfinished}" for name, arm in zip("ABC", arms, strict=True) if isinstance(arm, Latency)]
    below = (
        "From the kernel's uevent to the time when udev passes the event on, both seen by one observer that only the "
        "kernel can interrupt.",
        "The others are the events of devices that are not legacy terminals. In the initramfs udevd is up before the "
        "trigger; in the system it is up when the first process has been notified.",
        f"Events without a latency, because one of their instants was not seen ({', '.join(unseen) or 'none'}).",
    )
    fields = (Field("Figure"), *(Field(name) for name in "ABC"))
    return Table(f"latency-{stage}", f"Latency of an event, {stage}", fields, tuple(rows), below)


def _value(arm: Latency | MissingValue, name: str, kind: str) -> Value:
    if isinstance(arm, MissingValue):
        return arm
    figure = int(getattr(arm, name))
    return time_text(figure) if kind == "time" else f"{figure:,}"


def latency_chart(stage: str, arms: Mapping[str, Latency | MissingValue]) -> Chart | None:
    """The histogram of latencies, with one bin width for all arms."""
    known = {name: arm for name, arm in arms.items() if isinstance(arm, Latency)}
    if not known:
        return None
    width = max(arm.bin for arm in known.values())
    series = []
    for name, arm in known.items():
        counts: dict[int, int] = {}
        for figure in arm.figures:
            counts[figure // width] = counts.get(figure // width, 0) + 1
        points = tuple((number * width / 1e6, float(counts.get(number, 0))) for number in range(max(counts) + 1))
        series.append(Series(name, points))
    return Chart(
        f"latency-{stage}",
        f"Latency of an event, {stage}: events in bins of {width / 1e6:g} ms",
        "histogram",
        "latency, ms (start of the bin)",
        "events",
        "count",
        tuple(series),
    )
