"""What the page of a study carries."""

from __future__ import annotations

from typing import Any

from firstlight.render.page.text import sound
from firstlight.render.study_json import outcome_data
from firstlight.render.table_json import table_json
from firstlight.render.views.study import claims_table, file_names, verdicts_text
from firstlight.study.outcome import Outcome
from firstlight.study.table import value_text

#: The version of the data; the page refuses any other.
STUDY_PAGE_VERSION = 1


def study_page_data(outcome: Outcome) -> dict[str, Any]:
    """A study as its page carries it: its verdicts, its first chart with its figures as texts, and the names of the
    files with its tables; `docs/design/report-page.md` is the specification.
    """
    charts = [
        {
            **chart,
            "series": [
                {**series, "texts": [value_text(up, chart["kind"]) for _, up in series["points"]]}
                for series in chart["series"]
            ],
        }
        for chart in outcome_data(outcome)["charts"]
    ]
    data: dict[str, Any] = sound(
        {
            "format": "firstlight-study-page",
            "version": STUDY_PAGE_VERSION,
            "study": outcome.study,
            "title": outcome.title,
            "question": outcome.question,
            "quick": outcome.quick,
            "findings": outcome_data(outcome)["findings"],
            "findings_table": table_json(claims_table(outcome)),
            "charts": charts[:1],
            "missing": outcome_data(outcome)["missing"],
            "notes": [verdicts_text(outcome), *outcome.notes, f"Tables as CSV: {', '.join(file_names(outcome))}"],
            "recipe": list(outcome.recipe),
        }
    )
    return data
