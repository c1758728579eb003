"""Answers of a fleet: tables of quantiles, regressions, outliers, groups and causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.fleet.analyses.regressed import RegressionVerdict
from firstlight.fleet.causes import FleetCauses
from firstlight.fleet.questions import Answer, Question
from firstlight.fleet.reproduction import SlowInitcall
from firstlight.quantities import percent_text, ratio_text, share_text, time_text
from firstlight.render.model.report import Block, Line, pairs
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.explain import remedy_text

_TITLES = {
    Question.PHASES: "Phases",
    Question.INITCALLS: "Initcalls",
    Question.UNITS: "Units",
    Question.PROCESSES: "Processes, CPU time",
    Question.REGRESSED: "Parts that changed",
    Question.OUTLIERS: "Outliers",
    Question.COHORTS: "Groups",
    Question.TAIL: "Parts that take longer in the slowest hundredth",
}


def answer_report(answer: Answer, limit: int | None) -> Iterator[Block]:
    """An answer for a terminal or as Markdown.

    :param limit: so many rows; none for all.
    """
    yield Line(f"{answer.boots:,} boot{'' if answer.boots == 1 else 's'}", "bold")
    yield from (Line(note, "dim") for note in answer_notes(answer))
    yield answer_table(answer, limit)


def answer_notes(answer: Answer) -> list[str]:
    """What has to be said of an answer."""
    one = answer.left_out == 1
    left_out = (
        f"{answer.left_out:,} {'boot did not come up and is' if one else 'boots did not come up and are'} left out"
    )
    return [*([left_out] if answer.left_out else []), *answer.notes]


def answer_table(answer: Answer, limit: int | None = None) -> Table:
    """The table of an answer. Of `regressed` unchanged parts are counted, not shown."""
    rows = answer.rows.to_dicts()
    notes = []
    if answer.question == Question.REGRESSED:
        changed = [row for row in rows if row["verdict"] != RegressionVerdict.UNCHANGED]
        notes = [f"{len(rows) - len(changed):,} cells are unchanged"] if rows else []
        rows = changed
    shown = rows if limit is None else rows[:limit]
    if len(rows) > len(shown):
        notes.append(f"{len(rows) - len(shown):,} more rows; `--limit` shows them")
    if not rows:
        notes.append("nothing of the kind was found")
    return table(_TITLES[answer.question], _columns(answer), shown, notes=notes)


def _columns(answer: Answer) -> list[Column]:
    groups = [Column(name.capitalize(), value=name, longest=30) for name in answer.by]
    part = [Column("Kind", value="kind", wide=90), Column("Part", value="name", style="cyan", longest=60)]
    few = Column("", value=lambda row: "few boots" if row["few"] else "", name="few", wide=100, optional=True)
    boots = Column("Boots", "count", "boots")
    match answer.question:
        case Question.REGRESSED:
            return [
                *part, *groups,
                Column("Boots before", "count", "old_boots", wide=110), Column("after", "count", "new_boots", wide=110),
                Column("Median before", "time", "old_ns"), Column("after", "time", "new_ns", name="new_ns"),
                Column("Change", "change", "change_ns", style="bold"),
                Column("", value=lambda row: percent_text(row["change"] * 100), name="change"),
                Column("p", value=lambda row: _p(row["p"]), name="p", fixed=True),
                Column("Verdict", value="verdict", fixed=True), few,
            ]  # fmt: skip
        case Question.OUTLIERS:
            return [
                Column("Boot", value=lambda row: row["digest"][:12], name="digest", fixed=True), *groups, *part,
                Column("Took", "time", "duration_ns"), Column("Median", "time", "median_ns"),
                Column("Above", "change", "above_ns", style="bold"),
            ]  # fmt: skip
        case Question.COHORTS:
            return [
                *part, *groups, boots, Column("Median", "time", "p50_ns"),
                Column("Of the largest", value=lambda row: _ratio(row["of_largest"]), name="of_largest"), few,
            ]  # fmt: skip
        case Question.TAIL:
            return [
                *part, Column("Slow boots", "count", "slow_boots", wide=90), Column("Slow", "time", "slow_mean_ns"),
                Column("Others", "time", "other_mean_ns"), Column("More", "change", "more_ns", style="bold"),
            ]  # fmt: skip
        case _:
            kind = [] if answer.question != Question.PHASES else part[:1]
            return [
                *kind, part[1], *groups, boots, Column("p50", "time", "p50_ns", style="bold"),
                *([Column("Off by up to", "time", "unsure_ns")] if _is_unsure(answer) else []),
                Column("p90", "time", "p90_ns"), Column("p99", "time", "p99_ns"),
                Column("Largest", "time", "largest_ns", wide=100), few,
            ]  # fmt: skip


def _is_unsure(answer: Answer) -> bool:
    """Whether the median of a phase may be off."""
    return answer.question == Question.PHASES and bool((answer.rows["unsure_ns"] > 0).any())


def _p(p: float | None) -> str:
    return "-" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _ratio(ratio: float | None) -> str:
    return "new" if ratio is None else f"{ratio:.3f}"


def answer_data(answer: Answer) -> dict[str, Any]:
    """An answer as data, every row of it."""
    return {
        "question": answer.question.value,
        "boots": answer.boots,
        "left_out": answer.left_out,
        "by": list(answer.by),
        "old": answer.old,
        "new": answer.new,
        "notes": list(answer.notes),
        "rows": answer.rows.to_dicts(),
    }


def causes_table(found: FleetCauses) -> Table:
    """The causes of a fleet, the largest sum first."""
    notes = [f"{found.others:,} other boots were not checked for causes"] if found.others else []
    return table(
        "Known causes",
        [
            Column("Entry", value="id", fixed=True, style="cyan"),
            Column("Cause", value=lambda cause: cause.entry.title if cause.entry else "not in this catalogue"),
            Column("Boots", "count", "boots"),
            Column("", value=lambda cause: ratio_text(cause.share), name="share"),
            Column("p50", "time", "p50_ns"), Column("p90", "time", "p90_ns", wide=90),
            Column("All boots", "time", "sum_ns", style="bold"),
            Column("Remedy", value=lambda cause: remedy_text(cause.entry.remedies[0]) if cause.entry else "", wide=100),
        ],
        found.causes,
        notes=notes,
    )  # fmt: skip


def causes_report(found: FleetCauses) -> Sequence[Block]:
    """The causes of a fleet for a terminal."""
    return [Line(f"{found.boots:,} boots", "bold"), causes_table(found)]


def causes_data(found: FleetCauses) -> dict[str, Any]:
    """The causes of a fleet as data."""
    rows = [
        {"entry": each.id, "title": each.entry.title if each.entry else None, "boots": each.boots, "share": each.share,
         "p50_ns": each.p50_ns, "p90_ns": each.p90_ns, "sum_ns": each.sum_ns}
        for each in found.causes
    ]  # fmt: skip
    return {"boots": found.boots, "others": found.others, "causes": rows}


def reproduced_report(
    slow: SlowInitcall, boot: Boot, duration_ns: int | None, functions: pl.DataFrame, limit: int
) -> Sequence[Block]:
    """A slow initcall in the fleet, in an exact boot of its kernel, and the functions that take its time."""
    fleet = f"kernel {slow.kernel}, {slow.boots:,} boots: p50 {time_text(round(slow.p50_ns))}, "
    named = [
        ("fleet", f"{fleet}p99 {time_text(round(slow.p99_ns))}"),
        ("exact boot", f"{boot.directory.name}: {time_text(duration_ns)}, virtual time"),
    ]
    columns = [
        Column("Function", value="function", style="cyan", longest=60), Column("Module", value="module", optional=True),
        Column("Calls", "count", "count"), Column("Self", "time", "self_ns", style="bold"),
        Column("Share", value=lambda row: share_text(row["self_ns"], duration_ns), name="share"),
    ]  # fmt: skip
    rows = functions.head(limit).to_dicts()
    return [Line(slow.initcall, "bold"), *pairs(named), table("Functions below it, by own time", columns, rows)]


def reproduced_data(slow: SlowInitcall, boot: Boot, duration_ns: int | None, functions: pl.DataFrame) -> dict[str, Any]:
    """The same as data, every function."""
    return {
        **asdict(slow),
        "boot": str(boot.directory),
        "exact_ns": duration_ns,
        "functions": functions.select("function", "module", "count", "self_ns").to_dicts(),
    }  # fmt: skip
