"""What a fleet answers: fleets of invented boots with planted differences."""

from __future__ import annotations

import re
from pathlib import Path

import ibis
import polars as pl
import pytest

import firstlight
import invented_fleet
from firstlight.cli.main import run
from firstlight.fleet import engine
from firstlight.fleet.analyses import cohorts, outliers, regressed, spread, tail
from firstlight.fleet.columns import BOOTS, SPANS
from firstlight.fleet.engine import Tables
from firstlight.fleet.files import read_boots, read_spans
from firstlight.fleet.layout import Fleet
from invented_fleet import Group, make_fleet

OLD, NEW = "6.6.1", "6.12.1"
SQL = Path(__file__).parents[2] / "docs/reference/fleet-sql.md"


def two_kernels(directory: Path, slower: dict[str, float], boots: int = 120) -> Fleet:
    groups = [
        Group({"model": model, "kernel": kernel}, boots, factors | ({"probe_3": 4.0} if model == "B" else {}))
        for model in ("A", "B")
        for kernel, factors in ((OLD, {}), (NEW, slower))
    ]
    return make_fleet(directory / "fleet", groups)


def test_quantiles_are_those_of_polars(tmp_path: Path) -> None:
    fleet = two_kernels(tmp_path, {})
    rows = firstlight.ask_fleet(fleet.directory, "initcalls").rows
    listing = fleet.listing()
    boots, spans = read_boots(fleet, listing.boots), read_spans(fleet, listing.spans)
    wanted = (
        spans.filter(pl.col("kind") == "initcall")
        .join(boots, on="boot")
        .group_by("model", "kernel", "name")
        .agg(
            pl.len().alias("count"),
            *(
                pl.col("duration_ns").quantile(share, "linear").alias(name)
                for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
            ),
        )
    )
    both = rows.join(wanted, on=["model", "kernel", "name"])
    assert both.height == rows.height == wanted.height == 4 * 40
    assert (both["boots"] == both["count"]).all()
    for share in ("p50", "p90", "p99"):
        assert ((both[f"{share}_ns"] - both[share]).abs() <= 1e-6).all()


def test_just_what_was_planted_is_slower(tmp_path: Path) -> None:
    fleet = two_kernels(tmp_path, {"probe_7": 1.25, "probe_20": 1.25, "network.service": 0.8})
    found = firstlight.ask_fleet(fleet.directory, "regressed")
    assert (found.old, found.new) == (OLD, NEW)
    changed = found.rows.filter(pl.col("verdict") != "unchanged")
    assert sorted(changed.select("name", "model", "verdict").rows()) == [
        ("network.service", "A", "faster"),
        ("network.service", "B", "faster"),
        ("probe_20", "A", "slower"),
        ("probe_20", "B", "slower"),
        ("probe_7", "A", "slower"),
        ("probe_7", "B", "slower"),
    ]
    slower = changed.filter(pl.col("verdict") == "slower")
    assert slower["change"].is_between(0.22, 0.28).all()
    assert (slower["p_all_strata"] <= slower["p"]).all()


def test_equal_groups_are_unchanged(tmp_path: Path) -> None:
    fleet = two_kernels(tmp_path, {})
    rows = firstlight.ask_fleet(fleet.directory, "regressed").rows
    assert set(rows["verdict"]) == {"unchanged"}
    # The p of a test of nothing are spread evenly: their adjusted ones are large.
    assert (rows["p"] > 0.01).all()


def test_models_are_never_pooled(tmp_path: Path) -> None:
    """Slow boards got the new kernel more often: no part of either model has changed."""
    slow = dict.fromkeys(("early_init", "initcalls", "userspace"), 1.5)
    fleet = make_fleet(
        tmp_path / "fleet",
        [
            Group({"model": "fast", "kernel": OLD}, 150, {}),
            Group({"model": "fast", "kernel": NEW}, 40, {}),
            Group({"model": "slow", "kernel": OLD}, 40, slow),
            Group({"model": "slow", "kernel": NEW}, 150, slow),
        ],
    )
    rows = firstlight.ask_fleet(fleet.directory, "regressed").rows
    assert set(rows["verdict"]) == {"unchanged"}


def test_few_boots_are_said_to_be_few(tmp_path: Path) -> None:
    fleet = two_kernels(tmp_path, {}, boots=5)
    found = firstlight.ask_fleet(fleet.directory, "regressed")
    assert found.rows["few"].all()
    assert any("fewer than 20 boots" in note for note in found.notes)


def test_slow_boots_are_outliers_of_their_own_group(tmp_path: Path) -> None:
    fleet = make_fleet(
        tmp_path / "fleet",
        [
            Group({"model": "A", "kernel": OLD}, 100, {}),
            Group({"model": "B", "kernel": OLD}, 100, dict.fromkeys(("early_init", "initcalls", "userspace"), 2.0)),
            Group({"model": "A", "kernel": OLD}, 2, {"userspace": 3.0}),
        ],
    )
    rows = firstlight.ask_fleet(fleet.directory, "outliers").rows
    assert set(rows["model"]) == {"A"}
    assert set(rows["digest"]) == {f"{201:064x}", f"{202:064x}"}
    assert set(rows["name"]) == {"total", "userspace"}


def test_groups_stand_against_the_largest(tmp_path: Path) -> None:
    fleet = make_fleet(
        tmp_path / "fleet",
        [Group({"model": "A"}, 60, {}), Group({"model": "B"}, 30, {"userspace": 2.0})],
    )
    rows = firstlight.ask_fleet(fleet.directory, "cohorts", by=["model"]).rows
    of = {(row["model"], row["name"]): row["of_largest"] for row in rows.to_dicts()}
    assert of["A", "userspace"] == 1.0
    assert of["B", "userspace"] == pytest.approx(2.0, rel=0.05)
    assert rows["name"][0] == "total"


def test_what_the_slowest_spend_more_adds_up(tmp_path: Path) -> None:
    fleet = make_fleet(
        tmp_path / "fleet",
        [Group({"model": "A"}, 196, {}), Group({"model": "A"}, 4, {"network.service": 9, "userspace": 2})],
    )
    found = firstlight.ask_fleet(fleet.directory, "tail").rows
    boots = read_boots(fleet, fleet.listing().boots)
    slowest = boots["total_ns"] >= boots["total_ns"].quantile(0.99, "linear")
    difference = boots.filter(slowest)["total_ns"].mean() - boots.filter(~slowest)["total_ns"].mean()  # type: ignore[operator]
    phases = found.filter(pl.col("kind") == "phase")["more_ns"].sum()
    assert phases == pytest.approx(difference, rel=1e-9)
    assert found["name"][0] == "userspace"
    assert found.filter(pl.col("kind") == "unit")["name"][0] == "network.service"


def test_conditions_choose_boots(tmp_path: Path) -> None:
    fleet = two_kernels(tmp_path, {})
    where = 'model = "B" and kernel ~ "6.12*" and model != "A"'
    found = firstlight.ask_fleet(fleet.directory, "phases", where=where)
    assert found.boots == 120
    assert set(found.rows["kernel"]) == {NEW}


def test_slices_of_names_give_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = two_kernels(tmp_path, {"probe_7": 1.25})
    questions = ("phases", "initcalls", "regressed", "outliers")
    whole = [firstlight.ask_fleet(fleet.directory, question).rows for question in questions]
    monkeypatch.setattr(engine, "SLICE_ROWS", 3000)
    monkeypatch.setattr(outliers, "SLICE_ROWS", 500)
    sliced = [firstlight.ask_fleet(fleet.directory, question).rows for question in questions]
    assert all(one.equals(other) for one, other in zip(whole, sliced, strict=True))


def test_a_large_fleet_without_any_part_of_a_kind_has_an_empty_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {part: ns for part, ns in invented_fleet.PARTS.items() if part[0] != "unit"}
    monkeypatch.setattr(invented_fleet, "PARTS", kept)
    monkeypatch.setattr(engine, "SLICE_ROWS", 3000)
    fleet = two_kernels(tmp_path, {})
    assert firstlight.ask_fleet(fleet.directory, "units").rows.is_empty()
    assert firstlight.ask_fleet(fleet.directory, "phases").rows.height == 16


def expressions() -> dict[str, ibis.expr.types.Table]:
    """Each analysis over tables without an engine."""
    kinds = {pl.Int64: "int64", pl.String: "string"}
    boots = {name: kinds[kind] for name, kind in BOOTS.items()} | dict.fromkeys(("model", "kernel"), "string")
    known = ibis.table(boots, "boots")
    tables = Tables(known, known, ibis.table({name: kinds[kind] for name, kind in SPANS.items()}, "spans"), None)
    by = ("model", "kernel")
    return {
        "spread": spread.spread(tables, "initcall", by),
        "regressed": regressed.rank_sums(tables, "kernel", OLD, NEW, ("model",)),
        "outliers": outliers.outliers(tables, by),
        "cohorts": cohorts.cohorts(tables, "model"),
        "tail": tail.tail(tables, ("model",)),
    }


@pytest.mark.parametrize("dialect", ["duckdb", "pyspark"])
@pytest.mark.parametrize("name", sorted(expressions()))
def test_the_sql_of_each_analysis_is_written_down(name: str, dialect: str, pytestconfig: pytest.Config) -> None:
    """Whoever leaves Ibis behind takes these along."""
    if dialect == "pyspark":
        pytest.importorskip("pyspark", reason="`make fleet-spark` runs this with Spark")
        assert ibis.pyspark.name == dialect  # its options are there once it is loaded
    engine = {"duckdb": "DuckDB", "pyspark": "Spark"}[dialect]
    sql = str(ibis.to_sql(expressions()[name], dialect=dialect)) + "\n"
    page = SQL.read_text()
    block = re.compile(rf"(?s)(## [^\n]*`{name}`\n.*?{engine}:\n\n```sql\n)(.*?)```")
    found = block.search(page)
    assert found is not None
    if pytestconfig.getoption("--update-golden"):
        SQL.write_text(page[: found.start(2)] + sql + page[found.end(2) :])
    else:
        assert found[2] == sql


def test_parts_that_no_stratum_has_on_both_sides_are_said_to_be_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = [Group({"model": model, "kernel": kernel}, 3, {}) for model, kernel in (("A", OLD), ("B", NEW))]
    fleet = make_fleet(tmp_path / "fleet", groups).directory
    found = firstlight.ask_fleet(fleet, "regressed", between=(OLD, NEW))
    assert found.rows.height == 0
    assert "no model has boots of both: nothing can be compared" in found.notes
    assert run(["fleet", "show", str(fleet), "regressed", "--fail"]) == 0
    assert "nothing can be compared" in firstlight.fleet_page(fleet, tmp_path / "fleet.html").read_text()
    metrics = ["fleet", "export", str(fleet), "--to", "openmetrics", "--between", f"{OLD},{NEW}", "-o", "-"]
    capsys.readouterr()
    assert run(metrics) == 0
    assert capsys.readouterr().out.endswith("# EOF\n")
    assert not Path("-").exists()
    assert run(["fleet", "show", str(fleet), "regressed", "--between", f"{OLD},{OLD}"]) == 2
    assert "cannot be compared with itself" in capsys.readouterr().err


def test_an_attribute_that_is_named_twice_groups_once(tmp_path: Path) -> None:
    fleet = two_kernels(tmp_path, {}, boots=5).directory
    for question in ("phases", "outliers", "cohorts", "tail"):
        once, twice = (firstlight.ask_fleet(fleet, question, by=by) for by in (["model"], ["model", "model"]))
        assert twice.by == once.by
        assert twice.rows.equals(once.rows)
    kernels = firstlight.ask_fleet(fleet, "regressed", by=["kernel", "kernel"])
    assert kernels.rows.equals(firstlight.ask_fleet(fleet, "regressed", by=["kernel"]).rows)
