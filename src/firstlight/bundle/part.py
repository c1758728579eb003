"""A part of a boot, from one mark to another, as a boot."""

from __future__ import annotations

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import SCHEMAS
from firstlight.errors import UsageError
from firstlight.suggest import unknown_name


def part_between(boot: Boot, first: str | None = None, last: str | None = None) -> Boot:
    """The part of a boot from one mark to another: its tables have what lies in between, and its totals are of it.

    The part has no profile, because the tree of calls counts the entire boot. Phases are cut at both marks, and one
    that was cut has no instructions.

    :param first: the mark that it begins at; that of the boot when not given.
    :param last: the mark that it ends at; that of the boot when not given.
    :raises BundleError: when the boot has no such mark.
    :raises UsageError: when *last* is not after *first*.

    >>> import firstlight
    >>> part = part_between(firstlight.open(bundle), "early_init_start")
    >>> part.marks()["mark"][0], part.phases()["duration_ns"].sum() == part.manifest.totals.virtual_ns
    ('early_init_start', True)
    """
    marks = boot.marks().filter(pl.col("time_ns").is_not_null()).sort("time_ns", maintain_order=True)
    names = marks["mark"].to_list()
    for name in (first, last):
        if name is not None:
            unknown_name("mark", name, names, str(boot.directory), "show")
    begin = names.index(first) if first is not None else 0
    end = names.index(last) if last is not None else len(names) - 1
    if end <= begin:
        message = f"the mark `{last or names[end]}` is not after `{first or names[begin]}`"
        raise UsageError(message, where=boot.directory.name)
    marks = marks.slice(begin, end - begin + 1)
    one, other = marks.row(0, named=True), marks.row(-1, named=True)
    figures = {"virtual_ns": "time_ns", "instructions": "instructions", "idle_ns": "idle_ns"}
    totals = {
        total: None if one[column] is None or other[column] is None else other[column] - one[column]
        for total, column in figures.items()
    }
    manifest = boot.manifest.model_copy(
        update={"totals": boot.manifest.totals.model_copy(update=totals), "failure": None}
    )
    part = type(boot)(boot.directory, manifest)
    part.is_part = True
    start, stop = one["time_ns"], other["time_ns"]
    inside = pl.col("time_ns").is_between(start, stop)
    part.replace_tables(
        marks=marks,
        spans=_within(boot.spans(), start, stop),
        calls=pl.DataFrame(schema=SCHEMAS["calls"]),
        phase_calls=pl.DataFrame(schema=SCHEMAS["phase_calls"]),
        **{table: pl.DataFrame(schema=SCHEMAS[table]) for table in SCHEMAS if table.startswith("slice")},
        log=boot.log().filter(inside),
        counters=boot.counters().filter(inside),
        threads=boot.threads(),
        thread_names=boot.thread_names(),
        runs=boot.runs().filter((pl.col("start_ns") < stop) & (pl.col("end_ns") > start)),
    )
    return part


def _within(spans: pl.DataFrame, start: int, stop: int) -> pl.DataFrame:
    """The spans that lie in a part, or reach into it; phases are cut to it."""
    phase = pl.col("kind") == "phase"
    end = pl.col("end_ns").fill_null(stop)
    spans = spans.filter((pl.col("start_ns").fill_null(start) < stop) & (end > start))
    cut = phase & ((pl.col("start_ns") < start) | (end > stop))
    return spans.with_columns(
        pl.when(phase).then(pl.col("start_ns").clip(lower_bound=start)).otherwise("start_ns").alias("start_ns"),
        pl.when(phase).then(end.clip(upper_bound=stop)).otherwise("end_ns").alias("end_ns"),
        *(pl.when(~cut).then(column).alias(column) for column in ("instructions", "idle_ns")),
    )
