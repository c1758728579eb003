"""The results of an experiment as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.escape import escape_markdown
from firstlight.experiment.results import Results
from firstlight.render.markdown.table import markdown_report
from firstlight.render.model.table import Table
from firstlight.render.views.experiment.report import heading, not_counting


def results_markdown(results: Results, tables: Sequence[Table], missing: Sequence[str]) -> str:
    """Tables of an experiment below what they are of and what does not count.

    :param missing: why other tables are not there.
    """
    title, *about = heading(results)
    texts = map(escape_markdown, [*about, *missing, *not_counting(results)])
    return "\n\n".join([f"## {escape_markdown(title)}", *texts, markdown_report(tables)])
