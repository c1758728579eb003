"""Functions of one name on two architectures: which are matched, and what the table shows of them."""

from __future__ import annotations

from firstlight.comparison.exact.architectures import OnBoth, matched
from firstlight.comparison.exact.rows import Row, RowDelta
from firstlight.recipe.isa import architecture_of
from firstlight.render.views.compare import architectures_table

PAIR = architecture_of("x86_64"), architecture_of("aarch64")


def did(instructions: int, calls: int) -> RowDelta:
    return RowDelta(instructions, instructions, 0, calls)


ROWS = [
    Row("kmalloc.constprop.0", did(50, 5), did(70, 7), kind="function"),
    Row("memset", did(300, 3), did(20, 2), kind="function"),
    Row("probe", did(9, 1), None, "nvme", "function"),
    Row("probe", None, did(9, 1), "virtio", "function"),
    Row("__x64_sys_read", did(11, 1), None, kind="function"),
    Row("__arm64_sys_read", None, did(12, 2), kind="function"),
    Row("never_called", did(0, 0), did(5, 1), kind="function"),
    Row("[user]", did(1000, 1), did(1000, 1), kind="user"),
]


def test_they_are_matched_by_name_and_module_and_system_calls_by_the_call() -> None:
    found = matched(ROWS, *PAIR)
    assert [row.name for row in found.both] == ["memset", "kmalloc", "sys_read"]
    assert [(row.a, row.b) for row in found.both[1:]] == [(did(50, 5), did(70, 7)), (did(11, 1), did(12, 2))]
    assert (found.only_a, found.only_b) == (1, 2)


def test_the_other_way_round_is_the_same_with_the_sides_exchanged() -> None:
    turned = [Row(row.name, row.b, row.a, row.module, row.kind) for row in ROWS]
    one, other = matched(ROWS, *PAIR), matched(turned, *reversed(PAIR))
    assert [(row.name, row.a, row.b) for row in one.both] == [(row.name, row.b, row.a) for row in other.both]
    assert (one.only_a, one.only_b) == (other.only_b, other.only_a)


def test_the_table_shows_calls_and_instructions_side_by_side_and_how_many_are_left_out() -> None:
    (shown,) = architectures_table(matched(ROWS, *PAIR), 2)
    assert "3; 1 only in A, 2 only in B" in shown.title
    assert [row[:5] for row in shown.rows] == [["memset", 3, 2, 300, 20], ["kmalloc", 5, 7, 50, 70]]
    assert shown.left_out[0][0] == "(1 more; `-n` shows them)"
    (whole,) = architectures_table(matched(ROWS, *PAIR), 10)
    assert len(whole.rows) == 3
    assert not whole.left_out
    assert list(architectures_table(None, 10)) == []
    assert matched([], *PAIR) == OnBoth((), 0, 0)
