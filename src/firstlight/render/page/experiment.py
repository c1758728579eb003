"""What the page of an experiment carries: its results as data, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.comparison.statistical.quantiles import Statistic
from firstlight.experiment.results import Results
from firstlight.experiment.stage_table import stage_table
from firstlight.render.experiment_json import results_data
from firstlight.render.page.text import sound
from firstlight.render.table_json import table_json
from firstlight.render.views.experiment.report import experiment_tables, heading, not_counting, quantile_tables
from firstlight.render.views.stages import stages_table

#: The version of the data; the page refuses any other.
EXPERIMENT_VERSION = 1

Json = dict[str, Any]


def experiment_page_data(results: Results, statistics: Sequence[str] | None = None) -> Json:
    """An experiment as the page carries it, finished or not; `docs/design/report-page.md` is the specification.

    :param results: which are in it whole, as `firstlight experiment show --json` prints them.
    :param statistics: statistics of the cells of boots that vary; by default all.
    """
    tables, missing = experiment_tables(results)
    if any(cell.counted for cell in results.cells):
        tables["stages"] = stages_table(stage_table(results))
    wanted: Sequence[str] = list(Statistic) if statistics is None else statistics
    if found := quantile_tables(results, wanted):
        tables["quantiles"] = found[0]
    data: Json = sound(
        {
            "format": "firstlight-experiment-page",
            "version": EXPERIMENT_VERSION,
            "heading": heading(results),
            "said": [*missing, *not_counting(results)],
            "tables": {name: table_json(table) for name, table in tables.items()},
            "results": results_data(results, wanted),
        }
    )
    return data
