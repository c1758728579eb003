"""A study as a page of Markdown: recipe, result, what holds, what no longer does."""

from __future__ import annotations

from firstlight.render.model.table import markdown_table, markdown_words
from firstlight.render.tables.study import findings_table, sheet_of
from firstlight.study.outcome import Outcome
from firstlight.study.table import Table


def outcome_markdown(outcome: Outcome) -> str:
    """The whole study; the same outcome gives the same text."""
    parts = [f"# {markdown_words(outcome.title)}", markdown_words(outcome.question)]
    if outcome.quick:
        parts.append("A quick run: fewer arms and smaller sizes than the whole study has.")
    parts += ["## What was concluded then, and what holds", _table(findings_table(outcome), titled=False)]
    parts += ["## Measured here", *(_table(table) for table in outcome.tables)]
    parts += ["## Measured then", "By others, on machines of their time: to be compared in direction and form only."]
    parts += [_table(table) for table in outcome.historical]
    if outcome.missing:
        lines = [f"- {markdown_words(each.what)}: {markdown_words(each.reason)}" for each in outcome.missing]
        parts += ["## Not measured", "\n".join(lines)]
    if outcome.notes:
        parts += ["## To be known", "\n".join(f"- {markdown_words(note)}" for note in outcome.notes)]
    parts += ["## Recipe", "\n".join(f"- {markdown_words(line)}" for line in outcome.recipe)]
    return "\n\n".join(parts) + "\n"


def _table(table: Table, titled: bool = True) -> str:
    sheet = sheet_of(table)
    title = [f"### {markdown_words(sheet.title)}"] if titled else []
    return "\n\n".join([*title, markdown_table(sheet), *map(markdown_words, sheet.below)])
