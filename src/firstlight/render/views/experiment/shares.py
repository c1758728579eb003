"""The table of shares: how the whole change divides among the factors."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.results import Results
from firstlight.experiment.shapley import shapley
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.experiment.statistics import bar_column, relative


def shares_table(results: Results) -> Table | str:
    """Each factor's share of the whole change, or why there are none."""
    found = shapley(results)
    if isinstance(found, str):
        return found
    baseline = results.cells[0].time
    return table(
        "Shares of the total change",
        [
            Column("Factor", value=lambda each: f"{each.factor}={each.level}", style="cyan", name=""),
            Column("", value="factor", shown=False),
            Column("", value="level", shown=False),
            Column("Share", "change", "whole", style="bold", name="share_ns"),
            Column("%", "share_change", lambda each: relative(each.share, baseline), name=""),
            Column("", "count", lambda each: each.share.numerator, name="share_numerator", shown=False),
            Column("", "count", lambda each: each.share.denominator, name="share_denominator", shown=False),
            Column("First in", "change", "first_in", name="first_in_ns"),
            Column("Last out", "change", "last_out", name="last_out_ns"),
            bar_column(
                lambda each: each.share, max((abs(each.share) for each in found.shares), default=Fraction(0)), 80
            ),
        ],
        found.shares,
        footer=[
            {
                "Factor": "all on less all off",
                "share_ns": found.total,
                "%": relative(found.total, baseline),
                "first_in_ns": sum((each.first_in for each in found.shares), Fraction(0)),
                "last_out_ns": sum((each.last_out for each in found.shares), Fraction(0)),
            }
        ],
        notes=[
            "Share: the change when the factor is switched on, averaged over every order; shares add up exactly.",
            "First in: switched on alone. Last out: switched on after all others. These two need not add up.",
        ],
    )
