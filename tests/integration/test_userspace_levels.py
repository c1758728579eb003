"""Processes, services, system calls and files of two boots: partitions of both, matched without any pid."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import firstlight
from bundles import write_table
from firstlight.cli.main import run
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.level_parts import distribute
from firstlight.comparison.exact.parts import Parts, added
from firstlight.comparison.exact.rows import Key
from invented_processes import TURNS, make_processes

LEVELS = ("processes", "services", "system_calls", "files", "packages")
PARTS = ["caused_ns", "moved_ns", "accident_ns"]
MORE = 40_000_000
LONGER = [(thread, name, ns + MORE * (name == "udevadm"), *rest) for thread, name, ns, *rest in TURNS]

MOVED = [(thread, name, ns + 150_000 * (name == "udevadm"), *rest) for thread, name, ns, *rest in TURNS]


def _change(bundle: Path, table: str, **changes: pl.Expr) -> None:
    write_table(bundle, table, pl.read_parquet(bundle / f"{table}.parquet").with_columns(**changes))


def _exact(found: firstlight.Comparison) -> ExactDifference:
    assert isinstance(found.evidence, ExactDifference)
    return found.evidence


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two boots of which the second executes 40,000,000 instructions more, all of them of `udevadm`."""
    one = make_processes(tmp_path, name="a.boot")
    other = make_processes(tmp_path, name="b.boot", turns=LONGER, more=("user", MORE))
    return one, other


def test_every_level_adds_up_on_both_sides_and_in_its_parts(pair: tuple[Path, Path]) -> None:
    found = firstlight.compare(*pair)
    ledger = _exact(found).ledger
    assert ledger is not None
    assert set(LEVELS) <= set(found.tables)
    for name, table in found.tables.items():
        assert table["a_ns"].sum() == found.total.a_ns, name
        assert table["b_ns"].sum() == found.total.b_ns, name
        assert table.select(pl.sum_horizontal(PARTS)).to_series().to_list() == table["change_ns"].to_list(), name
        assert table.select(pl.col(PARTS).sum()).row(0) == (
            ledger.total.caused_ns, ledger.total.moved_ns, ledger.total.accident_ns
        ), name  # fmt: skip


def test_the_process_that_executes_more_is_named(pair: tuple[Path, Path]) -> None:
    found = firstlight.compare(*pair)
    changed = found.table("processes").filter(pl.col("change_ns") != 0)
    assert changed.select("name", "module", "change_ns", "caused_ns").rows() == [("udevadm settle", "init", MORE, MORE)]
    services = found.table("services").filter(pl.col("change_ns") != 0)
    assert services.select("name", "change_ns").rows() == [("udev-settle.service", MORE)]
    assert _exact(found).causes[0].names == ("udevadm",)


def test_the_package_that_executes_more_is_named(pair: tuple[Path, Path]) -> None:
    changed = firstlight.compare(*pair).table("packages").filter(pl.col("change_ns") != 0)
    assert changed.select("name", "kind", "change_ns").rows() == [("udev", "package", MORE)]


def test_the_functions_of_user_mode_that_changed_are_named(tmp_path: Path) -> None:
    one, other = (make_processes(tmp_path, name=name) for name in ("a.boot", "b.boot"))
    moved = pl.when(pl.col("row") < 2).then(pl.when(pl.col("row") == 0).then(50_000).otherwise(-50_000)).otherwise(0)
    _change(other, "user_functions", self_instructions=pl.col("self_instructions") + moved)
    found = firstlight.compare(one, other)
    table = found.table("user_functions")
    changed = table.filter(pl.col("change_ns") != 0).select("name", "module", "kind", "change_ns").sort("name").rows()
    assert changed == [
        ("init+0x401900", "init", "user_function", -50_000), ("main", "init", "user_function", 50_000)
    ]  # fmt: skip
    assert table["a_ns"].sum() == found.total.a_ns
    assert "[outside user mode]" in table["name"]


def test_a_level_that_only_one_boot_has_is_not_compared(pair: tuple[Path, Path]) -> None:
    _change(pair[1], "packages", package=pl.col("package"))
    assert "packages" in firstlight.compare(*pair).tables
    write_table(pair[1], "packages", pl.read_parquet(pair[1] / "packages.parquet").clear())
    assert not {"packages", "user_functions"} & set(firstlight.compare(*pair).tables)


def test_work_that_another_process_does_has_moved(tmp_path: Path) -> None:
    one = make_processes(tmp_path, name="a.boot")
    other = make_processes(tmp_path, name="b.boot", turns=MOVED)
    rows = firstlight.compare(one, other).table("processes").filter(pl.col("change_ns") != 0)
    assert sorted(rows.select("name", *PARTS).rows()) == [
        ("init", 0, -150_000, 0), ("udevadm settle", 0, 150_000, 0)
    ]  # fmt: skip


def test_numbers_of_the_kernel_take_no_part_in_matching(pair: tuple[Path, Path]) -> None:
    before = firstlight.compare(*pair).table("processes")
    for table in ("processes", "threads"):
        _change(pair[1], table, pid=pl.col("pid") + 1_000)
    assert firstlight.compare(*pair).table("processes").equals(before)


def test_a_process_with_other_arguments_of_the_same_parent_is_the_same_process(pair: tuple[Path, Path]) -> None:
    own = pl.col("process") == 3
    for table in ("processes", "images"):
        _change(pair[1], table, arguments=pl.when(own).then(pl.lit("/usr/lib/svc\0--fast\0")).otherwise("arguments"))
    rows = _exact(firstlight.compare(*pair)).userspace["processes"].rows
    assert {row.presence for row in rows} == {"both"}


def test_a_program_in_one_boot_only_is_new_and_one_that_is_not_is_gone(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    own = pl.col("process") == 3
    for table in ("processes", "images"):
        texts = {"image": "/usr/bin/other", "arguments": "other\0"}
        _change(
            pair[1], table, **{name: pl.when(own).then(pl.lit(text)).otherwise(name) for name, text in texts.items()}
        )
    rows = _exact(firstlight.compare(*pair)).userspace["processes"].rows
    alone = {row.name: row.presence for row in rows if row.presence != "both"}
    assert alone == {"svc": "only_a", "other": "only_b"}
    assert run(["compare", *map(str, pair)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("svc [udevadm]") and " gone " in line for line in lines)
    assert any(line.startswith("other [udevadm]") and " new " in line for line in lines)


def test_all_that_a_new_process_did_is_caused_where_something_is(pair: tuple[Path, Path]) -> None:
    own = pl.col("process") == 3
    for table in ("processes", "images"):
        texts = {"image": "/usr/bin/other", "arguments": "other\0"}
        _change(
            pair[1], table, **{name: pl.when(own).then(pl.lit(text)).otherwise(name) for name, text in texts.items()}
        )
    found = firstlight.compare(*pair)
    rows = {row["name"]: row for row in found.table("processes").iter_rows(named=True)}
    assert rows["other"]["caused_ns"] == rows["other"]["change_ns"] > 0
    assert sum(row["caused_ns"] for row in rows.values()) == MORE


def test_a_unit_on_the_critical_path_owns_what_its_own_service_ran(tmp_path: Path) -> None:
    more = 500_000
    turns = [(thread, name, ns + more * (name == "svc"), *rest) for thread, name, ns, *rest in TURNS]
    one = make_processes(tmp_path, name="a.boot")
    other = make_processes(tmp_path, name="b.boot", turns=turns, more=("user", more))
    for bundle in (one, other):
        spans = pl.read_parquet(bundle / "spans.parquet")
        last = spans.filter(pl.col("kind") == "phase").row(-1, named=True)
        units = []
        # The first unit is under way to the end; the service runs meanwhile.
        for number, (name, start, end) in enumerate(
            [("waits.service", 0, last["duration_ns"]), ("svc.service", 0, 1_000)]
        ):
            times = {"start_ns": last["start_ns"] + start, "end_ns": last["start_ns"] + end, "duration_ns": end - start}
            figures = dict.fromkeys(("parent", "level", "instructions", "idle_ns", "reason", "attributes"))
            units.append(last | figures | times | {"span": spans.height + number, "kind": "unit", "name": name,
                                                  "track": "systemd"})  # fmt: skip
        write_table(bundle, "spans", pl.concat([spans, pl.DataFrame(units, schema=spans.schema)]))
    found = firstlight.compare(one, other)
    for level in ("path", "units"):
        rows = {row["name"]: row for row in found.table(level).iter_rows(named=True)}
        assert rows["svc.service"]["change_ns"] == rows["svc.service"]["caused_ns"] == more
        assert "waits.service" not in rows or rows["waits.service"]["change_ns"] == 0


def test_several_processes_of_one_command_line_are_matched_in_their_order(tmp_path: Path) -> None:
    bundles = [make_processes(tmp_path, name=name) for name in ("a.boot", "b.boot")]
    for bundle in bundles:
        alike = pl.col("process").is_in([2, 3])
        for table in ("processes", "images"):
            texts = {"image": pl.lit("/bin/sh"), "arguments": pl.lit("sh\0")}
            texts |= {"parent": pl.lit(1)} if table == "processes" else {}
            _change(bundle, table, **{name: pl.when(alike).then(text).otherwise(name) for name, text in texts.items()})
    names = firstlight.compare(*bundles).table("processes")["name"].to_list()
    assert {"sh", "sh (2)"} <= set(names)


def test_a_part_of_a_boot_and_a_boot_without_processes_have_no_such_level(pair: tuple[Path, Path]) -> None:
    part = firstlight.compare(*pair, from_mark="kernel_entry_start")
    assert not set(LEVELS) & set(part.tables)
    for table in ("processes", "images", "wakeups", "system_calls"):
        write_table(pair[1], table, pl.read_parquet(pair[1] / f"{table}.parquet").clear())
    assert not set(LEVELS) & set(firstlight.compare(*pair).tables)


def test_the_parts_of_each_row_are_in_the_data(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", *map(str, pair), "--json", "-n", "1"]) == 0
    levels = json.loads(capsys.readouterr().out)["data"]["comparisons"][0]["levels"]
    for level in levels.values():
        rows = [*level["rows"], level["left_out"], level["unchanged"]]
        assert sum(row["parts"]["caused_ns"] for row in rows) == level["whole"]["parts"]["caused_ns"] == MORE
        assert all(sum(row["parts"].values()) == row["change"]["ns"] for row in rows)


def test_names_that_attack_are_shown_without_their_attack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = make_processes(tmp_path, name="a.boot", hostile=True)
    other = make_processes(tmp_path, name="b.boot", hostile=True, turns=LONGER, more=("user", MORE))
    for form in ([], ["--markdown"]):
        assert run(["compare", str(one), str(other), *form]) == 0
        printed = capsys.readouterr().out
        assert "udevadm" in printed
        assert not {character for character in printed if not character.isprintable()} - {"\n"}


figures = st.integers(-(10**12), 10**12)


@given(
    basis=st.lists(st.builds(Parts, figures, figures, figures), min_size=1, max_size=5),
    cells=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), figures), max_size=12),
    changes=st.lists(figures, min_size=1, max_size=6),
)
def test_distributed_parts_add_up_to_each_row_and_to_the_total(
    basis: list[Parts], cells: list[tuple[int, int, int]], changes: list[int]
) -> None:
    total = added(basis)
    rows = {Key(str(number)): ns for number, ns in enumerate(changes)}
    rows[Key("rest", kind="rest")] = total.change_ns - sum(changes)
    known: dict[int, dict[Key, int]] = {}
    for place, row, ns in cells:
        known.setdefault(place, {})[Key(str(row))] = ns
    found = distribute(dict(enumerate(basis)), known, rows)
    assert {key: parts.change_ns for key, parts in found.items()} == rows
    assert added(found.values()) == total
