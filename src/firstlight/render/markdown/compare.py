"""The difference of boots as Markdown, for a pull request or a note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firstlight.comparison.compare import Comparison
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.headline import headline
from firstlight.comparison.robustness import Robustness
from firstlight.comparison.statistical.comparison import NoisyComparison
from firstlight.escape import escape_markdown
from firstlight.render.markdown.table import markdown_report
from firstlight.render.model.report import Block, Line
from firstlight.render.views.band import total_text
from firstlight.render.views.compare import (
    EQUAL,
    hidden_table,
    input_text,
    level_table,
    subject_text,
    tells_more,
    totals_table,
)
from firstlight.render.views.compare_tree import moved_report
from firstlight.render.views.ledger import ledger_table
from firstlight.render.views.statistical_comparison import (
    bridge_text,
    exclusions,
    noisy_tables,
    number_text,
    reasons,
)
from firstlight.render.views.statistical_comparison import headline as noisy_headline
from firstlight.render.views.statistical_comparison import subject_text as noisy_subject


def comparison_markdown(found: Comparison, limit: int, by_band: Robustness | None = None) -> str:
    """A comparison for a pull request.

    :param limit: maximum number of rows of each table.
    :param by_band: what a noise band says of it, if one was given.
    """
    text = difference_markdown(found, limit) if isinstance(found, ExactDifference) else noisy_markdown(found, limit)
    return text if by_band is None else f"{text}\nAgainst the noise band: {total_text(by_band)}\n"


def difference_markdown(difference: ExactDifference, limit: int) -> str:
    """What changed from A to B as Markdown: inputs, totals, and each level with its largest changes first.

    Names from the boots are written so that nothing in them is taken for Markdown or HTML.

    :param limit: how many rows of each level have a line of their own.

    >>> import firstlight
    >>> from firstlight.comparison.exact.difference import exact_difference
    >>> boot = firstlight.open(bundle)
    >>> print(difference_markdown(exact_difference(boot, boot), 5).splitlines()[-1])
    Equal: all tables of both boots are equal.
    """
    lines = [Line(input_text(change), head="differs: ") for change in difference.inputs]
    lines += [Line(flag.text, head=f"{flag.title}: ") for flag in difference.flags]
    parts = [f"**{escape_markdown(headline(difference))}**"]
    if (figures := markdown_report(ledger_table(difference))).strip():
        parts.append(figures.strip())
    parts += [
        _head(str(difference.a.directory), str(difference.b.directory)),
        escape_markdown(subject_text(difference)),
    ]
    parts += [markdown_report(lines).strip()] if lines else []
    if difference.is_equal:
        return "\n\n".join([*parts, EQUAL]) + "\n"
    return "\n\n".join([*parts, markdown_report(_levels(difference, limit), 4)])


def _levels(difference: ExactDifference, limit: int) -> Iterator[Block]:
    yield totals_table(difference)
    for level in difference.levels:
        if level.changed and (level.name != "path" or tells_more(level)):
            yield level_table(level, limit, difference.parts.get(level.name))
    yield from hidden_table(difference, limit)
    yield from moved_report(difference.moved, difference.renamed, limit)


def noisy_markdown(found: NoisyComparison, limit: int) -> str:
    """The verdict, what it rests on, and what changed in each level.

    :param limit: how many rows of each level that differ have a line of their own.
    """
    notes = [*(("note", note) for note in found.notes), *(("excluded", each) for each in exclusions(found))]
    parts = [
        _head(found.a, found.b),
        escape_markdown(f"{noisy_subject(found)}; {number_text(found)}"),
        f"**{found.verdict.word}**: {escape_markdown(noisy_headline(found))}",
        markdown_report(_named([*reasons(found), *notes])).strip(),
        markdown_report(noisy_tables(found, limit), 4).strip(),
        escape_markdown(bridge_text(found)),
    ]
    return "\n\n".join(parts) + "\n"


def _named(named: Iterable[tuple[str, str]]) -> Iterator[Line]:
    for name, text in named:
        yield Line(text, head=f"{name}: ")


def _head(a: str, b: str) -> str:
    return f"### {escape_markdown(a, 200)} → {escape_markdown(b, 200)}"
