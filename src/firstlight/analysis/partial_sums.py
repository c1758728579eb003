"""Sums that say when they are not known."""

from __future__ import annotations

import polars as pl


def whole(figures: pl.Series) -> int | None:
    """The sum of whole numbers; none when one of them is not known.

    >>> import polars as pl
    >>> whole(pl.Series([1, 2])), whole(pl.Series([1, None])), whole(pl.Series([], dtype=pl.Int64))
    (3, None, 0)
    """
    return None if figures.null_count() else int(figures.sum())


def together(figures: pl.Series) -> int | None:
    """The sum of those whole numbers that are known; none when there are some and none of them is.

    >>> import polars as pl
    >>> together(pl.Series([1, None])), together(pl.Series([None], dtype=pl.Int64))
    (1, None)
    """
    return None if 0 < len(figures) == figures.null_count() else int(figures.sum())


def known(figures: pl.Series) -> int:
    """The sum of those whole numbers that are known.

    >>> import polars as pl
    >>> known(pl.Series([1, None]))
    1
    """
    return int(figures.sum())
