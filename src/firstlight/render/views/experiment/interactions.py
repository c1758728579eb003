"""The table of interactions: what two factors change together beyond what each does alone."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.effects import Interaction, interactions
from firstlight.experiment.estimates import estimate_interactions, varies
from firstlight.experiment.results import Results
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.experiment.statistics import bar_column, estimate_columns, relative

_INTERACTIONS = 10


def interactions_table(results: Results) -> Table | None:
    """What two factors change together beyond what each does alone; none where nothing shows it."""
    found = interactions(results)
    if not found:
        return None
    estimates = estimate_interactions(results) if varies(results) else {}
    baseline = results.cells[0].time
    largest = max((abs(each.effect) for each in found if each.effect is not None), default=Fraction(0))
    more = len(found) - _INTERACTIONS
    return table(
        "Interactions",
        [
            Column("Factors", value=_both, style="cyan", name=""),
            Column("Interaction", "change", "effect", style="bold", name="interaction_ns"),
            Column("%", "share_change", lambda each: relative(each.effect, baseline), name=""),
            *(estimate_columns(lambda each: estimates.get((each.factors, each.levels))) if estimates else []),
            bar_column(lambda each: each.effect, largest, 70),
        ],
        found[:_INTERACTIONS],
        notes=[
            "Interaction: the change by both minus the changes by each alone, averaged over all other factors.",
            *([f"{more} smaller ones are left out here; `--json` has all of them."] if more > 0 else []),
        ],
    )


def _both(each: Interaction) -> str:
    return " x ".join(f"{name}={level}" for name, level in zip(each.factors, each.levels, strict=True))
