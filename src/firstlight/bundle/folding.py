"""Split-off parts of functions (`f.cold`), folded into their functions when a tree is read."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import polars as pl

#: What distinguishes different functions of one name: where each of them stands.
SHARED_NAME = r"@[0-9a-f]+$"


class Folding:
    """How the tree of one bundle is folded; nothing is done where it has no split-off parts."""

    def __init__(self, bundle: Path, calls: pl.DataFrame) -> None:
        self._bundle = bundle
        self._raw = calls
        self._calls: pl.DataFrame | None = None

    @cached_property
    def _places(self) -> tuple[pl.Series, pl.Series] | None:
        """For every node its number in the folded tree, and whether its total counts there."""
        from firstlight import _core  # the engine is only loaded where it is needed

        if not self._raw["function"].unique().str.contains(".cold", literal=True).any():
            return None
        folded = _core.folded_calls(str(self._bundle))
        if folded is None:
            return None
        frame = pl.DataFrame(folded)
        return frame["place"], frame["heads"].cast(pl.Boolean)

    @cached_property
    def _part(self) -> pl.Series:
        """Which nodes are split-off parts: entering one is not a call."""
        return self._raw["function"].replace_strict(self._wholes, default=None, return_dtype=pl.String).is_not_null()

    @cached_property
    def _wholes(self) -> dict[str, str]:
        from firstlight import _core

        named = ((name, _core.whole_name(name)) for name in self._raw["function"].unique())
        return {name: whole for name, whole in named if whole is not None}

    def calls(self, raw: pl.DataFrame) -> pl.DataFrame:
        """The table `calls`, folded; its columns stay what they are."""
        if self._places is None:
            return raw
        if self._calls is None:
            place, heads = self._places
            total = {name: pl.when("heads").then(name) for name in ("total_instructions", "total_ns")}
            self._calls = (
                raw.with_columns(
                    place,
                    heads,
                    pl.col("function").replace(self._wholes),
                    pl.when(~self._part).then("calls").otherwise(0).alias("calls"),
                    place.gather(raw["parent"].fill_null(0)).alias("parent"),
                )
                .group_by("place", maintain_order=True)
                .agg(
                    pl.col("parent", "function", "module", "kind").first(),
                    pl.col("calls").sum(),
                    _sum(pl.col("self_instructions"), "self_instructions"),
                    _sum(total["total_instructions"], "total_instructions"),
                    _sum(pl.col("self_ns"), "self_ns"),
                    _sum(total["total_ns"], "total_ns"),
                    _sum(pl.col("doubtful_calls"), "doubtful_calls"),
                )
                .with_columns(pl.when(pl.col("place") > 0).then("parent").alias("parent"))
                .rename({"place": "node"})
                .select(raw.columns)
            )
        return self._calls

    def part_calls(self, raw: pl.DataFrame) -> pl.DataFrame:
        """What nodes did in parts of the boot, as in `phase_calls` or `slice_calls`, for the folded tree."""
        if self._places is None or raw.is_empty():
            return raw
        place, _ = self._places
        together = place.is_in(place.filter(place.is_duplicated()).unique().implode())
        places = pl.DataFrame({"node": self._raw["node"], "place": place, "part": self._part, "together": together})
        own = pl.when(~pl.col("part")).then("calls").otherwise(0).alias("calls")
        rows = (
            raw.with_row_index("at")
            .join(places, on="node", how="inner", maintain_order="left")
            .with_columns(own, pl.col("place").alias("node"))
        )
        # Few nodes are put together; all others only get another number.
        columns = ["at", *raw.columns]
        parts = ["node", *(name for name in ("phase", "slice") if name in raw.columns)]
        figures = [name for name in ("self_instructions", "self_ns") if name in raw.columns]
        sums = (pl.col("at").first(), pl.col("calls").sum(), *(_sum(pl.col(name), name) for name in figures))
        several = rows.filter("together").group_by(parts, maintain_order=True).agg(sums)
        alone = rows.filter(~pl.col("together")).select(columns)
        return pl.concat([alone, several.select(columns)]).sort("at").drop("at")


def _sum(figures: pl.Expr, name: str) -> pl.Expr:
    """A sum that is not known where no figure is."""
    return pl.when(figures.count() > 0).then(figures.sum()).alias(name)
