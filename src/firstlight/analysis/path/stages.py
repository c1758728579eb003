"""The stages of userspace as systemd reports them: frames of the units in them, which follow one another."""

from __future__ import annotations

from bisect import bisect_left

import polars as pl

from firstlight.schema.marks import Stage
from firstlight.schema.spans import SpanKind

#: Stages that units start in.
_FRAMES = (Stage.INITRD, Stage.USERSPACE, Stage.SOFT_REBOOT)


def without_frames(frame: pl.DataFrame, points: frozenset[int]) -> pl.DataFrame:
    """The spans without the stages that are not work of their own: units did it, and only they can be a part of a path.

    A stage of userspace stays in which no unit is known to have begun, because it is all that is known of that time.

    :param points: spans of units of which only the end is known: they show nothing of what ran in a stage.
    """
    known = frame.filter((pl.col("kind") == "unit") & ~pl.col("span").is_in(list(points)))
    begins = sorted(known["start_ns"].drop_nulls().to_list())
    frames = frame.filter((pl.col("kind") == SpanKind.STAGE) & pl.col("name").is_in(_FRAMES))
    opaque = [row["span"] for row in frames.iter_rows(named=True) if _divided(row, begins)]
    return frame.filter(~pl.col("span").is_in(opaque))


def switches(stages: pl.DataFrame) -> list[int]:
    """When a stage of userspace gave way to the next one, in order."""
    rows = stages.filter(pl.col("name").is_in(_FRAMES) & (pl.col("kind") == "stage"))
    return sorted(set(rows["start_ns"].drop_nulls().to_list()))[1:]


def _divided(row: dict[str, object], begins: list[int]) -> bool:
    """Whether a unit began in a stage of userspace."""
    start, end = row["start_ns"], row["end_ns"]
    if not isinstance(start, int):
        return False
    place = bisect_left(begins, start)
    return place < len(begins) and (not isinstance(end, int) or begins[place] < end)
