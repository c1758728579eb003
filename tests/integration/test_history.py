"""Histories: points in order, and where they changed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from answers import data_of_answer
from bench_modules import load_bench
from bundles import make_bundle
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import open as open_boot
from firstlight.cli.main import run
from firstlight.comparison.boot_figures import take_sample
from firstlight.comparison.known_bands import band_for, store
from firstlight.comparison.noise_band import Range
from firstlight.stats.change_points import change_points
from firstlight.stats.regressions import regressions
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


def test_a_change_within_the_noise_band_of_the_recipe_is_none(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    found = data(capsys, "history", "show", "h.duckdb")
    boot = open_boot(place / "4.boot")
    manifest = boot.manifest
    shipped = band_for(boot).band
    assert found["noise_band"].startswith(
        f"noise band: {shipped.virtual_ns.width:,} ns (shipped, for the minimal guest"
    )
    for width, changes in ((3_100_000, 0), (2_000_000, 1)):
        store(shipped.model_copy(update={"key": key_of_boot(manifest), "virtual_ns": Range(low=0, high=width)}))
        found = data(capsys, "history", "show", "h.duckdb")
        assert len(found["changes"]) == changes
        assert (
            found["noise_band"] == f"noise band: {width:,} ns (calibrated on this recipe, {len(shipped.boots)} boots)"
        )


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
        assert "the last of each is used" in capsys.readouterr().out


def test_a_boot_of_another_testbed_does_not_switch_the_gate_off_unseen(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bundle(place, name="live.boot", live=True)
    assert run(["history", "add", "h.duckdb", "live.boot", "--at", "v5"]) == 0
    assert data(capsys, "history", "regressions", "h.duckdb")["left_out"] == 5
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 5
    told = capsys.readouterr()
    assert "5 boots of testbed 1 left out" in " ".join(told.out.split())
    assert "only the newest boot is from its testbed" in told.err


def test_what_was_taken_back_is_no_regression(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slower(place, "5.boot", PHASE, 0)
    assert run(["history", "add", "h.duckdb", "5.boot", "--at", "v5"]) == 0
    assert data(capsys, "history", "regressions", "h.duckdb")["regressions"] == []
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 0


def test_an_unknown_function_among_many_has_names_as_its_hint(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import duckdb

    with duckdb.connect("h.duckdb") as connection:
        connection.execute("INSERT INTO measures SELECT 1, 'function', 'invented_' || range, 5 FROM range(60)")
    assert run(["history", "show", "h.duckdb", "--kind", "function", "--name", "nosuch"]) == 2
    said = capsys.readouterr().err
    assert "such as `" in said
    assert "`firstlight functions" not in said


def test_a_boot_is_kept_once_under_a_label(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["history", "add", "h.duckdb", "4.boot", "--at", "v4"]) == 0
    assert "0 added, 1 was already in it" in capsys.readouterr().out
    assert data(capsys, "history", "add", "h.duckdb", "4.boot", "--at", "v4")["known"] == ["4.boot"]
    assert len(data(capsys, "history", "show", "h.duckdb")["points"]) == 5


def test_boots_of_another_testbed_are_left_out_and_reported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(make_bundle(place, name="q.boot"), recipe={"machine": "pc-q35-10.0"})
    assert run(["history", "add", "h.duckdb", "q.boot", "--at", "v5"]) == 0
    found = data(capsys, "history", "show", "h.duckdb")
    assert (len(found["points"]), found["left_out"]) == (1, 5)
    assert run(["history", "show", "h.duckdb"]) == 0
    assert "5 boots of testbed 1 left out" in capsys.readouterr().out


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
def test_what_is_no_history_is_reported(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("h.duckdb").write_bytes(content)
    assert run(["history", "show", "h.duckdb"]) in (1, 2)
    assert "h.duckdb" in capsys.readouterr().err
    assert run(["history", "show", "none.duckdb"]) == 2


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE measures SET ns = NULL WHERE number = 2 AND kind = 'total'", "boot 2 has no time of total"),
        ("UPDATE measures SET ns = -5 WHERE number = 2 AND kind = 'total'", "boot 2 has no time of total"),
        ("UPDATE boots SET testbed = '{}' WHERE number = 2", "boot 2 has no testbed"),
        ("UPDATE boots SET testbed = 'x' WHERE number = 2", "boot 2 has no testbed"),
        ("UPDATE boots SET inputs = '[' WHERE number = 2", "boot 2 has no inputs"),
        ("UPDATE boots SET inputs = NULL WHERE number = 2", "boot 2 has no inputs"),
    ],
)
def test_a_history_that_was_edited_by_hand_is_reported(
    place: Path, statement: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    with duckdb.connect("h.duckdb") as connection:
        connection.execute(statement)
    for command in ("show", "regressions"):
        capsys.readouterr()
        assert run(["history", command, "h.duckdb"]) == 1
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        (["--from", "nomark"], "no mark `nomark`"),
        (["--from", "ready", "--to", "user_start"], "`user_start` does not come after `ready`"),
    ],
)
def test_a_bisection_between_marks_that_cannot_be_builds_nothing(
    place: Path, marks: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = ["--version", "1", "--version", "2", "--kernel", "vmlinuz", "--build", f"touch {place}/built"]
    assert run(["history", "bisect", "--against", "0.boot", *versions, *marks]) == 2
    assert said in capsys.readouterr().err
    assert not (place / "built").exists()


def test_a_damaged_history_is_not_called_one_that_another_process_writes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "cut.duckdb").write_bytes((place / "h.duckdb").read_bytes()[:5000])
    capsys.readouterr()
    assert run(["history", "show", "cut.duckdb"]) == 1
    assert "wait until" not in capsys.readouterr().err


def test_a_label_of_several_lines_stays_on_one_line_of_a_hint(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["history", "add", "h.duckdb", "0.boot", "--at", "a\nb"]) == 0
    assert run(["history", "anchor", "h.duckdb", "0.boot", "--at", "none"]) == 2
    assert r"the newest is `a\nb`" in capsys.readouterr().err


def test_a_failed_boot_does_not_come_in(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(place, name="f.boot", failed=True)
    assert run(["history", "add", "h.duckdb", "f.boot", "--at", "v9"]) == 4
    assert len(data(capsys, "history", "show", "h.duckdb")["points"]) == 5


@pytest.mark.parametrize("failed", ["0.boot", "zz.boot"])
def test_a_directory_with_a_failed_boot_is_added_as_a_whole_or_not_at_all(
    place: Path, failed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "new").mkdir()
    for number in range(3):
        slower(place / "new", f"g{number}.boot", PHASE, number)
    make_bundle(place / "new", name=failed, failed=True)
    for history, points in (("h.duckdb", 5), ("n.duckdb", None)):
        capsys.readouterr()
        assert run(["history", "add", history, "new", "--at", "v9"]) == 4
        said = capsys.readouterr().err
        assert f"1 of 4 boots has no time to store, and none was added: `{failed}`" in said
        assert f"hint: leave `{failed}` out" in said
        assert (place / history).exists() == (points is not None)
    assert len(data(capsys, "history", "show", "h.duckdb")["points"]) == 5


def test_a_history_without_boots_is_called_empty(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import duckdb

    with duckdb.connect("h.duckdb") as connection:
        connection.execute("DELETE FROM boots")
        connection.execute("DELETE FROM measures")
    capsys.readouterr()
    assert run(["history", "show", "h.duckdb"]) == 2
    assert "this history is empty" in capsys.readouterr().err


def test_failed_boots_of_a_folder_are_named_and_a_newest_one_leaves_the_command_undecided(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "folder").mkdir()
    for number in range(4):
        change(make_bundle(place / "folder", name=f"{number}.boot", failed=number == 1),
               recorded_at=f"2026-10-0{number + 1}T10:00:00+00:00")  # fmt: skip
    for command in ("show", "regressions"):
        capsys.readouterr()
        assert run(["history", command, "folder"]) == 0
        assert "1 boot left out, because a failed boot has no time: 1.boot: " in " ".join(
            capsys.readouterr().out.split()
        )
        (name,) = data(capsys, "history", command, "folder")["failed"]
        assert name.startswith("1.boot: ")
    assert run(["history", "regressions", "folder", "--fail"]) == 0
    change(make_bundle(place / "folder", name="4.boot", failed=True), recorded_at="2026-10-05T10:00:00+00:00")
    capsys.readouterr()
    assert run(["history", "regressions", "folder", "--fail"]) == 5
    assert "the newest boot failed: 4.boot: " in capsys.readouterr().err


def exact(*levels: int) -> list[list[int]]:
    """A series with one exact boot of every point."""
    return [[level] for level in levels]


def test_the_fence_follows_the_noise_of_the_series() -> None:
    restless = [1_000_000 + int(each) for each in np.random.default_rng(1).integers(0, 8_000, 40)]
    assert change_points(exact(*restless, 1_010_000, 1_010_500), exact=True) == []
    (only,) = change_points(exact(*restless, 1_100_000, 1_100_500), exact=True)
    assert (only.place, only.status) == (40, "lasts")
    assert change_points(exact(*[1_000_000] * 40, 1_001_000, 1_001_000), exact=True) == []


def test_a_step_lasts_though_no_two_values_are_equal() -> None:
    (only,) = change_points(exact(100_000, 100_050, 99_960, 100_020, 101_030, 100_980, 101_010), exact=True)
    assert (only.place, only.status, only.points) == (4, "lasts", 3)
    (only,) = change_points(exact(100_000, 100_050, 99_960, 100_020, 101_030), exact=True)
    assert (only.place, only.status) == (4, "one point")


def test_a_level_that_came_back_within_its_own_variation_is_no_regression() -> None:
    # 0.4 % above where it was, after 5 %: the machine has two states, and was in the slow one for a while.
    levels = [1000, 1001, 1000, 1001, 1050, 1051, 1049, 1050, 1004, 1004, 1005, 1004]
    changes = change_points([[level * 10**6] for level in levels], exact=True)
    assert [each.rises for each in changes if each.status == "lasts"] == [True, False]
    assert regressions(changes) == []


@pytest.mark.parametrize(("rise", "rest"), [(1.06, 1.018), (1.03, 1.008)])
def test_what_a_partial_fix_leaves_is_a_regression(rise: float, rest: float) -> None:
    noise = np.random.default_rng(5).normal(0, 0.0005, 80)
    levels = np.repeat([1.0, rise, rest], [20, 20, 40]) * np.exp(noise) * 1e9
    (left,) = regressions(change_points([[round(level)] for level in levels], exact=True))
    assert (left.place, left.status) == (20, "lasts")
    assert left.remains == pytest.approx(rest - 1, abs=0.001)


def test_the_command_fails_on_what_a_partial_fix_leaves_and_states_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, more_ns in enumerate([0, 0, 90_000_000, 90_000_000, 27_000_000, 27_000_000]):
        slower(tmp_path, f"{number}.boot", PHASE, more_ns + number)
        assert run(["history", "add", "h.duckdb", f"{number}.boot", "--at", f"v{number}"]) == 0
    capsys.readouterr()
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 3
    assert "Remains" in capsys.readouterr().out
    total = data(capsys, "history", "regressions", "h.duckdb")["regressions"][0]
    assert 0.2 < total["remains"] / total["relative"] < 0.4


def test_single_points_at_the_former_level_take_no_regression_back() -> None:
    levels = [1000] * 10 + [1020] * 10 + [1000] + [1020] * 10
    (left,) = (each for each in regressions(change_points(exact(*levels), exact=True)) if each.points > 1)
    assert (left.place, left.status, left.remains) == (10, "lasts", None)


@pytest.mark.parametrize(
    ("stays", "exact", "status"),
    [
        ([15, 5, 15, 30], False, "lasts"),  # broken again
        ([15, 5, 15, 5], False, "alternates"),
        ([20, 20, 20], False, "lasts"),  # an improvement that is lost
        ([20, 20, 10], False, "alternates"),
        ([10, 3, 4, 3, 4, 30], True, "lasts"),  # landed, reverted and landed again
        ([10, 3, 4, 3, 4, 5], True, "alternates"),
    ],
)
def test_a_level_from_before_lasts_once_it_stays_longer_than_it_did(stays: list[int], exact: bool, status: str) -> None:
    high = [(len(stays) - 1 - at) % 2 == 0 for at in range(len(stays))]
    sigma = 0.0003 if exact else 0.005
    levels = np.repeat(np.where(high, 1.1, 1.0), stays) * np.exp(np.random.default_rng(8).normal(0, sigma, sum(stays)))
    found = regressions(change_points([[round(level * 1e9)] for level in levels], exact=exact))
    assert [each.status for each in found] == [status]


def test_a_single_slow_point_is_marked_as_returned_and_is_no_regression() -> None:
    (only,) = change_points(exact(1000, 1000, 1100, 1000, 1000), exact=True)
    assert (only.place, only.points, only.status) == (2, 1, "one point")
    assert only.text.endswith("and back")
    assert regressions([only]) == []


@pytest.mark.parametrize(("before", "stray"), [(0, 0.49), (0, 0.97), (0, 1.03), (12, 0.97), (12, 1.03)])
def test_a_stray_second_point_of_a_level_begins_no_new_level(before: int, stray: float) -> None:
    levels = [900_000] * before + [round(1_000_000 * each) for each in (1, stray, 1.0001, 0.9999, 1, 1.0001)]
    found = change_points(exact(*levels), exact=True)
    (only,) = (each for each in found if each.place > before)
    assert (only.place, only.status, only.went_back) == (before + 1, "one point", True)
    assert [each.place for each in regressions(found)] == [before] * bool(before)


@pytest.mark.parametrize("rise", [1.005, 1.03])
def test_a_step_at_the_second_or_third_point_of_a_series_lasts(rise: float) -> None:
    for place in (1, 2):
        levels = [1_000_000, 1_000_300][:place] + [round(1_000_000 * rise)] * 3
        (only,) = regressions(change_points(exact(*levels), exact=True))
        assert (only.place, only.status) == (place, "lasts")


def test_a_level_is_no_lower_than_either_of_its_two_points_for_a_step_upwards() -> None:
    (rise,) = regressions(change_points(exact(1_000_000, 970_000, *[1_020_000] * 4), exact=True))
    assert (rise.place, rise.before) == (2, 1_000_000)
    assert rise.relative == pytest.approx(0.02)
    assert regressions(change_points(exact(1_000_000, 970_000, *[1_020_000] * 4, *[1_000_000] * 4), exact=True)) == []


@pytest.mark.parametrize(("low", "new"), [(0.9, 1.03), (0.97, 1.005), (0.97, 1.01), (0.97, 1.015)])
@pytest.mark.parametrize("boots", [1, 3])
def test_a_level_above_every_earlier_one_is_not_one_of_several_states(low: float, new: float, boots: int) -> None:
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(0, 0.0005, (75, boots))
        levels = np.repeat([1.0, low, new], [25, 30, 20])[:, None] * np.exp(noise) * 1e9
        (rise,) = regressions(change_points(levels.round().astype(int).tolist(), exact=False))
        assert (rise.place, rise.status) == (55, "lasts")
        back = np.repeat([1.0, low, 1.0], [25, 30, 20])[:, None] * np.exp(noise) * 1e9
        (again,) = regressions(change_points(back.round().astype(int).tolist(), exact=False))
        assert (again.place, again.status) == (55, "alternates")


def test_a_creep_is_found_though_no_step_is_large() -> None:
    levels = [round(1_000_000 * 1.001**number) for number in range(50)]
    found = regressions(change_points(exact(*levels), exact=True))
    (creep,) = (each for each in found if each.kind == "creep")
    assert creep.relative == pytest.approx(0.03, abs=0.002)
    assert "30 points back, +0.1 % a point" in creep.text


def test_a_level_that_was_there_before_is_no_new_regression() -> None:
    levels = ([100_000] * 6 + [105_000] * 5) * 3
    found = change_points(exact(*levels), exact=True)
    assert found[-1].status == "alternates"
    (last,) = regressions(found)
    assert last.status == "alternates"


def test_more_slow_boots_and_a_wider_spread_are_changes_of_their_own() -> None:
    source = np.random.default_rng(3)
    slow = (np.arange(60) >= 30)[:, None] & (source.random((60, 8)) < 0.3)
    times = np.where(slow, 1.2, 1.0) * np.exp(source.normal(0, 0.003, (60, 8)))
    (mode,) = (each for each in change_points((times * 1e9).astype(int).tolist(), exact=False) if each.kind != "step")
    assert (mode.kind, mode.rises) == ("slow mode", True)
    assert 28 <= mode.place <= 33
    wide = np.exp(source.normal(0, np.where(np.arange(60) < 30, 0.002, 0.01)))
    (spread,) = change_points([[round(each * 1e9)] for each in wide], exact=False)
    assert (spread.kind, spread.rises) == ("spread", True)


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The benchmark of histories."""
    return load_bench("history_changes")


@pytest.mark.parametrize("make", ["step", "creep"])
def test_planted_changes_of_exact_boots_always_fail(bench: ModuleType, make: str) -> None:
    assert bench.alerts(getattr(bench, make), 40, exact=True, first_seed=10_001) == 40


@pytest.mark.parametrize(
    ("make", "series", "at_most"),
    [("steady", 60, 2), ("outliers", 60, 2), ("alternating", 60, 6), ("strict_turns", 20, 1), ("two_states", 40, 2)],
)
def test_series_without_a_change_seldom_fail(bench: ModuleType, make: str, series: int, at_most: int) -> None:
    assert bench.alerts(getattr(bench, make), series, exact=False, first_seed=10_001) <= at_most


@pytest.mark.parametrize("place", [7, 20, 43, 55])
def test_a_step_in_noise_is_found_where_it_is(place: int) -> None:
    hits = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0, 0.003, 60)
        series = [[round(1e9 * (1.02 if at >= place else 1.0) * np.exp(noise[at]))] for at in range(60)]
        found = [each for each in change_points(series, exact=False) if each.status == "lasts"]
        hits += [each.place for each in found] == [place]
    assert hits >= 18


def test_slow_boots_in_a_row_are_no_step_of_a_series_in_which_boots_stray() -> None:
    noise = np.random.default_rng(5).normal(0, 0.003, 90)

    def found(slow: list[int]) -> list[str]:
        levels = [round(1e9 * (1.04 + at / 5000 if at in slow else 1.0) * np.exp(noise[at])) for at in range(90)]
        return [each.status for each in regressions(change_points([[level] for level in levels], exact=False))]

    assert found([88, 89]) == ["lasts"]
    assert found([12, 40, 88, 89]) == ["not confirmed"]
    assert found([12, 40, 86, 87, 88, 89]) == ["lasts"]


def test_few_boots_leave_a_change_open() -> None:
    series = [[1_000_000 + at * 10] for at in range(4)] + [[1_100_000 + at * 10] for at in range(4)]
    (only,) = change_points(series, exact=False)
    assert (only.place, only.status) == (4, "not confirmed")
    assert "more boots are needed" in only.text


def test_few_boots_that_are_slower_leave_the_command_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(8):
        slower(tmp_path, f"{number}.boot", PHASE, number * 1000 + (90_000_000 if number > 3 else 0), live=True)
        assert run(["history", "add", "h.duckdb", f"{number}.boot", "--at", f"v{number}"]) == 0
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 5
    said = capsys.readouterr().err
    assert "more boots are needed" in said
    assert "hint: add more boots" in said
    assert "history anchor" not in said


def qemu(bundle: Path, build: str) -> Path:
    """The same boot, by another build of QEMU."""
    return change(bundle, digests={"qemu": build * 64}, versions={"qemu": f"10.0.{build}"})


def test_an_anchor_chains_two_testbeds_by_their_ratio(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last version is booted by a newer QEMU, under which everything takes longer; then comes a regression."""
    for name, by in (("anchor", 23_000_000), ("next", 23_000_000), ("worse", 43_000_000), ("last", 43_000_000)):
        qemu(slower(place, f"{name}.boot", PHASE, by), "1")
    assert run(["history", "add", "h.duckdb", "next.boot", "--at", "v5"]) == 0
    assert run(["history", "regressions", "h.duckdb", "--fail"]) == 5
    assert run(["history", "add", "h.duckdb", "anchor.boot", "--at", "v4"]) == 0
    found = data(capsys, "history", "show", "h.duckdb")
    assert [point["at"] for point in found["points"]] == ["v0", "v1", "v2", "v3", "v4", "v5"]
    assert [point["anchored"] for point in found["points"]] == [True] * 5 + [False]
    assert found["points"][4]["level_ns"] == found["points"][5]["level_ns"]
    (anchor,) = found["anchors"]
    assert (anchor["at"], anchor["before"], anchor["after"]) == ("v4", "testbed 1", "testbed 2")
    assert anchor["ratio"] > 1
    assert [each["at"] for each in found["changes"]] == ["v3"]
    for at, name in (("v6", "worse"), ("v7", "last")):
        assert run(["history", "add", "h.duckdb", f"{name}.boot", "--at", at]) == 0
    total = [row for row in data(capsys, "history", "regressions", "h.duckdb")["regressions"] if row["kind"] == "total"]
    assert {row["at"] for row in total} == {"v3", "v6"}
    assert run(["history", "show", "h.duckdb"]) == 0
    assert "scaled by" in " ".join(capsys.readouterr().out.split())


def test_another_kernel_under_the_same_label_is_no_anchor(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(qemu(slower(place, "k.boot", PHASE, 0), "2"), digests={"kernel": "5" * 64})
    assert run(["history", "add", "h.duckdb", "k.boot", "--at", "v4"]) == 0
    found = data(capsys, "history", "show", "h.duckdb")
    assert (found["anchors"], found["left_out"], len(found["points"])) == ([], 5, 1)
    assert found["testbed"] == "testbed 2"
    assert len(data(capsys, "history", "show", "h.duckdb", "--testbed", "1")["points"]) == 5
    assert run(["history", "show", "h.duckdb", "--testbed", "7"]) == 2
    assert "`testbed 1`, `testbed 2`" in capsys.readouterr().err


def two_testbeds(place: Path, ratios: list[float]) -> None:
    """A history of labels that two builds of QEMU booted in turns; the second takes so many times as long."""
    total = take_sample(open_boot(make_bundle(place, name="template.boot"))).virtual_ns
    for number, ratio in enumerate(ratios):
        slower(place, f"old{number}.boot", PHASE, number)
        qemu(slower(place, f"new{number}.boot", PHASE, round(total * (ratio - 1)) + number), "1")
        for side in ("old", "new"):
            assert run(["history", "add", "two.duckdb", f"{side}{number}.boot", "--at", f"c{number}"]) == 0


@pytest.mark.parametrize("ratios", [[1.2] * 4 + [1.165] * 4, [1.2, 1.165] * 4])
def test_testbeds_that_contradict_each_other_are_named_and_not_chained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ratios: list[float]
) -> None:
    monkeypatch.chdir(tmp_path)
    two_testbeds(tmp_path, ratios)
    found = data(capsys, "history", "show", "two.duckdb")
    assert (found["testbed"], found["anchors"], found["left_out"]) == ("testbed 2", [], 8)
    (text,) = found["contradictions"]
    assert text.startswith("testbed 1 and testbed 2 contradict each other: the ratio of their totals is 1.")
    assert "1.165" in text
    assert data(capsys, "history", "regressions", "two.duckdb")["contradictions"] == [text]
    assert run(["history", "regressions", "two.duckdb", "--fail"]) == 5
    printed = capsys.readouterr()
    assert "contradict each other" in printed.out
    assert "`--testbed 2`, `--testbed 1`" in printed.err
    assert run(["history", "regressions", "two.duckdb", "--fail", "--testbed", "1"]) == 0


def test_a_lasting_step_of_one_of_two_testbeds_is_not_hidden_by_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(8):
        slower(tmp_path, f"old{number}.boot", PHASE, 90_000_000 * (number > 3))
        qemu(slower(tmp_path, f"new{number}.boot", PHASE, 500_000_000), "1")
        for side in ("old", "new"):
            assert run(["history", "add", "two.duckdb", f"{side}{number}.boot", "--at", f"c{number}"]) == 0
    assert run(["history", "regressions", "two.duckdb", "--fail"]) == 5
    assert run(["history", "regressions", "two.duckdb", "--fail", "--testbed", "1"]) == 3


def test_testbeds_that_agree_are_chained_by_all_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    two_testbeds(tmp_path, [1.2, 1.2005, 1.1995, 1.2])
    found = data(capsys, "history", "show", "two.duckdb")
    assert (found["contradictions"], found["unequal"], found["left_out"]) == ([], [], 0)
    assert found["anchors"][0]["ratio"] == pytest.approx(1.2, abs=1e-4)
    assert run(["history", "show", "two.duckdb"]) == 0
    assert "the median of 4 anchors, the newest at c3" in " ".join(capsys.readouterr().out.split())
    assert run(["history", "regressions", "two.duckdb", "--fail"]) == 0


def test_a_single_label_that_strays_is_no_contradiction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    two_testbeds(tmp_path, [1.2, 1.2, 1.25, 1.2, 1.2, 1.2])
    found = data(capsys, "history", "show", "two.duckdb")
    assert (found["contradictions"], round(found["anchors"][0]["ratio"], 4)) == ([], 1.2)


def test_boots_with_other_inputs_do_not_change_the_ratio_of_an_anchor(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newer testbed booted the label twice; one of the boots has another kernel and takes longer."""
    qemu(slower(place, "same.boot", PHASE, 3_000_000), "1")
    change(qemu(slower(place, "other.boot", PHASE, 900_000_000), "1"), digests={"kernel": "5" * 64})
    assert run(["history", "add", "h.duckdb", "same.boot", "other.boot", "--at", "v4"]) == 0
    assert data(capsys, "history", "show", "h.duckdb")["anchors"][0]["ratio"] == 1.0


def test_every_label_whose_boots_differ_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(7):
        for by in (0, 5_000_000):
            slower(tmp_path, f"{number}-{by}.boot", PHASE, by + number)
            assert run(["history", "add", "h.duckdb", f"{number}-{by}.boot", "--at", f"v{number}"]) == 0
    assert run(["history", "show", "h.duckdb"]) == 0
    assert "v4 and 2 more" in " ".join(capsys.readouterr().out.split())
