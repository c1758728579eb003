"""Split-off parts of functions: folded wherever a tree is shown, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import given, settings
from typer.testing import CliRunner

import firstlight
from bundles import SCHEMA, make_bundle, settle, write_table
from firstlight.analysis.prune import context_tree
from firstlight.cli.app import app
from firstlight.comparison.exact.difference import exact_difference
from firstlight.render.page.tree import fold
from invented_trees import Node, boots_of, trees

#: Node, parent, function, kind, calls, instructions of its own.
TREE = [
    (0, None, "[boot]", "root", 0, 7),
    (1, 0, "start_kernel", "function", 1, 100),
    (2, 1, "hpet_alloc", "function", 1, 72),
    (3, 2, "printk", "function", 2, 10),
    (4, 2, "hpet_alloc.cold", "function", 1, 3_000_337),
    (5, 4, "printk", "function", 1, 5),
    (6, 4, "__delay", "function", 9, 900),
    (7, 1, "__switch_to_asm", "function", 20, 200),
    (8, 0, "__switch_to_asm", "task", 3, 30),
    (9, 8, "kthread.cold.4", "function", 1, 11),
]


def boot_of(directory: Path, rows: list[tuple[Any, ...]], name: str = "a.boot") -> Path:
    """A bundle with this tree, all of it in one phase."""
    path = make_bundle(directory, name=name)
    totals = [row[5] for row in rows]
    for node in range(len(rows) - 1, 0, -1):
        totals[rows[node][1]] += totals[node]
    calls = [
        (node, parent, function, None, kind, entered, own, total, own, total)
        for (node, parent, function, kind, entered, own), total in zip(rows, totals, strict=True)
    ]
    phase = firstlight.open(path).phases()["phase"][0]
    by_phase = [(row[0], phase, row[4], row[5], row[5]) for row in rows]
    write_table(path, "calls", pl.DataFrame([(*row, None) for row in calls], schema=SCHEMA["calls"], orient="row"))
    write_table(path, "phase_calls", pl.DataFrame(by_phase, schema=SCHEMA["phase_calls"], orient="row"))
    return settle(path)


def rows_of(table: pl.DataFrame, *functions: str) -> list[tuple[Any, ...]]:
    """Function, kind, calls, own and total instructions of these rows."""
    shown = table.filter(pl.col("function").is_in(functions)).sort("function", "kind")
    return shown.select("function", "kind", "count", "self_instructions", "total_instructions").rows()


def test_what_a_part_did_is_done_by_its_function_and_entering_it_is_no_call(tmp_path: Path) -> None:
    boot = firstlight.open(boot_of(tmp_path, TREE))
    table = boot.functions()
    assert rows_of(table, "hpet_alloc") == [("hpet_alloc", "function", 1, 3_000_409, 3_001_324)]
    assert rows_of(table, "hpet_alloc.cold") == []
    assert table.filter(pl.col("function") == "hpet_alloc").select("max_sub", "max_sub_count").rows() == [
        ("__delay", 9)
    ]
    phase = boot.phases()["phase"][0]
    assert boot.functions(phase=phase).equals(table)
    assert boot.phase_functions()[phase].equals(table)
    assert boot.functions(under="hpet_alloc")["self_instructions"].sum() == 3_001_324


def test_a_part_without_its_function_above_is_the_function_there(tmp_path: Path) -> None:
    assert rows_of(firstlight.open(boot_of(tmp_path, TREE)).functions(), "kthread") == [
        ("kthread", "function", 0, 11, 11)
    ]


def test_a_function_that_is_entered_in_several_ways_is_one_row(tmp_path: Path) -> None:
    boot = firstlight.open(boot_of(tmp_path, TREE))
    assert rows_of(boot.functions(), "__switch_to_asm") == [("__switch_to_asm", "function", 23, 230, 241)]
    level = exact_difference(boot, boot).functions
    assert level is not None
    assert [row.name for row in level.rows].count("__switch_to_asm") == 1


def test_raw_names_show_the_parts_apart(tmp_path: Path) -> None:
    path = boot_of(tmp_path, TREE)
    table = firstlight.open(path).functions(raw_names=True)
    assert rows_of(table, "hpet_alloc", "hpet_alloc.cold") == [
        ("hpet_alloc", "function", 1, 72, 3_001_324),
        ("hpet_alloc.cold", "function", 1, 3_000_337, 3_001_242),
    ]
    shown = {
        raw: CliRunner().invoke(app, ["functions", str(path), *(["--raw-names"] if raw else [])]) for raw in (0, 1)
    }
    assert ["hpet_alloc.cold" in result.stdout for result in shown.values()] == [False, True]
    assert {result.exit_code for result in shown.values()} == {0}
    tree = CliRunner().invoke(app, ["functions", str(path), "--tree", "--min-percent", "0", "--raw-names"])
    assert "hpet_alloc.cold" in tree.stdout


def test_the_tree_the_page_and_the_exports_fold_alike(tmp_path: Path) -> None:
    path = boot_of(tmp_path, TREE)
    boot = firstlight.open(path)
    walked = {(row.depth, row.function): row.own for row in context_tree(boot, unit="instructions", min_share=0)}
    assert walked[2, "hpet_alloc"] == 3_000_409
    assert walked[3, "printk"] == 15
    page = fold(boot.calls(), share=0)
    assert [name for name in page.function if ".cold" in name] == []
    assert sum(page.self_instructions) == sum(row[5] for row in TREE)
    out = tmp_path / "stacks.folded"
    result = CliRunner().invoke(app, ["export", str(path), "--to", "folded", "--unit", "instructions", "-o", str(out)])
    assert result.exit_code == 0, result.output
    lines = dict(line.rsplit(" ", 1) for line in out.read_text().splitlines())
    assert lines["[boot];start_kernel;hpet_alloc"] == "3000409"
    assert lines["[boot];start_kernel;hpet_alloc;printk"] == "15"
    assert sum(int(weight) for weight in lines.values()) == sum(row[5] for row in TREE)


def test_a_boot_whose_compiler_split_a_function_differs_by_what_it_did_only(tmp_path: Path) -> None:
    whole = [row if row[0] != 2 else (2, 1, "hpet_alloc", "function", 1, 3_000_409) for row in TREE]
    whole = [row if row[0] != 4 else (4, 2, "[nothing]", "function", 0, 0) for row in whole]
    whole = [row if row[0] not in (5, 6) else (row[0], 2, *row[2:]) for row in whole]
    one, other = boot_of(tmp_path, TREE, "a.boot"), boot_of(tmp_path, whole, "b.boot")
    difference = exact_difference(firstlight.open(one), firstlight.open(other))
    assert difference.functions is not None
    assert {row.name for row in difference.functions.changed} <= {"[nothing]"}
    assert difference.tree is not None
    assert difference.tree.nodes["change_ns"].to_list()[0] == 0
    assert set(difference.tree.nodes["function"]) <= {"[boot]", "start_kernel", "hpet_alloc", "[nothing]"}


def test_functions_of_one_name_are_told_apart_by_where_they_stand(tmp_path: Path) -> None:
    rows = [
        (0, None, "[boot]", "root", 0, 7),
        (1, 0, "type_show@ffffffff81000010", "function", 1, 10),
        (2, 0, "type_show@ffffffff81000020", "function", 2, 20),
        (3, 2, "type_show.cold", "function", 1, 30),
    ]
    elsewhere = [(*row[:2], row[2].replace("810000", "817700"), *row[3:]) for row in rows]
    boot, other = (
        firstlight.open(boot_of(tmp_path, tree, name)) for tree, name in ((rows, "a.boot"), (elsewhere, "b.boot"))
    )
    assert rows_of(boot.functions(), *boot.functions()["function"])[1:] == [
        ("type_show@ffffffff81000010", "function", 1, 10, 10),
        ("type_show@ffffffff81000020", "function", 2, 50, 50),
    ]
    assert boot.functions(under="type_show")["self_instructions"].sum() == 60
    # Another build has them elsewhere: that is no change.
    level = exact_difference(boot, other).functions
    assert level is not None
    assert level.changed == []


@given(trees())
@settings(max_examples=50, deadline=None)
def test_nothing_is_lost_whatever_is_folded(nodes: list[Node]) -> None:
    with boots_of(nodes) as (path,):
        boot = firstlight.open(path)
        folded, raw = boot.calls(), boot.calls(raw_names=True)
        part = pl.col("function").str.contains(r"[^.]\.cold$")
        for figure in ("self_instructions", "self_ns"):
            assert folded[figure].sum() == raw[figure].sum() == boot.functions()[figure].sum()
        assert folded["calls"].sum() == raw.filter(~part)["calls"].sum() == boot.functions()["count"].sum()
        assert folded.filter(part).is_empty()
        assert folded["node"].to_list() == list(range(folded.height))
        assert (folded["parent"][1:] < folded["node"][1:]).all()
        by_name = folded.group_by("function").agg(pl.col("self_ns").sum()).filter(pl.col("self_ns") != 0)
        table = boot.functions().group_by("function").agg(pl.col("self_ns").sum()).filter(pl.col("self_ns") != 0)
        assert by_name.sort("function").equals(table.sort("function"))
