"""What becomes of the console in the tables of a recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.lab.run.tables import leave_out_what_came_after, write_log


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        ([0, 10, 20], 3),
        ([0, None, 20, None, None], 3),
        ([None, None, 20], 3),
        ([0, None], 1),
        ([None, None], 0),
        ([], 0),
    ],
)
def test_the_log_ends_with_the_last_line_that_has_a_time(tmp_path: Path, times: list[int | None], kept: int) -> None:
    bundle = make_bundle(tmp_path)
    lines = [(time, f"line {number}") for number, time in enumerate(times)]
    write_log(lines, bundle)
    leave_out_what_came_after(bundle)
    log = read_log(bundle)
    assert log == lines[:kept]


def read_log(bundle: Path) -> list[tuple[int | None, str]]:
    from firstlight.bundle.tables import read_table

    return list(read_table(bundle, "log").select("time_ns", "text").iter_rows())
