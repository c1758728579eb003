"""Calls that the recorder followed by inference, because no event of their own showed where they went."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from firstlight.bundle.boot import Boot

#: A function with a larger share of doubtful calls than this is marked wherever it is compared.
MOST_DOUBTFUL = 0.01


@dataclass(frozen=True)
class Doubt:
    """How many calls were followed by inference instead of an event of their own."""

    doubtful: int
    calls: int

    @property
    def share(self) -> float:
        """Of all calls, from 0 to 1."""
        return doubtful_share(self.doubtful, self.calls) or 0.0


def doubt_of(boot: Boot) -> Doubt | None:
    """The doubtful calls of a whole boot; none where the recording does not have them.

    The root is not a call: the calls are those that the function table adds up to.

    :raises BundleError: when the table cannot be read.

    >>> import firstlight
    >>> doubt_of(firstlight.open(bundle)) is None
    True
    """
    calls = boot.calls().filter(~((pl.col("kind") == "root") & (pl.col("self_ns").fill_null(0) == 0)))
    if calls["doubtful_calls"].null_count() == calls.height:
        return None
    return Doubt(int(calls["doubtful_calls"].sum()), int(calls["calls"].sum()))


def doubtful_share(doubtful: int | None, calls: int) -> float | None:
    """The share of calls that are doubtful, from 0 to 1; none where it is not known.

    A split-off part of a function that was entered in doubt makes a call of the function doubtful that was counted at
    its entry, so there may be more doubts than calls: then all are.

    >>> doubtful_share(1, 4), doubtful_share(0, 0), doubtful_share(2, 1), doubtful_share(None, 1)
    (0.25, 0.0, 1.0, None)
    """
    if doubtful is None:
        return None
    return 0.0 if doubtful <= 0 else min(1.0, doubtful / max(calls, 1))


def with_share(table: pl.DataFrame) -> pl.DataFrame:
    """A kd table with the column `doubtful_share`: the share of each function's calls that are doubtful, from 0 to 1.

    >>> with_share(pl.DataFrame({"count": [4, 0], "doubtful_calls": [1, None]}))["doubtful_share"].to_list()
    [0.25, None]
    """
    rows = table.select("doubtful_calls", "count").iter_rows()
    shares = pl.Series("doubtful_share", [doubtful_share(*row) for row in rows], pl.Float64)
    return table.with_columns(shares)
