"""SQL over a fleet: what it may read, and how its values are printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import firstlight
from bundles import make_bundle
from firstlight.cli.main import run
from firstlight.fleet.files import read_spans
from firstlight.fleet.layout import open_fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    return firstlight.init_fleet(tmp_path / "fleet").directory


def _parts(fleet: Path) -> int:
    opened = open_fleet(fleet)
    return read_spans(opened, opened.listing().spans).height


def test_sql_reads_the_two_tables_and_nothing_else(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    firstlight.add_to_fleet(fleet, [make_bundle(tmp_path)])
    statement = "SELECT count(*) AS n FROM boots JOIN spans USING (boot)"
    assert run(["fleet", "sql", str(fleet), statement, "--csv"]) == 0
    assert capsys.readouterr().out == f"n\n{_parts(fleet)}\n"
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for bad in (
        f"SELECT * FROM read_csv('{secret}')", f"SELECT * FROM '{secret}'", f"COPY boots TO '{tmp_path}/out.csv'",
        "SELECT 1; SELECT 2", "ATTACH 'x.db'", "DROP VIEW spans", "SET enable_external_access = true", "INSTALL httpfs",
        "SELECT * FROM nothing", "",
    ):  # fmt: skip
        assert run(["fleet", "sql", str(fleet), bad]) in (1, 2), bad
    assert not (tmp_path / "out.csv").exists()


def test_sql_shows_columns_of_one_name_intervals_and_numbers_that_json_lacks(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    firstlight.add_to_fleet(fleet, [make_bundle(tmp_path)])
    both = firstlight.query_fleet(fleet, "SELECT b.boot, s.boot FROM boots b JOIN spans s ON b.boot = s.boot LIMIT 1")
    assert both.columns == ["boot", "boot_2"]
    assert firstlight.query_fleet(fleet, "SELECT 1 AS a, 2 AS a, 3 AS a_2").columns == ["a", "a_3", "a_2"]
    statement = (
        "SELECT INTERVAL 1 DAY AS a, {'x': INTERVAL 1 DAY} AS b, sum(x) AS c, 1e308 * 10 AS d, "
        "'nan'::DOUBLE AS e, 1.5::DECIMAL(4, 2) AS f FROM range(4) t(x)"
    )
    assert run(["fleet", "sql", str(fleet), statement]) == 0
    capsys.readouterr()
    assert run(["fleet", "sql", str(fleet), statement, "--json"]) == 0
    refuse: Callable[[str], object] = lambda text: pytest.fail(f"{text} is no JSON")  # noqa: E731
    found = json.loads(capsys.readouterr().out, parse_constant=refuse)["data"]
    assert found["columns"] == list("abcdef")
    assert found["rows"] == [["1 day", "{'x': 1 day}", 6, None, None, 1.5]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'infinity'::DATE", "infinity"),
        ("'-infinity'::TIMESTAMP", "-infinity"),
        ("'infinity'::TIMESTAMPTZ", "infinity"),
        ("TIMESTAMP_S '290000-01-01'", "290000-01-01 00:00:00"),
        ("DATE '-4000-01-01'", "4001-01-01 (BC)"),
        ("TIME '24:00:00'", "24:00:00"),
        ("'12:00:00+15:59'::TIMETZ", "12:00:00+15:59"),
        ("INTERVAL 2147483647 MONTH", "178956970 years 7 months"),
        ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
        ("(-170141183460469231731687303715884105727::HUGEINT) - 1", -(2**127)),
        ("340282366920938463463374607431768211455::UHUGEINT", str(2**128 - 1)),
        ("1::BIGNUM", "1"),
        ("'nan'::DOUBLE", None),
        ("['inf'::DOUBLE]", [None]),
        ("[{'a': [1.5::DECIMAL(3, 1), NULL]}]", [{"a": [1.5, None]}]),
        ("[DATE 'infinity']", "[infinity]"),
        ("{'a': {'b': [INTERVAL 1 DAY]}}", "{'a': {'b': [1 day]}}"),
        ("MAP {1: [2]}", "{1=[2]}"),
        ("union_value(a := 1)", "1"),
        ("ROW(1, 'a')", "(1, a)"),
        ("'\\xAA\\x00'::BLOB", "\\xAA\\x00"),
        ("'101'::BIT", "101"),
        ("'a'::ENUM('a', 'b')", "a"),
        ("'a'::VARIANT", "a"),
        ("[NULL]", [None]),
        ("chr(27) || chr(10)", "\x1b\n"),
    ],
)
def test_sql_prints_every_value(fleet: Path, value: str, expected: object, capsys: pytest.CaptureFixture[str]) -> None:
    statement = f"SELECT {value} AS v"
    assert run(["fleet", "sql", str(fleet), statement, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["rows"] == [[expected]]
    for form in ([], ["--csv"]):
        assert run(["fleet", "sql", str(fleet), statement, *form]) == 0
        title, _, shown = capsys.readouterr().out.partition("\n")
        assert (title.strip(), "\x1b" in shown) == ("v", False)
        if isinstance(expected, str) and expected.isprintable():
            assert expected in shown


@pytest.mark.parametrize(
    "statement",
    ["SELECT error('bad')", "SELECT INTERVAL 1000000000 YEAR", "SELECT * FROM range(40000000)", "SELECT '\udc80'",
     "SELECT * FROM listing", "SELECT ?", "SELECT " + "(" * 3000 + "1" + ")" * 3000],
)  # fmt: skip
def test_sql_that_has_no_answer_is_refused(fleet: Path, statement: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fleet", "sql", str(fleet), statement]) in (1, 2)
    assert capsys.readouterr().err.startswith("error: SQL: ")


def test_sql_prints_titles_without_what_a_terminal_obeys(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ([], ["--csv"]):
        assert run(["fleet", "sql", str(fleet), 'SELECT 1 AS "\x1b[31m", 2 AS "\\x1b[31m"', *form]) == 0
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        assert "1" in shown
        assert "2" in shown
