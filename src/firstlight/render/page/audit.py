"""The page of an audit: one file that loads nothing and runs nothing, in the style of the report page."""

from __future__ import annotations

from firstlight.audit.boot import Audit
from firstlight.escape import escape_html
from firstlight.render.html.table import html_table
from firstlight.render.page.frame import framed
from firstlight.render.views.audit import (
    LOWEST,
    agreement_table,
    audit_subject,
    audit_title,
    exceptions_tables,
    exceptions_text,
)


def audit_html(name: str, found: Audit) -> str:
    """The page of an audit: the agreement with bars, then every exception with its cause.

    :param name: the bundle's.
    :raises LabError: when the report page, whose style this one has, has not been built.
    """
    unknown = sum(cause is None for _, cause in found.causes)
    parts = [
        '<header><p class="brand"><span class="sun" aria-hidden="true"></span>Firstlight audit</p>',
        f"<h1>{escape_html(audit_title(name, found))}</h1>",
        f'<p class="note">{escape_html(audit_subject(found))}</p></header><main id="main">',
        "<section><h2>Agreement</h2>",
        f"<p>The bars begin at {LOWEST * 100:g} %.</p>",
        html_table(agreement_table(found)),
        "</section><section><h2>Exceptions</h2>",
        f"<p>{escape_html(exceptions_text(len(found.causes), unknown))}</p>",
        *(f"<h3>{escape_html(made.title)}</h3>{html_table(made)}" for made in exceptions_tables(found)),
    ]
    return framed(f"{name} – Firstlight audit", "\n".join([*parts, "</section></main>"]))
