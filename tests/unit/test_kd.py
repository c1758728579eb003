"""kd's own table: the layout of kd 1.1, column for column."""

from __future__ import annotations

from typing import Any

import pytest

from firstlight.errors import UsageError
from firstlight.render.views.kd import kd_text, sort_kd


def row(
    function: str, count: int, time: int, average: int, sub: int, local: int, most: str | None, calls: int
) -> dict[str, Any]:
    """A row of the bundle's table."""
    return {
        "function": function, "count": count, "time_us": time, "average_us": average, "min_us": time, "max_us": time,
        "sub_time_us": sub, "local_us": local, "max_sub": most, "max_sub_count": calls, "sub_list": most or "",
    }  # fmt: skip


ROWS = [
    row("__delay", 2, 6800, 3400, 0, 6800, None, 0),
    row("aaa_init", 1, 5000, 5000, 4200, 800, "wait_ready", 1),
    row("start_kernel", 1, -1, -1, 9000, -1, "aaa_init", 1),
]


def test_the_default_table_is_what_kd_prints() -> None:
    assert kd_text(ROWS).splitlines() == [
        "Function                            Count Time     Average  Local   ",
        "----------------------------------- ----- -------- -------- --------",
        "__delay                                 2     6800     3400     6800",
        "aaa_init                                1     5000     5000      800",
        "start_kernel                            1       -1       -1       -1",
    ]


def test_the_long_table_is_what_kd_prints_with_l() -> None:
    titles, rule, delay, init, _ = kd_text(ROWS, "Fctalsmn").splitlines()
    assert titles.endswith("Average  Local    Sub-time Max-sub                             Ms count")
    assert {len(line) for line in (titles, rule, delay, init)} == {35 + 6 + 4 * 9 + 36 + 9}
    assert delay.endswith("     3400     6800        0" + " " * 36 + "        0")
    assert init.endswith("     5000      800     4200                          wait_ready        1")


def test_a_wide_name_moves_what_follows_and_is_not_cut() -> None:
    wide = row("a" * 40, 1, 5, 5, 0, 5, None, 0)
    assert kd_text([wide], "Fc").splitlines()[2] == "a" * 40 + "     1"


def test_range_and_list_of_callees() -> None:
    assert kd_text(ROWS[1:2], "ru").splitlines()[2] == " (5000-5000) ['wait_ready']"


@pytest.mark.parametrize(
    ("column", "order"),
    [
        ("t", ["__delay", "aaa_init", "start_kernel"]),
        ("s", ["start_kernel", "aaa_init", "__delay"]),
        ("F", ["start_kernel", "aaa_init", "__delay"]),
    ],
)
def test_rows_are_sorted_as_kd_sorts(column: str, order: list[str]) -> None:
    assert [each["function"] for each in sort_kd(ROWS, column)] == order


def test_what_a_table_lacks_is_left_empty_and_sorts_last() -> None:
    bare = dict.fromkeys(ROWS[0]) | {"function": "gizmo", "count": 3}
    assert kd_text([bare], "Fctr").splitlines()[2] == "gizmo".ljust(35) + "     3" + " " * 9 + " " * 13
    assert sort_kd([bare, *ROWS], "t")[-1] is bare


def test_names_from_a_log_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in kd_text([row("\x1b[31mred", 1, 1, 1, 0, 1, "\x1b]0;x", 1)], "Fmu")


@pytest.mark.parametrize("columns", ["Fx", ""])
def test_columns_that_kd_does_not_have_are_refused(columns: str) -> None:
    with pytest.raises(UsageError):
        kd_text(ROWS, columns)
