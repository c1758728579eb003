"""The exact difference: whatever two boots are, every level of it adds up to the change of the whole."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firstlight
from bundles import make_bundle, write_table
from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.comparison.exact.exclusive_time import exclusive_ns
from firstlight.comparison.exact.level import LevelPart, make_level
from firstlight.comparison.exact.rows import Key, Row, RowDelta, split
from firstlight.comparison.sides.stable_names import stable_name
from firstlight.render.difference_json import difference_data
from firstlight.render.terminal.report import print_report
from firstlight.render.views.compare_tree import one_sided_tables
from imported_bundle import MS, Spans, make_imported, write_bundle
from invented_trees import Node, boots_of, trees

FIGURES = ("ns", "instructions", "idle_ns")


def compared(a: Path, b: Path) -> ExactDifference:
    return exact_difference(firstlight.open(a), firstlight.open(b))


@given(trees(), trees())
@settings(max_examples=25, deadline=None)
def test_every_level_adds_up_to_the_change_of_the_whole(a: list[Node], b: list[Node]) -> None:
    with boots_of(a, b) as (one, other):
        difference = compared(one, other)
        for level in difference.levels:
            # Of the critical path's owners only their time is known.
            for figure in FIGURES if level.name != "path" else FIGURES[:1]:
                changes = [getattr(row, f"change_{figure}") for row in level.rows]
                assert sum(changes) == getattr(difference.whole, f"change_{figure}")
        data = difference_data(difference, limit=2)
        for figures in data["levels"].values():
            parts = [*figures["rows"], figures["left_out"], figures["unchanged"]]
            assert sum(part["change"]["ns"] for part in parts) == data["totals"]["change"]["ns"]
            assert figures["sum_less_whole_ns"] == 0


@given(trees(), trees())
@settings(max_examples=25, deadline=None)
def test_the_tree_is_that_of_both_boots_path_by_path(a: list[Node], b: list[Node]) -> None:
    with boots_of(a, b) as (one, other):
        tree = compared(one, other).tree
        assert tree is not None
        expected = {path: sides for path, sides in slowly(a, b).items() if sides[0] != sides[1]}
        found = {
            tuple(map(stable_name, tree.path_of(row["node"]))): tuple(
                (row[f"calls_{side}"], row[f"self_instructions_{side}"], row[f"self_ns_{side}"])
                if row[f"in_{side}"]
                else None
                for side in "ab"
            )
            for row in tree.nodes.iter_rows(named=True)
        }
        assert {path: sides for path, sides in found.items() if sides[0] != sides[1]} == expected


@given(trees(), trees(), st.floats(0, 0.5))
@settings(max_examples=15, deadline=None)
def test_the_lines_of_a_pruned_tree_add_up_in_change_and_in_width(a: list[Node], b: list[Node], share: float) -> None:
    with boots_of(a, b) as (one, other):
        difference = compared(one, other)
        tree = difference.tree
        assert tree is not None
        for folded in ([], [each.node for each in difference.moved]):
            lines = tree.walk(share, folded)
            changes = sum(line.change_ns if line.pruned else line.row.change_ns for line in lines)
            widths = sum(line.gross_ns if line.pruned else abs(line.row.change_ns) for line in lines)
            assert (changes, widths) == (difference.whole.change_ns, lines[0].gross_ns)


@given(trees(), trees())
@settings(max_examples=12, deadline=None)
def test_the_other_way_round_every_sign_turns(a: list[Node], b: list[Node]) -> None:
    def signs(difference: ExactDifference, sign: int) -> set[tuple[Any, ...]]:
        return {
            (level.name, stable_name(row.name), row.module, row.kind, sign * row.change_ns,
             row.split and (sign * row.split.calls_doubled_ns, sign * row.split.cost_doubled_ns))
            for level in difference.levels for row in level.rows
        }  # fmt: skip

    with boots_of(a, b) as (one, other):
        assert signs(compared(one, other), 1) == signs(compared(other, one), -1)


@given(st.integers(1, 10**9), st.integers(-10, 10**12), st.integers(1, 10**9), st.integers(-10, 10**12))
def test_a_split_adds_up_exactly_and_is_marshall_edgeworth_to_half_a_nanosecond(
    calls_a: int, ns_a: int, calls_b: int, ns_b: int
) -> None:
    parts = split(calls_a, ns_a, calls_b, ns_b)
    assert parts.calls_doubled_ns + parts.cost_doubled_ns == 2 * (ns_b - ns_a)
    exact = (Fraction(ns_a, calls_a) + Fraction(ns_b, calls_b)) * (calls_b - calls_a)
    assert abs(parts.calls_doubled_ns - exact) <= Fraction(1, 2)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12))
def test_exclusive_time_is_the_union_and_each_instant_has_the_owner_that_began_last(
    intervals: list[tuple[int, int]],
) -> None:
    owned = exclusive_ns(intervals)
    expected = [0] * len(intervals)
    for instant in range(30):
        over = [number for number, (start, end) in enumerate(intervals) if start <= instant < end]
        if over:
            expected[min(over, key=lambda number: (-intervals[number][0], intervals[number][1], number))] += 1
    assert sum(owned) == sum(expected)
    by_interval: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for interval, one, other in zip(intervals, owned, expected, strict=True):
        by_interval[interval][0] += one
        by_interval[interval][1] += other
    assert all(one == other for one, other in by_interval.values())


def test_rows_that_do_not_add_up_are_never_shown() -> None:
    whole = Row("all", RowDelta(10), RowDelta(10))
    level = make_level("phases", {Key("x"): LevelPart(RowDelta(12), "x")}, {}, whole, "[rest]")
    assert {(row.name, row.a and row.a.ns, row.b and row.b.ns) for row in level.rows} == {
        ("x", 12, None), ("[rest]", -2, 10),
    }  # fmt: skip
    without_rest = tuple(row for row in level.rows if row.kind != "rest")
    with pytest.raises(AssertionError, match="add up to 12, not to 10"):
        type(level)("phases", without_rest, whole)


def test_what_an_exact_profile_does_not_hold_is_a_row_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Such a table is refused when it is read; the difference does not rely on that.
    monkeypatch.setattr("firstlight.bundle.boot.check_sums", lambda *given: None)
    one, other = make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", append="x")
    calls = pl.read_parquet(other / "calls.parquet")
    lost = calls.filter(pl.col("function") == "[decompressor]")["self_ns"][0]
    there = pl.col("function") != "[decompressor]"
    without = [pl.when(there).then(name).otherwise(0).alias(name) for name in ("self_ns", "self_instructions")]
    write_table(other, "calls", calls.with_columns(without))
    difference = compared(one, other)
    assert difference.functions is not None
    rows = {row.name: row.change_ns for row in difference.functions.changed}
    assert rows == {"[decompressor]": -lost, "[not in the profile]": lost}
    assert difference.tree is not None
    assert difference.tree.rest.change_ns == lost


def test_a_function_that_a_compiler_cloned_is_matched_and_keeps_its_full_name_where_it_has_one() -> None:
    tree_a: list[Node] = [(0, "", 1, 5, 0), (0, "f.isra.0", 3, 30, 0), (0, "g", 1, 7, 0)]
    tree_b: list[Node] = [(0, "", 1, 5, 0), (0, "f", 4, 50, 0), (0, "g.part.1", 1, 9, 0), (0, "g.part.1", 1, 9, 0)]
    with boots_of(tree_a, tree_b) as (one, other):
        functions = compared(one, other).functions
        assert functions is not None
        assert [(row.name, row.presence, row.change_ns, row.change_calls) for row in functions.changed] == [
            ("f", "both", 20, 1), ("g", "both", 11, 1),
        ]  # fmt: skip


def test_cost_that_moved_is_reported_with_both_its_ends_and_a_new_name_is_only_suggested() -> None:
    tree_a: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 10, 0), (1, "f", 9, 900, 0)]
    tree_b: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 10, 0), (1, "g", 9, 910, 0)]
    with boots_of(tree_a, tree_b) as (one, other):
        difference = compared(one, other)
        (move,) = difference.moved
        assert (move.caller, move.lost, move.gained) == ("kernel_init", (("f", -900),), (("g", 910),))
        assert (move.moved_ns, move.net_ns) == (900, 10)
        (pair,) = difference.renamed
        assert (pair.old, pair.new, pair.contexts) == ("f", "g", 1)
        assert difference.functions is not None
        assert {row.name: row.presence for row in difference.functions.changed} == {"f": "only_a", "g": "only_b"}


def test_a_callee_that_was_inlined_moved_to_its_caller_itself() -> None:
    tree_a: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 10, 0), (1, "f", 9, 900, 0)]
    tree_b: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 910, 0)]
    with boots_of(tree_a, tree_b) as (one, other):
        (move,) = compared(one, other).moved
        assert (move.lost, move.gained, move.net_ns) == ((("f", -900),), (("itself", 900),), 0)


def test_what_vanished_is_reported_once_at_its_outermost_call() -> None:
    tree_a: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 10, 0), (1, "f", 2, 20, 0), (2, "g", 3, 30, 0)]
    tree_b: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 10, 0)]
    with boots_of(tree_a, tree_b) as (one, other):
        tree = compared(one, other).tree
        assert tree is not None
        (gone,) = tree.only("a")
        assert (gone.row.name, gone.total_a_ns, tree.path_of(gone.node or 0)) == ("f", 50, ["kernel_init", "f"])
        assert tree.only("b") == []


def test_every_figure_of_every_level_adds_up_as_data_or_is_null_throughout(tmp_path: Path) -> None:
    one, other = make_bundle(tmp_path), make_bundle(tmp_path, name="b.boot", seed=2, append="quiet")
    data = difference_data(compared(one, other), limit=2)
    assert data["levels"]["functions"]["whole"]["change"]["instructions"] == data["totals"]["change"]["instructions"]
    for level in data["levels"].values():
        rows = [*level["rows"], level["left_out"], level["unchanged"]]
        for figure in ("ns", "instructions", "idle_ns"):
            whole = level["whole"]["change"][figure]
            changes = [row["change"][figure] for row in rows]
            assert whole == (None if None in changes else sum(changes))
            assert (whole is None) == (level["left_out"]["change"][figure] is None)
    path = data["levels"]["path"]
    assert path["whole"]["a"]["instructions"] is path["left_out"]["a"]["instructions"] is None


def test_what_vanished_is_a_function_or_only_a_call_of_one_that_is_still_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common: list[Node] = [(0, "", 1, 5, 0), (0, "kernel_init", 1, 10, 0), (1, "lock", 2, 3, 0)]
    tree_a: list[Node] = [*common, (1, "console_write", 2, 20, 0), (3, "lock", 3, 30, 0), (3, "putchar", 3, 4, 0)]
    with boots_of(tree_a, common) as (one, other):
        difference = compared(one, other)
        assert difference.tree is not None
        gone = difference_data(difference)["tree"]["vanished"]
        assert [(row["name"], row["elsewhere"]) for row in gone] == [("console_write", False)]
        print_report(one_sided_tables(difference.tree, difference.functions, 10))
    functions, *paths = capsys.readouterr().out.split("Call paths only in A")
    assert "Vanished: functions only in A" in functions
    assert "console_write" in functions
    assert "lock" not in functions
    assert paths == []
    tree_a = [*common, (1, "late", 1, 1, 0), (3, "lock", 3, 30, 0)]
    with boots_of(tree_a, [*common, (1, "late", 1, 1, 0)]) as (one, other):
        difference = compared(one, other)
        assert difference.tree is not None
        print_report(one_sided_tables(difference.tree, difference.functions, 10))
    printed = capsys.readouterr().out
    assert "Vanished" not in printed
    assert "Call paths only in A, of functions that are in both" in printed


def test_work_beside_the_critical_path_is_reported_and_contributes_nothing(tmp_path: Path) -> None:
    def boot(name: str, network_ms: int, database_ms: int) -> Path:
        spans = Spans()
        spans.add("phase", "userspace", (0, 1000), track="boot")
        spans.add("unit", "network.service", (0, network_ms), track="systemd")
        spans.add("unit", "database.service", (0, database_ms), track="systemd")
        spans.add("unit", "app.service", (database_ms, 1000), track="systemd")
        links = [("after", "unit", "app.service", "unit", each) for each in ("network.service", "database.service")]
        return write_bundle(tmp_path, name, spans=spans, links=links, marks={"power_on": 0, "startup_finished": 1000})

    difference = compared(boot("a.boot", 300, 600), boot("b.boot", 500, 700))
    units = difference.path.units
    assert units is not None
    assert {row.name: row.change_ns for row in units.changed} == {
        "database.service": 100 * MS,
        "app.service": -100 * MS,
    }
    (hidden,) = difference.path.hidden
    assert (hidden.row.name, hidden.row.change_ns) == ("network.service", 200 * MS)
    assert (hidden.slack_a_ns, hidden.slack_b_ns) == (300 * MS, 200 * MS)
    assert difference_data(difference)["hidden"][0]["contributes_ns"] == 0


def test_an_imported_boot_against_itself_has_no_change_anywhere(tmp_path: Path) -> None:
    path = make_imported(tmp_path)
    difference = compared(path, path)
    assert {level.name for level in difference.levels} >= {"phases", "initcalls", "path", "devices", "units"}
    assert all(not level.changed for level in difference.levels)
    assert difference.path.hidden == ()


def slowly(a: list[Node], b: list[Node]) -> dict[tuple[str, ...], tuple[Any, Any]]:
    """Both trees by their paths of stable names, each side as calls, instructions and time of its own."""
    sides: list[dict[tuple[str, ...], tuple[int, int, int]]] = []
    for nodes in (a, b):
        paths: list[tuple[str, ...]] = []
        wholes: list[str] = []
        figures: dict[tuple[str, ...], tuple[int, int, int]] = {}
        for number, (above, function, calls, instructions, idle) in enumerate(nodes):
            # A split-off part stands with its function, and entering it is not a call.
            part = number > 0 and function == "f.cold"
            wholes.append("f" if part else function)
            parent = 0 if number == 0 else above % number
            inside = part and parent > 0 and wholes[parent] == "f"
            paths.append(paths[parent] if inside else (*paths[parent], stable_name(function)) if number > 0 else ())
            known = figures.get(paths[-1], (0, 0, 0))
            own = (0 if part else calls, instructions, instructions + idle)
            figures[paths[-1]] = (known[0] + own[0], known[1] + own[1], known[2] + own[2])
        sides.append(figures)
    return {path: (sides[0].get(path), sides[1].get(path)) for path in sides[0].keys() | sides[1].keys()}
