"""The page of a tuning."""

from __future__ import annotations

from firstlight.advise.tuning.files import files_to_apply
from firstlight.advise.tuning.tuning import Tuning
from firstlight.escape import escape_html
from firstlight.render.html.table import html_table
from firstlight.render.page.frame import framed
from firstlight.render.views.tuning import tuning_tables, tuning_title, tuning_verdict


def tuning_html(tuning: Tuning) -> str:
    """The page of a tuning: the verdict, every table, and the files to apply.

    :raises LabError: when the report page, whose style this one has, has not been built.
    """
    parts = [
        '<header><p class="brand"><span class="sun" aria-hidden="true"></span>Firstlight tuning</p>',
        f"<h1>{escape_html(tuning_verdict(tuning))}</h1>",
        f'<p class="note">{escape_html(tuning_title(tuning))}</p></header><main id="main">',
        *(f"<section><h2>{escape_html(made.title)}</h2>{html_table(made)}</section>" for made in tuning_tables(tuning)),
        "<section><h2>Files to apply</h2>",
        *(
            f"<h3>{escape_html(name)}</h3><pre>{escape_html(text)}</pre>"
            for name, text in files_to_apply(tuning).items()
        ),
        "</section></main>",
    ]
    return framed("Firstlight tuning", "\n".join(parts))
