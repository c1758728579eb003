"""What the page of an experiment carries: its results as data, and its tables as people read them."""

from __future__ import annotations

from typing import Any

from firstlight.experiment.json import results_data
from firstlight.experiment.results import Results
from firstlight.experiment.stage_table import stage_table
from firstlight.render.model.table import Sheet, sheet_data
from firstlight.render.page.text import sound
from firstlight.render.tables.experiment import cells_sheet, effects_sheet, heading, interactions_sheet, shares_sheet
from firstlight.render.tables.stages import stage_sheet
from firstlight.render.views.experiment import not_counting

#: The version of the data; the page refuses any other.
EXPERIMENT_VERSION = 1

Json = dict[str, Any]


def experiment_page_data(results: Results) -> Json:
    """An experiment as the page carries it, finished or not; `docs/design/report-page.md` is the specification.

    :param results: which are in it whole, as `firstlight experiment show --json` prints them.
    """
    sheets: dict[str, Sheet] = {"cells": cells_sheet(results)}
    said = not_counting(results)
    if results.plan.factors:
        sheets["effects"] = effects_sheet(results)
        found = interactions_sheet(results)
        if found is not None:
            sheets["interactions"] = found
        shares = shares_sheet(results)
        if isinstance(shares, str):
            said.insert(0, f"no shares: {shares}")
        else:
            sheets["shares"] = shares
    if any(cell.counted for cell in results.cells):
        sheets["stages"] = stage_sheet(stage_table(results))
    data: Json = sound(
        {
            "format": "firstlight-experiment-page",
            "version": EXPERIMENT_VERSION,
            "heading": heading(results),
            "said": said,
            "sheets": {name: sheet_data(sheet) for name, sheet in sheets.items()},
            "results": results_data(results),
        }
    )
    return data
