"""The table of shares: how the whole change divides among the factors."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.json import exact_number
from firstlight.experiment.results import Results
from firstlight.experiment.shapley import Shares, shapley
from firstlight.quantities import signed_time
from firstlight.render.model.table import Sheet
from firstlight.render.tables.experiment.cell_text import BAR, share_text, whole_ns
from firstlight.render.terminal.columns import Column
from firstlight.render.terminal.console import bar


def shares_sheet(results: Results, unicode: bool = True) -> Sheet | str:
    """Each factor's share of the whole change, or why there are none."""
    shares = shapley(results)
    if isinstance(shares, str):
        return shares
    return _shares_sheet(shares, results, unicode)


def _shares_sheet(shares: Shares, results: Results, unicode: bool) -> Sheet:
    columns = [
        Column("Factor", style="cyan"),
        Column("Share", number=True, style="bold"),
        Column("%", number=True),
        Column("First in", number=True),
        Column("Last out", number=True),
        Column("", wide=80, style="blue", picture=True),
    ]
    largest = max((abs(each.share) for each in shares.shares), default=Fraction(0))
    baseline = results.cells[0].time
    rows = [
        [
            f"{each.factor}={each.level}",
            signed_time(each.whole),
            share_text(each.share, baseline),
            signed_time(whole_ns(each.first_in)),
            signed_time(whole_ns(each.last_out)),
            bar(float(abs(each.share) / largest) if largest else 0.0, BAR, unicode),
        ]
        for each in shares.shares
    ]
    first, last = (
        sum(parts, Fraction(0)) for parts in zip(*((e.first_in, e.last_out) for e in shares.shares), strict=True)
    )
    total = round(shares.total)
    footer = [["all on less all off", signed_time(total), share_text(shares.total, baseline),
               signed_time(whole_ns(first)), signed_time(whole_ns(last)), ""]]  # fmt: skip
    return Sheet(
        "Shares of the whole change",
        columns,
        rows,
        footer,
        below=[
            "Share: the change when the factor is switched on, averaged over every order; shares add up exactly.",
            "First in: switched on alone. Last out: switched on behind all others. These two need not add up.",
        ],
        data_columns=[
            "factor",
            "level",
            "share_ns",
            "share_numerator",
            "share_denominator",
            "first_in_ns",
            "last_out_ns",
        ],
        data_rows=[
            [
                e.factor,
                e.level,
                e.whole,
                e.share.numerator,
                e.share.denominator,
                exact_number(e.first_in),
                exact_number(e.last_out),
            ]
            for e in shares.shares
        ],
    )
