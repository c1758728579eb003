"""Real boots compared: equal recipes do not differ, and what was planted is found and named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.comparison.exact.causes import LEAST_NS
from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions
from short_boots import short

pytestmark = pytest.mark.boot


def test_equal_recipes_raise_no_alarm_on_a_loaded_host(
    default_boot: Path, loaded_boot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", str(default_boot), str(loaded_boot), "--strict", "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    assert found["equal"]
    assert found["totals"]["change"] == {"ns": 0, "instructions": 0, "idle_ns": 0, "calls": None}
    assert all(level["rows"] == [] for level in found["levels"].values())


def test_a_boot_that_records_more_is_no_other_boot(
    short_boot: Path, boots: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = record(short(output=boots / "user-functions.boot", user_functions=True))
    assert run(["compare", str(short_boot), str(more), "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    assert "unstable" not in [flag["kind"] for flag in found["flags"]]
    assert found["totals"]["change"]["ns"] == 0


def test_a_planted_change_of_a_twentieth_of_a_percent_is_found_and_named(
    boots: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 16,128 more buckets of UDP's hash table, each set up by some fifty instructions of one function.
    sides = [
        str(record(short(output=boots / f"uhash-{entries}.boot", append=f"uhash_entries={entries}")))
        for entries in ("00256", "16384")
    ]
    assert run(["compare", *sides, "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    assert [change["detail"] for change in found["inputs"]] == ["+ uhash_entries=16384, - uhash_entries=00256"]
    first = [row["name"] for row in found["levels"]["functions"]["rows"][:3]]
    assert "udp_table_init" in first
    (named,) = [row for row in found["levels"]["functions"]["rows"] if row["name"] == "udp_table_init"]
    whole = found["totals"]["a"]["instructions"]
    assert 0.0004 < named["change"]["instructions"] / whole < 0.0007
    assert named["change"]["calls"] == 0
    costs = {"calls_doubled_ns": 0, "cost_doubled_ns": 2 * named["change"]["ns"]}
    assert named["split"] == {"gone_doubled_ns": 0, "new_doubled_ns": 0, **costs}
    _check_ledger(found)
    assert any("udp_table_init" in cause["names"] for cause in found["causes"])
    for level in found["levels"].values():
        assert level["sum_less_whole_ns"] == 0


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        (short(output=Path("a.boot"), append="ignored.word=1"), None),
        (short(output=Path("a.boot"), guest_commands=("sleep 1",)), "sleep"),
        (short(output=Path("a.boot"), append="cryptomgr.notests"), "cryptomgr_test"),
    ],
)
def test_the_first_line_names_what_was_planted(
    boots: Path, short_boot: Path, capsys: pytest.CaptureFixture[str], changed: RecordOptions, cause: str | None
) -> None:
    other = record(replace(changed, output=boots / f"planted-{cause}.boot"))
    assert run(["compare", str(short_boot), str(other)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert run(["compare", str(short_boot), str(other), "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    _check_ledger(found)
    if cause is None:
        # The word may lead to a call that no boot of the band made: some nanoseconds, and nothing to name.
        assert "caused by" not in first
        assert found["causes"] == []
        assert abs(found["ledger"]["total"]["caused_ns"]) < LEAST_NS
    else:
        assert cause in first


def _check_ledger(found: dict[str, Any]) -> None:
    """Total = caused + moved + accident, and every level adds up to each of the three."""
    ledger = found["ledger"]
    total = ledger["total"]
    assert sum(total.values()) == found["totals"]["change"]["ns"]
    assert sum(ledger["instructions"].values()) == found["totals"]["change"]["instructions"]
    assert set(ledger["levels"]) == {"phases", "entries", "initcalls", "functions"}
    for rows in ledger["levels"].values():
        assert {part: sum(row[part] for row in rows) for part in total} == total
    phases = {row["name"]: row["change"]["ns"] for row in found["levels"]["phases"]["rows"]}
    parts = {row["name"]: sum(row[part] for part in total) for row in ledger["levels"]["phases"]}
    assert {name: ns for name, ns in parts.items() if ns} == {name: ns for name, ns in phases.items() if ns}
