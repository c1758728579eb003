"""Histories: points in order, and where they changed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answers import data_of_answer
from bundles import make_bundle
from firstlight.cli.main import run
from firstlight.stats.change_points import exact_changes, noisy_changes
from gate_boots import change, slower

PHASE = "initcalls_device"


def data(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Run a command; its data."""
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    found: dict[str, Any] = data_of_answer(capsys.readouterr().out)
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to work in, with a history of five exact boots: the fourth is slower, and stays so."""
    monkeypatch.chdir(tmp_path)
    for number, by in enumerate((0, 0, 0, 3_000_000, 3_000_000)):
        slower(tmp_path, f"{number}.boot", PHASE, by)
        assert run(["history", "add", "h.duckdb", f"{number}.boot", "--at", f"v{number}"]) == 0
    return tmp_path


def test_every_change_of_an_exact_series_is_a_change_point(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, "history", "show", "h.duckdb")
    assert [point["at"] for point in found["points"]] == ["v0", "v1", "v2", "v3", "v4"]
    (only,) = found["changes"]
    assert (only["at"], only["after"] - only["before"], only["status"]) == ("v3", 3_000_000, "lasts")
    assert [phase["name"] for phase in found["phases"]] == [PHASE]


def test_regressions_name_phase_and_function(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, "history", "regressions", "h.duckdb")["regressions"]
    assert {row["kind"] for row in found} == {"total", "phase", "function"}
    assert {row["at"] for row in found} == {"v3"}
    assert {row["after"] - row["before"] for row in found} == {3_000_000}
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 3


def test_one_slow_point_is_a_note_and_two_are_an_alert(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (5, 6):
        slower(place, f"{number}.boot", PHASE, 9_000_000)
    add = ("history", "add", "step.duckdb")
    assert run([*add, "0.boot", "--at", "v0"]) == run([*add, "5.boot", "--at", "v5"]) == 0
    found = data(capsys, "history", "regressions", "step.duckdb")
    assert (found["regressions"][0]["status"], found["alerts"]) == ("one point", 0)
    assert run(["history", "regressions", "step.duckdb", "--fail"]) == 0
    assert run(["history", "regressions", "step.duckdb", "--fail", "--at-once"]) == 3
    assert run(["history", "regressions", "step.duckdb", "--at-once"]) == 2
    assert run([*add, "6.boot", "--at", "v6"]) == 0
    assert run(["history", "regressions", "step.duckdb", "--fail"]) == 3


def test_exact_boots_that_differ_under_one_label_give_a_time_that_a_boot_took(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower(place, "7.boot", PHASE, 5_000_000)
    assert run(["history", "add", "two.duckdb", "0.boot", "7.boot", "--at", "v1"]) == 0
    (point,) = data(capsys, "history", "show", "two.duckdb")["points"]
    assert point["level_ns"] == point["samples_ns"][-1] == max(point["samples_ns"])
    for command in ("show", "regressions"):
        assert run(["history", command, "two.duckdb"]) == 0
        assert "the last of each is taken" in capsys.readouterr().out


def test_a_boot_of_another_testbed_does_not_switch_the_gate_off_unseen(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bundle(place, name="live.boot", live=True)
    assert run(["history", "add", "h.duckdb", "live.boot", "--at", "v5"]) == 0
    assert data(capsys, "history", "regressions", "h.duckdb")["left_out"] == 5
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 5
    told = capsys.readouterr()
    assert "5 boots of other testbeds are left out" in told.out
    assert "nothing could be judged" in told.err


def test_what_was_taken_back_is_no_regression(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "5.boot", PHASE, 0)
    assert run(["history", "add", "h.duckdb", "5.boot", "--at", "v5"]) == 0
    assert data(capsys, "history", "regressions", "h.duckdb")["regressions"] == []
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 0


def test_a_boot_is_kept_once_under_a_label(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert data(capsys, "history", "add", "h.duckdb", "4.boot", "--at", "v4")["known"] == ["4.boot"]
    assert len(data(capsys, "history", "show", "h.duckdb")["points"]) == 5


def test_boots_of_another_testbed_are_left_out_and_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(make_bundle(place, name="q.boot"), recipe={"machine": "pc-q35-10.0"})
    assert run(["history", "add", "h.duckdb", "q.boot", "--at", "v5"]) == 0
    found = data(capsys, "history", "show", "h.duckdb")
    assert (len(found["points"]), found["left_out"]) == (1, 5)
    assert run(["history", "show", "h.duckdb"]) == 0
    assert "5 boots of other testbeds" in capsys.readouterr().out


def test_a_folder_of_bundles_is_a_history(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "folder").mkdir()
    for number in range(3):
        (place / f"{number}.boot").rename(place / "folder" / f"{number}.boot")
    assert len(data(capsys, "history", "show", "folder")["points"]) == 3
    assert run(["history", "add", "folder", "3.boot", "--at", "x"]) == 2


def test_a_function_has_a_series(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(row["name"] for row in data(capsys, "history", "regressions", "h.duckdb")["regressions"]
                if row["kind"] == "function")  # fmt: skip
    found = data(capsys, "history", "show", "h.duckdb", "--kind", "function", "--name", name)
    assert found["changes"][0]["after"] - found["changes"][0]["before"] == 3_000_000
    assert run(["history", "show", "h.duckdb", "--kind", "phase", "--name", "initcalls_devise"]) == 2
    assert "did you mean `initcalls_device`" in capsys.readouterr().err
    assert run(["history", "show", "h.duckdb", "--kind", "phase"]) == 2


def test_the_file_is_read_by_duckdb_alone(place: Path) -> None:
    import duckdb

    with duckdb.connect("h.duckdb", read_only=True) as connection:
        rows = connection.execute(
            "SELECT label, sum(ns) FILTER (kind = 'phase') - sum(ns) FILTER (kind = 'total'), "
            "sum(ns) FILTER (kind = 'function') - sum(ns) FILTER (kind = 'total') "
            "FROM boots JOIN measures USING (number) GROUP BY ALL ORDER BY label"
        ).fetchall()
    assert rows == [(f"v{number}", 0, 0) for number in range(5)]


@pytest.mark.parametrize("content", [b"", b"no database", b"\0" * 5000])
def test_what_is_no_history_is_told(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h.duckdb").write_bytes(content)
    assert run(["history", "show", "h.duckdb"]) in (1, 2)
    assert "h.duckdb" in capsys.readouterr().err
    assert run(["history", "show", "none.duckdb"]) == 2


def test_a_failed_boot_does_not_come_in(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="f.boot", failed=True)
    assert run(["history", "add", "h.duckdb", "f.boot", "--at", "v9"]) == 4
    assert len(data(capsys, "history", "show", "h.duckdb")["points"]) == 5


def test_the_fence_follows_what_changes_were_usual() -> None:
    draw = random.Random(1)
    restless = [1_000_000 + draw.randrange(8_000) for _ in range(40)]
    assert not exact_changes([*restless, 1_010_000])[-1].significant
    assert exact_changes([*restless, 1_100_000])[-1].significant
    assert exact_changes([1_000_000] * 40 + [1_010_000])[-1].significant


def test_a_blip_is_two_changes_and_said_to_be_back() -> None:
    first, second = exact_changes([1000, 1000, 1100, 1000, 1000])
    assert (first.place, first.points, second.place) == (2, 1, 3)
    assert first.text.endswith("and back")


@pytest.mark.parametrize("place", [7, 20, 43, 55])
def test_a_step_in_noise_is_found_where_it_is(place: int) -> None:
    hits = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0, 0.003, 60)
        series = [[round(1e9 * (1.02 if at >= place else 1.0) * np.exp(noise[at]))] for at in range(60)]
        found = [each for each in noisy_changes(series) if each.significant]
        hits += [each.place for each in found] == [place]
    assert hits >= 18


def test_noise_alone_has_no_change() -> None:
    alarms = 0
    for seed in range(40):
        noise = np.random.default_rng(seed).normal(0, 0.005, 60)
        alarms += any(each.significant for each in noisy_changes([[round(1e9 * np.exp(value))] for value in noise]))
    assert alarms <= 2


def test_few_boots_leave_a_change_open() -> None:
    (only,) = noisy_changes([[1_000_000 + at * 10] for at in range(4)] + [[1_100_000 + at * 10] for at in range(4)])
    assert (only.place, only.significant, only.status) == (4, False, "not confirmed")
    assert "more boots are needed" in only.text
