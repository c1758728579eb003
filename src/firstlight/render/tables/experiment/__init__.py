"""The tables of an experiment, for a terminal, Markdown or CSV: cells, effects, interactions, shares."""

from firstlight.render.tables.experiment.cells import cells_sheet, heading
from firstlight.render.tables.experiment.effects import effects_sheet
from firstlight.render.tables.experiment.interactions import interactions_sheet
from firstlight.render.tables.experiment.shares import shares_sheet

__all__ = ["cells_sheet", "effects_sheet", "heading", "interactions_sheet", "shares_sheet"]
