"""A study as a page of Markdown: recipe, result, what holds, what no longer does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firstlight.escape import escape_markdown
from firstlight.render.markdown.table import markdown_table
from firstlight.render.views.study import findings_table, study_table
from firstlight.study.outcome import Outcome


def outcome_markdown(outcome: Outcome) -> str:
    """The whole study; the same outcome gives the same text."""
    return "\n\n".join(_parts(outcome)) + "\n"


def _parts(outcome: Outcome) -> Iterator[str]:
    yield f"# {escape_markdown(outcome.title)}"
    yield escape_markdown(outcome.question)
    if outcome.quick:
        yield "A quick run: fewer arms and smaller sizes than the whole study has."
    yield from (
        "## What was concluded then, and what holds",
        markdown_table(findings_table(outcome)),
        "## Measured here",
    )
    for place, each in enumerate((*outcome.tables, *outcome.historical)):
        if place == len(outcome.tables):
            yield "## Measured then"
            yield "By others, on machines of their time: to be compared in direction and form only."
        made = study_table(each)
        yield from (f"### {escape_markdown(made.title)}", markdown_table(made), *map(escape_markdown, made.notes))
    if outcome.missing:
        yield from ("## Not measured", _list(f"{each.what}: {each.reason}" for each in outcome.missing))
    if outcome.notes:
        yield from ("## To be known", _list(outcome.notes))
    yield from ("## Recipe", _list(outcome.recipe))


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
