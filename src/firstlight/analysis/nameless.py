"""Modules whose code has no symbols."""

from __future__ import annotations

import polars as pl

from firstlight.bundle.boot import Boot


def nameless_modules(boot: Boot) -> dict[str, int]:
    """The modules that executed code in no symbol, each with how many instructions, the most first.

    A module that was stripped of its symbols is one row, `[MODULE]`: its sums are right, its functions are unknown.

    >>> import firstlight
    >>> nameless_modules(firstlight.open(bundle))
    {}
    """
    own_row = pl.col("function") == pl.format("[{}]", pl.col("module"))
    rows = boot.calls().filter(own_row).group_by("module").agg(pl.col("self_instructions").sum())
    ordered = rows.filter(pl.col("self_instructions") > 0).sort("self_instructions", "module", descending=[True, False])
    return dict(ordered.iter_rows())
