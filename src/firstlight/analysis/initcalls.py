"""Initcalls: when, how long, how far that can be believed, and what of it were probes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

import polars as pl

from firstlight.analysis.interval_union import Interval, clipped, union_ns
from firstlight.analysis.spans import ancestors, returned, spans_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.recipe.mode import RecordMode
from firstlight.schema.spans import Grade, SpanKind

#: The levels in the order in which the kernel runs them.
LEVELS = ("early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late", "console", "module")

#: The row of what lies in no initcall.
OUTSIDE = "[outside all initcalls]"

#: The row of the initcalls of all levels that were not asked for.
OTHER_LEVELS = "[other levels]"

#: What makes a kernel report its initcalls.
HINT = "boot with `initcall_debug` on the kernel's command line and import the kernel's log, or record in exact mode"


def hint_for(boot: Boot) -> str:
    """What makes a boot without initcalls have some: what it was recorded without, or else :data:`HINT`.

    >>> import firstlight
    >>> hint_for(firstlight.open(bundle)) == HINT
    True
    """
    return boot.why_no_profile()[1] if boot.manifest.mode == RecordMode.EXACT and boot.calls().is_empty() else HINT


class Remarks(TypedDict, total=False):
    """What the kernel says of its initcalls beside their times."""

    warnings: list[dict[str, str]]
    blacklisted: list[str]


@once
def initcalls(boot: Boot) -> pl.DataFrame:
    """One row for every initcall, in order of time.

    Columns: `span`, `function`, `level`, `module`, `track`, `start_ns`, `end_ns`, `duration_ns`, `grade`, `reason`,
    `returned`, `probes` (probes of devices that ran inside), `probes_ns` (the union of their time: probes that overlap
    count once), `self_ns` (`duration_ns` without it), `source`. Unknown values are null, above all `probes`,
    `probes_ns` and `self_ns` where a log without times does not show in which initcall its probes ran. Of one that
    never returned `end_ns` is null, and `duration_ns`, graded `bounded`, reaches to the end of the record.

    >>> import firstlight
    >>> rows = initcalls(firstlight.open(bundle))
    >>> rows.height, rows["level"][0], rows["grade"][0]
    (33, 'pure', 'exact')
    """
    frame = spans_of(boot, SpanKind.INITCALL, keys=("module", "returned"))
    inside, anywhere = _probes_inside(boot, frame)
    holders = frame.filter(pl.col("span").is_in(list(inside))).select("span", "start_ns", "end_ns").unique("span")
    sums = {span: _probes_ns(inside[span], start, end) for span, start, end in holders.iter_rows()}
    held = [(span, len(inside[span]), took) for span, took in sums.items()]
    probed = pl.DataFrame(held, schema=dict.fromkeys(("span", "probes", "probes_ns"), pl.Int64), orient="row")
    sources = frame["source"].unique().to_list()
    unsure = [text or "" for text in sources if not anywhere.isdisjoint((text or "").split(" and "))]
    known = ~pl.col("source").fill_null("").is_in(unsure)
    without = pl.col("probes").is_null()
    rest = pl.col("duration_ns") - pl.col("probes_ns")
    return (
        frame.with_columns(returned(boot, frame))
        .join(probed, on="span", how="left", maintain_order="left")
        .with_columns(pl.col("probes").fill_null(0), pl.when(without).then(0).otherwise("probes_ns").alias("probes_ns"))
        .with_columns(pl.when(known).then(pl.col("probes", "probes_ns")))
        .select(
            "span", pl.col("name").alias("function"), "level", "module", "track", "start_ns", "end_ns", "duration_ns",
            "grade", "reason", "returned", "probes", "probes_ns", pl.when(rest >= 0).then(rest).alias("self_ns"),
            "source",
        )
    )  # fmt: skip


def levels(boot: Boot) -> pl.DataFrame:
    """What the initcalls of each level took, and what of their phase lies in none.

    Columns: `level`, `initcalls`, `start_ns` of the first, `end_ns` of the last, `wall_ns` (the union of their
    intervals), `phase_ns` (what of the initcalls' phase they fill; where two levels run side by side, that counts with
    the first of them), `sum_ns` (their durations added up), `probes`, `unknown` (initcalls without a duration, which
    `sum_ns` lacks). Two rows follow the levels: `[outside all initcalls]`, whose `wall_ns` is what of the phase lies in
    no initcall, and `all`, whose `wall_ns` is the phase: the two instants are the `start_ns` and `end_ns` of `all`.
    The `phase_ns` of all rows before `all` add up to that of `all`.

    >>> import firstlight
    >>> rows = levels(firstlight.open(bundle))
    >>> rows["level"].to_list()[-2:]
    ['[outside all initcalls]', 'all']
    """
    return by_level(boot, initcalls(boot))


def by_level(boot: Boot, every: pl.DataFrame, level: str | None = None) -> pl.DataFrame:
    """The same as :func:`levels` for rows of :func:`initcalls` that were made already.

    :param level: this one alone has a row of its own; the others stand together as `[other levels]`.
    """
    order = {level: place for place, level in enumerate(LEVELS)}
    names = sorted(every["level"].unique().to_list(), key=lambda level: (level is None, order.get(level, 99), level))
    rows = [_level_row(name, every.filter(pl.col("level").eq_missing(pl.lit(name)))) for name in names]
    whole = _level_row("all", every)
    phase = initcall_phase(boot, every)
    outside = dict.fromkeys(whole, None) | {"level": OUTSIDE}
    if phase is not None:
        length = phase[1] - phase[0]
        _share_out(rows, every, phase)
        rest = length - union_ns(clipped(timed(every), *phase))
        outside |= {"wall_ns": rest, "phase_ns": rest}
        whole |= {"start_ns": phase[0], "end_ns": phase[1], "wall_ns": length, "phase_ns": length}
    if level is not None and len(rows) > 1:
        others = _level_row(OTHER_LEVELS, every.filter(~pl.col("level").eq_missing(pl.lit(level))))
        if phase is not None:
            others["phase_ns"] = sum(row["phase_ns"] for row in rows if row["level"] != level)
        rows = [row for row in rows if row["level"] == level] + [others]
    figures = ("initcalls", "start_ns", "end_ns", "wall_ns", "phase_ns", "sum_ns", "probes", "unknown")
    return pl.DataFrame([*rows, outside, whole], schema={"level": pl.String, **dict.fromkeys(figures, pl.Int64)})


def initcall_phase(boot: Boot, calls: pl.DataFrame) -> Interval | None:
    """The two instants that the initcalls of the kernel itself lie between.

    They are the begin of the first and the end of the last phase named after initcalls (`initcalls`, `initcall_core`),
    or else the start of the first and the end of the last call that is neither a module's nor a console's: consoles are
    called long before. None where no initcall has both instants.
    """
    phases = boot.phases().filter(pl.col("phase").str.contains("^initcall(s|_[a-z]+)$"))
    ends = phases.select(pl.col("start_ns").min(), pl.col("end_ns").max()).row(0)
    if None not in ends:
        return ends
    builtin = timed(calls.filter(~pl.col("level").fill_null("").is_in(("module", "console")))) or timed(calls)
    return (min(start for start, _ in builtin), max(end for _, end in builtin)) if builtin else None


def timed(frame: pl.DataFrame) -> list[Interval]:
    """The intervals of those rows that have both instants, and of those that never returned, as far as known."""
    open_end = pl.when(never_returned()).then(pl.col("start_ns") + pl.col("duration_ns"))
    known = frame.select("start_ns", pl.coalesce("end_ns", open_end)).drop_nulls()
    return list(known.filter(pl.col("end_ns") >= pl.col("start_ns")).iter_rows())


def never_returned() -> pl.Expr:
    """Whether an initcall was still running when the record ended: its duration is then the least that it took."""
    return pl.col("end_ns").is_null() & (pl.col("grade") == Grade.BOUNDED) & pl.col("duration_ns").is_not_null()


def remarks(boot: Boot) -> Remarks:
    """What the kernel says of its initcalls beside their times; what it does not say is not there.

    `warnings`: `function` and `warning` of those that returned with an imbalance; `blacklisted`: those that were never
    called, because the command line forbids them.

    >>> import firstlight
    >>> remarks(firstlight.open(bundle))
    {}
    """
    # Old kernels warn of every value but 0, which its own column has.
    frame = spans_of(boot, SpanKind.INITCALL, keys=("warning",)).with_columns(
        pl.col("warning").str.replace(r"^error code -?\d+\s*", "")
    )
    frame = frame.filter(pl.col("warning") != "")
    warnings = frame.select(pl.col("name").alias("function"), "warning").to_dicts()
    facts = boot.facts().filter(pl.col("fact") == "kernel.initcalls_blacklisted")["value"].to_list()
    blacklisted = [name for names in facts for name in names.split()]
    found: Remarks = {}
    if warnings:
        found["warnings"] = warnings
    if blacklisted:
        found["blacklisted"] = blacklisted
    return found


def _share_out(rows: list[dict[str, Any]], every: pl.DataFrame, phase: Interval) -> None:
    """Give every level what of the phase is its own: in the order of the levels, each nanosecond once."""
    before: list[Interval] = []
    covered = 0
    for row in rows:
        before += clipped(timed(every.filter(pl.col("level").eq_missing(pl.lit(row["level"])))), *phase)
        row["phase_ns"] = union_ns(before) - covered
        covered += row["phase_ns"]


def _level_row(level: str | None, calls: pl.DataFrame) -> dict[str, Any]:
    intervals = timed(calls)
    return {
        "level": level,
        "initcalls": calls.height,
        "start_ns": calls["start_ns"].min(),
        "end_ns": max((end for _, end in intervals), default=calls["end_ns"].max()),
        "wall_ns": union_ns(intervals) if intervals else None,
        "phase_ns": None,
        "sum_ns": calls["duration_ns"].sum() if calls["duration_ns"].count() else None,
        "probes": None if calls["probes"].null_count() else calls["probes"].sum(),
        "unknown": calls["duration_ns"].null_count(),
    }


_Inside = dict[int, list[tuple[int | None, int | None]]]


def _probes_inside(boot: Boot, calls: pl.DataFrame) -> tuple[_Inside, set[str]]:
    """The instants of the probes inside each initcall: by their parents, else by task and time.

    Beside them the records with a probe that has neither: it may have run in any of their initcalls.
    """
    probes = spans_of(boot, "probe")
    inside: _Inside = {}
    anywhere: set[str] = set()
    if probes.is_empty() or calls.is_empty():
        return inside, anywhere
    parents = dict(boot.spans().select("span", "parent").iter_rows())
    known = set(calls["span"].to_list())
    running: dict[str, list[tuple[int, int, int]]] = {}
    for span, track, start, end in calls.select("span", "track", "start_ns", "end_ns").drop_nulls().iter_rows():
        if track:
            running.setdefault(track, []).append((start, end, span))
    places = dict.fromkeys(running, 0)
    columns = ("parent", "track", "start_ns", "end_ns", "source")
    for parent, track, start, end, source in probes.select(columns).iter_rows():
        owner = next((span for span in ancestors(parent, parents) if span in known), None)
        if owner is None and start is None and end is None:
            anywhere.update((source or "").split(" and "))
        if owner is None and start is not None and track in running:
            ran = running[track]
            # Both are in order of time: what ended before this probe began is never needed again.
            while places[track] < len(ran) and ran[places[track]][1] <= start:
                places[track] += 1
            if places[track] < len(ran) and ran[places[track]][0] <= start:
                owner = ran[places[track]][2]
        if owner is not None:
            inside.setdefault(owner, []).append((start, end))
    return inside, anywhere


def _probes_ns(probes: Iterable[tuple[int | None, int | None]], start: int | None, end: int | None) -> int | None:
    intervals = [(begin, finish) for begin, finish in probes if begin is not None and finish is not None]
    if len(intervals) != len(list(probes)):
        return None
    if start is not None and end is not None:
        intervals = clipped(intervals, start, end)
    return union_ns(intervals)
