"""Comparisons with one baseline, exact or statistical, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstlight.comparison.compare import Comparison
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.robustness import Robustness
from firstlight.render.model.report import BLANK, Block
from firstlight.render.views.band import robustness_report
from firstlight.render.views.compare import difference_report, summary_table


def comparisons_report(
    found: Sequence[tuple[Comparison, Robustness | None]], limit: int, min_share: float
) -> Iterator[Block]:
    """Every comparison with what a noise band says of it; a summary first where there are several exact ones.

    :param limit: maximum number of rows of each table.
    :param min_share: nodes of the tree below this share of all changes, from 0 to 1, stand together.
    """
    exact = [each for each, _ in found if isinstance(each, ExactDifference)]
    several = len(found) > 1
    if several and len(exact) == len(found):
        yield summary_table(exact)
    for number, (each, by_band) in enumerate(found):
        if number or several:
            yield BLANK
        if isinstance(each, ExactDifference):
            yield from difference_report(each, limit, min_share)
            if by_band is not None:
                yield from robustness_report(by_band, limit)
        else:
            from firstlight.render.views.statistical_comparison import (
                noisy_report,  # it needs the packages of statistics
            )

            yield from noisy_report(each, limit)
