"""What goes into the report page: small call paths together, sums kept, text sound."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firstlight
from bundles import SCHEMA, make_bundle, write_table
from firstlight.errors import FirstlightError, LabError
from firstlight.render.page import html
from firstlight.render.page.boot import FACTS, LOG_LINES, page_data
from firstlight.render.page.text import shortened
from firstlight.render.page.tree import PageTree, fold, fold_phases
from imported_bundle import Spans, write_bundle


@st.composite
def trees(draw: st.DrawFn) -> pl.DataFrame:
    """A table `calls` of any shape whose totals add up."""
    size = draw(st.integers(1, 60))
    parent = [None, *(draw(st.integers(0, row - 1)) for row in range(1, size))]
    own = draw(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=size, max_size=size))
    total = [list(pair) for pair in own]
    for row in range(size - 1, 0, -1):
        for unit in (0, 1):
            total[parent[row] or 0][unit] += total[row][unit]
    rows = [
        (row, parent[row], f"f{row}", None, "function", row, *(own[row][0], total[row][0]), own[row][1], total[row][1])
        for row in range(size)
    ]
    return pl.DataFrame([(*row, None) for row in rows], schema=SCHEMA["calls"], orient="row")


def totals(page: PageTree) -> list[tuple[int, int]]:
    """Instructions and nanoseconds of every node of the page with all below it."""
    sums = [[executed, ns or 0] for executed, ns in zip(page.self_instructions, page.self_ns, strict=True)]
    for row in range(len(sums) - 1, 0, -1):
        for unit in (0, 1):
            sums[page.parent[row]][unit] += sums[row][unit]
    return [(executed, ns) for executed, ns in sums]


@given(calls=trees(), share=st.floats(0, 1), depth=st.integers(1, 20))
@settings(deadline=None)
def test_every_level_still_adds_up_whatever_is_folded(calls: pl.DataFrame, share: float, depth: int) -> None:
    page = fold(calls, share, depth)
    sums = totals(page)
    for row, (executed, ns) in enumerate(calls.select("total_instructions", "total_ns").iter_rows()):
        place = page.place[row]
        if page.folded[place] == 0:
            assert sums[place] == (executed, ns)
    assert all(0 <= parent < row for row, parent in enumerate(page.parent) if row > 0)


@given(calls=trees(), share=st.floats(0, 0.5))
@settings(deadline=None)
def test_only_what_is_small_in_both_units_is_folded(calls: pl.DataFrame, share: float) -> None:
    page = fold(calls, share, depth=1000)
    whole = calls.row(0, named=True)
    for row in calls.iter_rows(named=True):
        if page.folded[page.place[row["node"]]]:
            assert row["total_instructions"] <= share * whole["total_instructions"]
            assert row["total_ns"] <= share * whole["total_ns"]


def test_small_children_become_one_frame_that_tells_their_number_and_calls() -> None:
    rows = [
        (0, None, "[boot]", None, "root", 0, 0, 1000, 0, 1000),
        (1, 0, "large", None, "function", 1, 970, 970, 970, 970),
        (2, 0, "small", None, "function", 3, 4, 10, 4, 10),
        (3, 2, "below_small", None, "function", 50, 6, 6, 6, 6),
        (4, 0, "small_too", None, "function", 5, 20, 20, 20, 20),
    ]
    page = fold(pl.DataFrame([(*row, None) for row in rows], schema=SCHEMA["calls"], orient="row"), share=0.05)
    assert page.function == ["[boot]", "large", ""]
    assert (page.kind[2], page.folded[2], page.calls[2], page.self_instructions[2]) == ("folded", 2, 8, 30)


def test_one_small_child_without_callees_keeps_its_name() -> None:
    rows = [
        (0, None, "[boot]", None, "root", 0, 990, 1000, 990, 1000),
        (1, 0, "alone", "ext4", "function", 3, 10, 10, 10, 10),
    ]
    page = fold(pl.DataFrame([(*row, None) for row in rows], schema=SCHEMA["calls"], orient="row"), share=0.05)
    assert (page.function, page.module) == (["[boot]", "alone"], [None, "ext4"])


def test_idle_time_is_large_although_it_executes_nothing(tmp_path: Path) -> None:
    calls = firstlight.open(make_bundle(tmp_path)).calls()
    idle = calls.row(by_predicate=pl.col("function") == "[idle]", named=True)
    page = fold(calls, share=0.05)
    at = page.function.index("[idle]")
    assert page.kind[at] == idle["kind"]
    assert page.self_instructions[at] == idle["self_instructions"] == 0


def test_the_phases_of_a_folded_tree_hold_all_that_ran(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    page = fold(boot.calls(), share=0.01)
    phases = fold_phases(boot.phase_calls(), boot.calls(), page)
    expected = dict(boot.phase_calls().group_by("phase").agg(pl.col("self_instructions").sum()).iter_rows())
    assert {phase: sum(columns["self_instructions"]) for phase, columns in phases.items()} == expected
    assert sum(sum(columns["self_ns"]) for columns in phases.values()) == boot.manifest.totals.virtual_ns


def test_a_boot_without_profile_has_an_empty_tree(tmp_path: Path) -> None:
    data = page_data(firstlight.open(make_bundle(tmp_path, profile=False)))[0]
    assert data["tree"]["parent"] == []
    assert data["functions"]["name"] == []
    assert data["phase_tree"] == data["phase_functions"] == {}
    assert data["phases"]["name"][0] == "firmware"


def test_a_phase_that_never_ended_holds_what_the_others_leave(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path, failed=True))
    phases = page_data(boot)[0]["phases"]
    assert phases["ended"][-1] is False
    assert sum(phases["instructions"]) == boot.manifest.totals.instructions
    assert sum(phases["idle_ns"]) == boot.manifest.totals.idle_ns


def test_endless_logs_and_facts_are_cut_and_counted(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path, profile=False)
    lines, facts = LOG_LINES + 500, FACTS + 7
    log = pl.DataFrame(
        {
            "line": range(lines),
            "time_ns": range(lines),
            "source": "console",
            "text": [f"line {i}" for i in range(lines)],
            **dict.fromkeys(("host_ns", "level", "caller", "channel")),
        },
        schema=SCHEMA["log"],
    )
    fact = pl.DataFrame({"fact": [f"f{i}" for i in range(facts)], "value": ["x" * 10_000] * facts})
    write_table(bundle, "log", log)
    write_table(bundle, "facts", fact)
    data = page_data(firstlight.open(bundle))[0]
    assert (len(data["log"]["text"]), data["log"]["lines"]) == (LOG_LINES, lines)
    assert (data["log"]["text"][0], data["log"]["text"][-1]) == ("line 0", f"line {lines - 1}")
    assert (len(data["facts"]["fact"]), data["facts"]["facts"]) == (FACTS, facts)
    assert data["facts"]["value"][0].endswith("… (10,000 characters)")


def test_a_text_that_is_no_unicode_is_repaired() -> None:
    assert shortened("a\udc80b\ud83d\ude00", 10) == "a\ufffdb\U0001f600"


def test_the_page_is_replaced_whole_and_the_same_for_the_same_boot(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    out = tmp_path / "a.html"
    out.write_text("older", encoding="utf-8")
    html.write_html(boot, out)
    first = out.read_bytes()
    html.write_html(boot, out)
    assert out.read_bytes() == first
    assert first.startswith(b"<!doctype html>")
    assert [path.name for path in tmp_path.glob("*.html*")] == ["a.html"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    with pytest.raises(FirstlightError, match="cannot be written: No such file or directory"):
        html.write_html(boot, tmp_path / "absent" / "a.html")


def test_a_page_that_is_not_ours_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form = tmp_path / "page.html"
    form.write_text("<html></html>", encoding="utf-8")
    monkeypatch.setattr(html, "asset_path", lambda name: form)
    with pytest.raises(LabError, match="no single place for its data"):
        html.page_html(firstlight.open(make_bundle(tmp_path)))


def test_a_path_of_many_parts_is_carried_with_its_sum(tmp_path: Path) -> None:
    spans = Spans()
    for number in range(3000):
        spans.add("initcall", f"call_{number}", (number, number + (1 if number % 3 else 0.5)), track="task 1")
    bundle = write_bundle(tmp_path, "long.boot", spans=spans)
    timing = page_data(firstlight.open(bundle))[0]["timing"]
    path = timing["path"]
    assert len(path["name"]) <= 2001
    assert sum(path["duration_ns"]) == 4_800_000_000
    assert path["start_ns"][1:] == path["end_ns"][:-1]
    assert (len(timing["initcalls"]["name"]), timing["initcalls"]["rows"]) == (2000, 3000)
