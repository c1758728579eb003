"""The calls of a kernel function, with their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firstlight.bundle.boot import Boot
from firstlight.lab.run.ask import Answers
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import heading


def answers_data(answers: Answers, limit: int | None) -> dict[str, Any]:
    """Calls as data.

    :param limit: maximum number of rows; all of them when not given.
    """
    rows = answers.rows if limit is None else answers.rows.head(limit)
    return {
        "function": answers.question.function,
        "values": [value.name for value in answers.question.values],
        "calls": answers.calls,
        "recorded": answers.recorded,
        "profile_calls": answers.profile_calls,
        "unaffected": answers.unaffected,
        "differences": list(answers.differences),
        "rows": rows.to_dicts(),
    }


def answers_report(boot: Boot, answers: Answers, limit: int) -> Iterator[Block]:
    """Each call in order of time, and whether the guest was unaffected.

    :param limit: maximum number of rows.
    """
    yield from heading(boot, f"Calls of {answers.question.function}")
    rows = answers.rows
    with_results = "result" in rows.columns
    figures = [Column(value.name, value=value.name, longest=80) for value in answers.question.values]
    results = [Column("Result", "count", "result"), Column("Took", "time", "duration_ns")] if with_results else []
    yield table(
        "",
        [
            Column("At", "time", "start_ns"),
            Column("Process", "count", "tgid", write=str),
            Column("Thread", "count", "pid", wide=90, write=str),
            Column("Name", value="comm", style="cyan"),
            *figures,
            *results,
        ],
        [_shown(row) for row in rows.head(limit).to_dicts()],
    )
    if rows.height > limit:
        yield Line(f"({rows.height - limit:,} more)")
    yield BLANK
    text = f"{rows.height:,} of {answers.calls:,} calls up to the end of the recording are shown or match."
    if answers.recorded < answers.calls:
        text += f" Only the first {answers.recorded:,} were recorded."
    yield Line(text, "dim")
    if answers.profile_calls is not None and answers.profile_calls != answers.calls:
        yield Line(f"The profile of the boot counts {answers.profile_calls:,} calls of the function.", "dim")
    if answers.unaffected:
        yield Line(
            "The guest was unaffected: console, report, instructions and tables are equal to the recorded boot.",
            "bold green",
        )
    else:
        yield Line("This boot differs from the recorded one:", "bold red")
        yield from (Line(f"  {difference}") for difference in answers.differences)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Values as text: a column may hold anything."""
    known = ("call", "start_ns", "instructions", "tgid", "pid", "end_ns", "duration_ns", "result")
    return {name: value if name in known or value is None else str(value) for name, value in row.items()}
