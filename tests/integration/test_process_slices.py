"""Processes, system calls and user functions in slices of time: what an interval of a boot counts of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import make_bundle, write_table
from firstlight.analysis.processes import sliced
from firstlight.analysis.processes.process_stacks import process_stacks, stack_parts
from firstlight.bundle.equality import equal_tables
from firstlight.cli.main import run
from firstlight.errors import BundleError
from firstlight.render.page.process_slices import page_process_slices
from firstlight.render.page.process_tree import process_tree
from firstlight.render.page.tree import fold
from invented_processes import make_processes

TABLES = ("slice_threads", "slice_system_calls", "slice_user_functions")
MODES = ("user_instructions", "kernel_instructions", "interrupt_instructions")


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> firstlight.Boot:
    opened = firstlight.open(make_processes(tmp_path_factory.mktemp("sliced")))
    opened.check_sums()
    return opened


def intervals(boot: firstlight.Boot) -> list[tuple[int, int]]:
    """Random ones, and each slice in which several processes ran."""
    chance = random.Random(3)
    end = boot.manifest.totals.virtual_ns or 0
    pairs = [sorted(chance.sample(range(end), 2)) for _ in range(20)]
    busy = boot.table("slice_threads")["slice"].unique(maintain_order=True).to_list()[-6:]
    edges = boot.slices().filter(pl.col("slice").is_in(busy)).select("start_ns", "end_ns").rows()
    return [(first, last) for first, last in pairs] + [(first, last) for first, last in edges]


def test_the_processes_of_an_interval_sum_to_the_interval(boot: firstlight.Boot) -> None:
    before = boot.runs()["start_ns"][0]
    for start, end in intervals(boot):
        chosen = boot.interval(start, end)
        rows = boot.interval_processes(start, end)
        executed = int(rows.select(pl.sum_horizontal(MODES)).sum().item())
        early = boot.slices().filter(pl.col("slice").is_between(chosen.first, chosen.last), pl.col("start_ns") < before)
        assert executed == chosen.instructions - early["instructions"].sum()
        assert rows["idle_ns"].sum() == chosen.idle_ns
        # The same from the tables alone.
        inside = pl.col("slice").is_between(chosen.first, chosen.last)
        threads = (
            boot.table("slice_threads").filter(inside).join(boot.threads().select("thread", "process"), on="thread")
        )
        for process, user, kernel in rows.select("process", *MODES[:2]).iter_rows():
            own = threads.filter(pl.col("process") == process)
            assert (own["user_instructions"].sum(), own["kernel_instructions"].sum()) == (user, kernel)


def test_the_functions_and_calls_of_an_interval_sum_to_its_processes(boot: firstlight.Boot) -> None:
    for start, end in intervals(boot):
        rows = boot.interval_processes(start, end)
        functions = boot.user_functions(between=(start, end))
        assert functions["self_instructions"].sum() == rows["user_instructions"].sum()
        work = boot.process_work(between=(start, end))
        assert work["self_instructions"].sum() == int(rows.select(pl.sum_horizontal(MODES)).sum().item())
        assert (work["self_instructions"] >= 0).all()
        assert work["count"].sum() == rows["calls"].sum()


def test_calls_count_once_where_they_began(boot: firstlight.Boot) -> None:
    edges = boot.slices().select("start_ns", "end_ns").rows()
    made = [boot.interval_processes(start, end)["calls"].sum() for start, end in edges]
    assert sum(made) == boot.table("system_calls").height
    # One was under way at the edge of a slice, and has instructions behind it.
    assert (boot.table("slice_system_calls").group_by("call").len()["len"] > 1).any()


def test_the_slices_of_the_tree_of_processes_sum_to_it(boot: firstlight.Boot) -> None:
    tree = process_tree(boot)
    parts = stack_parts(boot, tree.place)
    assert (parts["self_instructions"] >= 0).all()
    sums = parts.group_by("node").agg(pl.col("calls", "self_instructions").sum())
    both = tree.calls.join(sums, on="node", how="left", suffix="_parts").fill_null(0)
    assert both["calls"].to_list() == both["calls_parts"].to_list()
    assert both["self_instructions"].to_list() == both["self_instructions_parts"].to_list()
    for start, end in intervals(boot):
        chosen = boot.interval(start, end)
        expected = {stack.frames: (stack.calls, stack.instructions) for stack in process_stacks(boot, chosen)}
        inside = parts.filter(pl.col("slice").is_between(chosen.first, chosen.last))
        found = {
            row[0]: row[1:] for row in inside.group_by("node").agg(pl.col("calls", "self_instructions").sum()).rows()
        }
        for frames, figures in expected.items():
            assert found.pop(tree.place(frames), (0, 0)) == figures, frames
        assert found == {}


def test_the_whole_boot_is_what_it_is_without_an_interval(boot: firstlight.Boot) -> None:
    whole = (0, boot.manifest.totals.virtual_ns or 0)
    assert boot.user_functions(between=whole).equals(boot.user_functions())
    assert boot.process_work(between=whole).equals(boot.process_work())
    assert boot.process_work(process="10", between=whole).equals(boot.process_work(process="10"))


def test_a_page_has_columns_of_both_that_sum_to_the_boot(boot: firstlight.Boot) -> None:
    tree = process_tree(boot)
    described, columns = page_process_slices(boot, tree, fold(tree.calls))
    assert described is not None
    assert described["idle_node"] > 0
    assert len(columns) > 0


def test_a_boot_of_an_earlier_version_says_what_it_lacks(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    for table in TABLES:
        (bundle / f"{table}.parquet").unlink()
        del manifest["tables"][table]
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    boot = firstlight.open(bundle)
    boot.check_sums()
    assert not sliced.is_sliced(boot)
    assert equal_tables(boot, firstlight.open(make_processes(tmp_path, name="now.boot")))
    with pytest.raises(BundleError, match="of the kernel's tree only") as caught:
        boot.user_functions(between=(0, 5))
    assert caught.value.hint == "record the boot again with this version"
    tree = process_tree(boot)
    assert page_process_slices(boot, tree, fold(tree.calls)) == (None, b"")


def test_a_boot_without_processes_has_none_in_an_interval(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    assert boot.interval_processes(0, 50_000_000).is_empty()
    assert boot.process_work(between=(0, 50_000_000)).is_empty()


Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("slice_threads", lambda rows: pl.concat([rows, rows.tail(1)]), "in all slices, and"),
        ("slice_threads", lambda rows: rows.with_columns(idle_ns=pl.lit(-1, pl.Int64)), "less than nothing"),
        ("slice_threads", lambda rows: rows.with_columns(slice=pl.col("slice") + 4000), "there is no slice 4,0"),
        ("slice_system_calls", lambda rows: rows.head(1), "in all slices, and"),
        ("slice_user_functions", lambda rows: rows.with_columns(row=pl.col("row") + 1), "in all slices, and"),
    ],
    ids=["a row twice", "negative", "a slice that is none", "rows that are missing", "another function"],
)
def test_slices_that_do_not_add_up_are_rejected(table: str, change: Change, message: str, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    write_table(bundle, table, change(pl.read_parquet(bundle / f"{table}.parquet")))
    with pytest.raises(BundleError, match=message):
        firstlight.open(bundle).check_sums()


def test_the_terminal_counts_an_interval(
    boot: firstlight.Boot, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start, end = boot.slices().filter(pl.col("slice") == boot.table("slice_user_functions")["slice"][-1]).select(
        "start_ns", "end_ns"
    ).row(0)  # fmt: skip
    between = f"{start}ns..{end}ns"
    monkeypatch.chdir(boot.directory.parent)
    assert run(["functions", boot.directory.name, "--user", "--between", between]) == 0
    assert "1 slice of time" in capsys.readouterr().out
    assert run(["functions", boot.directory.name, "--process", "svc", "--between", between, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["data"]["functions"]
    own = boot.process_work(process="svc", between=(start, end))
    assert [row["self_instructions"] for row in rows] == own["self_instructions"].to_list()
