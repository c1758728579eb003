"""A study as data: what `study.json` holds."""

from __future__ import annotations

from typing import Any

from firstlight.study.outcome import Outcome
from firstlight.study.recheck import Recheck
from firstlight.study.table import Chart, MissingValue, Table

#: The version of the data.
STUDY_VERSION = 2

Json = dict[str, Any]


def outcome_data(outcome: Outcome) -> Json:
    """A study whole; `docs/reference/formats/study.md` is the specification. The same outcome gives the same data."""
    return {
        "format": "firstlight-study",
        "version": STUDY_VERSION,
        "study": outcome.study,
        "title": outcome.title,
        "question": outcome.question,
        "quick": outcome.quick,
        "architecture": outcome.architecture,
        "made_of": dict(outcome.made_of),
        "recipe": list(outcome.recipe),
        "tables": [_table(table) for table in outcome.tables],
        "charts": [_chart(chart) for chart in outcome.charts],
        "historical": [_table(table) for table in outcome.historical],
        "findings": [vars(finding) for finding in outcome.findings],
        "missing": [vars(missing) for missing in outcome.missing],
        "notes": list(outcome.notes),
    }


def recheck_data(found: Recheck) -> Json:
    """The claims of a study on two kernels, as data."""
    rows = [{**vars(row), "flipped": row.flipped} for row in found.rows]
    return {"study": found.study, "claims": rows, "missing": [vars(missing) for missing in found.missing]}


def _table(table: Table) -> Json:
    return {
        "key": table.key,
        "title": table.title,
        "fields": [vars(field) for field in table.fields],
        "rows": [
            [{"missing": value.reason} if isinstance(value, MissingValue) else value for value in row]
            for row in table.rows
        ],
        "below": list(table.below),
    }


def _chart(chart: Chart) -> Json:
    series = [{"name": each.name, "points": [list(point) for point in each.points]} for each in chart.series]
    return {**vars(chart), "series": series}
