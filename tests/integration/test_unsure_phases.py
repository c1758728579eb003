"""Imported boots whose records do not show when userspace began: how their phases are shown, compared and checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstlight.cli.main import run
from unsure_boot import boot


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The data of a command."""
    capsys.readouterr()
    run([*words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["data"]
    return found


def test_show_marks_both_phases_and_says_between_which_instants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = boot(tmp_path, "a")
    unsure = dict(shown.phases().select("phase", "unsure_ns").iter_rows())
    assert unsure == {"kernel": 0, "free_init_memory": 60_001_000, "userspace": 60_001_000}
    assert run(["show", str(shown.directory)]) == 0
    text = capsys.readouterr().out
    assert "between 2.000000 s and 2.060001 s" in " ".join(text.split())
    assert "< bounded (2): its start or end is inferred" in text


def test_a_bound_within_a_hundredth_is_no_doubt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = boot(tmp_path, "a", program=2.015)
    assert shown.phases()["unsure_ns"].to_list() == [0, 0, 0]
    assert run(["show", str(shown.directory)]) == 0
    assert "bounded" not in capsys.readouterr().out


def test_compare_calls_no_change_certain_that_the_bounds_may_make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def arm(name: str, later: float) -> str:
        (tmp_path / name).mkdir()
        for at in range(8):
            made = boot(tmp_path, f"{name}{at}", user=2.0 + later + at / 1000, program=2.1 + later)
            made.directory.rename(tmp_path / name / f"{at}.boot")
        return str(tmp_path / name)

    def userspace(name: str, later: float) -> dict[str, Any]:
        (found,) = answer(capsys, "compare", before, arm(name, later))["comparisons"]
        (phases,) = (level for level in found["levels"] if level["name"] == "phases")
        (row,) = (row for row in phases["rows"] if row["name"] == "userspace")
        return dict(row)

    before = arm("a", 0.0)
    little, much = userspace("b", 0.05), userspace("c", 0.5)
    assert (little["differs"], much["differs"]) == (False, True)
    assert little["adjusted_p"] < 0.05
    assert little["unsure_ns"] > 150_000_000


@pytest.mark.parametrize(
    ("end", "program", "outcome"),
    [(12.0, 2.06, "pass"), (12.95, 2.06, "inconclusive"), (15.0, 2.06, "regression"), (12.0, None, "inconclusive")],
)
def test_gate_judges_a_phase_at_both_ends_of_what_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    end: float, program: float | None, outcome: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.toml").write_text("[phase.userspace]\nhard = '10.9 s'\n")
    assert run(["bless", str(boot(tmp_path, "a").directory), "--because", "first"]) == 0
    measured = boot(tmp_path, "b", end=end, program=program)
    found = answer(capsys, "gate", str(measured.directory), "--rules", "gate.toml")
    assert {check["name"]: check["outcome"] for check in found["checks"]}["userspace: hard limit"] == outcome
