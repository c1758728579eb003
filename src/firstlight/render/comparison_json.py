"""Comparisons as data: the shape that `docs/reference/formats/comparison.md` specifies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.comparison.compare import Comparison
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.robustness import Robustness
from firstlight.render.difference_json import MIN_SHARE, VERSION, difference_data


def comparisons_data(
    baseline: str,
    found: Sequence[tuple[Comparison, Robustness | None]],
    limit: int | None = None,
    min_share: float | None = None,
) -> dict[str, Any]:
    """Every comparison with one baseline as plain data.

    :param baseline: the arm that all are compared with, as it was given.
    :param found: each comparison with what a noise band says of it, if one was given.
    :param limit: so many rows of each level of an exact difference; all of them when not given.
    :param min_share: nodes of the tree below this share of all changes, from 0 to 1, stand together.

    >>> from firstlight.comparison.sides.arms import read_arm
    >>> from firstlight.comparison.compare import compare_arms
    >>> arm = read_arm(bundle)
    >>> comparisons_data("a.boot", [(compare_arms(arm, arm), None)])["comparisons"][0]["equal"]
    True
    """
    share = MIN_SHARE if min_share is None else min_share
    data = [
        (difference_data(each, limit, share) if isinstance(each, ExactDifference) else each.to_data())
        | ({} if by_band is None else {"band": by_band.to_data()})
        for each, by_band in found
    ]
    return {"schema": VERSION, "baseline": baseline, "comparisons": data}
