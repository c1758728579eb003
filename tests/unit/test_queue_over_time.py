"""The queue of udev over time, against a count of every event at every instant."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from firstlight.analysis.udev_queue import queue_over_time

COLUMNS = ("arrival_ns", "service_start_ns", "service_ns", "end_ns")
figures = st.none() | st.integers(0, 30)


@given(rows=st.lists(st.tuples(figures, figures, figures, figures), max_size=30))
def test_each_instant_has_the_events_that_wait_and_that_are_at_work(rows: list[tuple[int | None, ...]]) -> None:
    found = queue_over_time(pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Int64), orient="row"))
    waits, works = [], []
    for arrival, begun, took, end in rows:
        until = end if begun is None or took is None else begun
        if arrival is not None and until is not None and until >= arrival:
            waits.append((arrival, until))
        if begun is not None and took is not None:
            works.append((begun, begun + took))
    assert found["time_ns"].to_list() == sorted({instant for pair in waits + works for instant in pair})
    for instant, waiting, at_work in found.iter_rows():
        assert waiting == sum(start <= instant < end for start, end in waits)
        assert at_work == sum(start <= instant < end for start, end in works)
