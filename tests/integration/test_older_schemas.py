"""Bundles, baselines, bands and histories that schema 1 and 2 wrote give the answers of the present schema.

`tests/fixtures` has what an earlier version wrote: `recorded` is the invented boot of `older_bundles`, the others were
imported from the records below their `raw`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import firstlight
from firstlight.bundle.older import HandOver, present_spans
from firstlight.cli.main import run
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.experiment.calibrate.file import read_band
from firstlight.history.history import SCHEMA as HISTORY
from firstlight.schema.aliases import PHASE_ALIASES
from older_bundles import make_recorded_in_words_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
IMPORTED = {
    "handed-over": ["serial.log", "show.txt"],
    "alone": ["dmesg.txt"],
    "debian": ["debian.txt", "debian-show.txt"],
    "quiet": ["quiet.txt", "deferred"],
}
VERBS = (["show"], ["functions"], ["initcalls"], ["devices"], ["units"], ["path"], ["log"])
PHASES = {
    "handed-over": ["firmware", "early_init", "initcalls", "free_init_memory", "initramfs", "switch_root", "userspace"],
    "alone": ["early_init", "initcalls", "free_init_memory", "userspace"],
    "debian": ["early_init", "initcalls", "free_init_memory", "initramfs", "userspace"],
    "quiet": ["early_init", "initcalls", "free_init_memory", "userspace"],
}


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the data of a command; when a boot was recorded or imported is left out."""
    code = run([*words, "--json"])
    data = json.loads(capsys.readouterr().out)
    if isinstance(data.get("data"), dict):
        # When it was stored, and the digests of the files: these differ.
        for name in ("recorded_at", "tables", "reproduce"):
            data["data"].pop(name, None)
        # Earlier versions recorded no slices of time.
        for name in ("slices_sum_to_tree", "slices_sum_to_phases"):
            data["data"].get("invariants", {}).pop(name, None)
    return code, data


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded boot, in folders by the schema version that it is stored with; the present one is here."""
    for schema in (1, 2):
        shutil.copytree(FIXTURES / f"schema-{schema}" / "recorded", tmp_path / str(schema) / "a.boot")
    (tmp_path / "3").mkdir()
    make_recorded_in_words_of(3, tmp_path / "3")
    monkeypatch.chdir(tmp_path / "3")
    return tmp_path


@pytest.mark.parametrize("words", [*VERBS, ["functions", "--phase", "user_land"], ["functions", "--tree"]])
def test_a_recorded_boot_gives_the_same_answers(
    words: list[str], stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = answer([words[0], "a.boot", *words[1:]], capsys)
    monkeypatch.chdir(stored / "2")
    then = answer([words[0], "a.boot", *words[1:]], capsys)
    assert then == now
    assert '"user_land"' not in json.dumps(then[1]["data"])


@pytest.mark.parametrize("words", [["show"], ["functions"], ["functions", "--phase", "user_land"]])
def test_the_first_schema_has_the_same_figures(
    words: list[str], stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, now = answer([words[0], "a.boot", *words[1:]], capsys)
    monkeypatch.chdir(stored / "1")
    _, then = answer([words[0], "a.boot", *words[1:]], capsys)
    if words == ["show"]:
        for figures in ("phases", "marks", "totals"):
            assert then["data"][figures] == now["data"][figures], figures
    else:
        assert [row | {"doubtful_calls": None, "doubtful_share": None} for row in now["data"]] == [
            row | {"doubtful_calls": None, "doubtful_share": None} for row in then["data"]
        ]
    assert '"user_land"' not in json.dumps(then["data"])


def without_bounds(said: tuple[int, Any]) -> tuple[int, Any]:
    """An answer without what an import says today of when userspace began."""
    code, answer = said
    data = answer.get("data")
    if isinstance(data, dict) and "marks" in data:
        marks = [row for row in data["marks"] if row["mark"] != "user_start"]
        bounds = {"grade": None, "reason": None, "unsure_ns": None}
        phases = [row | bounds for row in data["phases"]]
        answer = answer | {"data": data | {"marks": marks, "phases": phases}}
    return code, answer


@pytest.mark.parametrize("words", VERBS)
@pytest.mark.parametrize("name", IMPORTED)
def test_an_imported_boot_gives_the_answers_of_one_that_is_imported_now(
    name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    then, now = tmp_path / "then" / "a.boot", tmp_path / "now"
    shutil.copytree(FIXTURES / "schema-2" / name, then)
    shutil.copytree(then / "raw", now)
    monkeypatch.chdir(now)
    assert run(["import", *IMPORTED[name], "-o", "a.boot"]) == 0
    capsys.readouterr()
    new = answer([words[0], "a.boot", *words[1:]], capsys)
    assert firstlight.open("a.boot").phases()["phase"].to_list() == PHASES[name]
    monkeypatch.chdir(then.parent)
    old = answer([words[0], "a.boot", *words[1:]], capsys)
    assert without_bounds(old) == without_bounds(new)


@pytest.mark.parametrize("schema", [1, 2])
def test_a_comparison_with_the_present_schema_shows_no_change(schema: int, stored: Path) -> None:
    difference = firstlight.compare(stored / str(schema) / "a.boot", "a.boot").evidence
    assert isinstance(difference, ExactDifference)
    assert difference.whole.change_ns == 0
    assert not any(level.changed for level in difference.levels)
    assert difference.is_equal == (schema == 2)


def test_an_old_baseline_passes_the_same_boot(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(FIXTURES / "schema-2" / "baseline.json", "baseline.json")
    rules = '[phase.user_land]\nsoft = "1 %"\n[budget]\ngoal = "2 s"\nphases = { user_land = "1 s" }\n'
    Path("gate.toml").write_text(rules)
    code, document = answer(["gate", "a.boot", "--baseline", "baseline.json", "--rules", "gate.toml"], capsys)
    assert code == 0
    text = json.dumps(document["data"])
    assert "userspace" in text
    assert "user_land" not in text
    assert all(phase["change_ns"] == 0 for phase in document["data"]["phases"])


def test_an_old_history_goes_on_with_the_present_names(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = json.loads((FIXTURES / "schema-2" / "history.json").read_text())
    with duckdb.connect("boots.duckdb") as connection:
        connection.execute(HISTORY)
        connection.execute("ALTER TABLE boots DROP COLUMN recipe_key")
        for table, rows in kept.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    assert run(["history", "add", "boots.duckdb", "a.boot", "--at", "v2"]) == 0
    capsys.readouterr()
    for name in ("userspace", "user_land"):
        code, document = answer(["history", "show", "boots.duckdb", "--kind", "phase", "--name", name], capsys)
        points = document["data"]["points"]
        assert (code, [point["at"] for point in points]) == (0, ["v1", "v2"])
        assert points[0]["level_ns"] == points[1]["level_ns"]


def test_an_old_noise_band_judges_the_present_names(stored: Path) -> None:
    band = read_band(FIXTURES / "schema-2" / "band.json")
    assert not isinstance(band, Calibration)
    assert (band.kind, [row.name for row in band.levels["phases"]]) == ("noise_band", ["userspace"])
    assert band.check(firstlight.open("a.boot").manifest, "a.boot") is None


def test_what_a_guest_left_is_found_in_both_folders(stored: Path) -> None:
    for schema in ("1", "2", "3"):
        assert firstlight.open(stored / schema / "a.boot").kept("note") == b"left by the guest\n"


def test_neighbours_of_one_name_become_one_phase_and_their_spans_stay_in_it() -> None:
    boot = firstlight.open(FIXTURES / "schema-2" / "alone")
    spans = boot.spans()
    phases = spans.filter(spans["kind"] == "phase")
    assert phases["end_ns"][:-1].to_list() == phases["start_ns"][1:].to_list()
    assert spans["span"].is_unique().all()
    assert set(spans["parent"].drop_nulls()) <= set(spans["span"])
    assert present_spans(spans, HandOver.of([])).equals(spans)
    assert not set(phases["name"]) & set(PHASE_ALIASES)
