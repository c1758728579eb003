"""Histories of imported boots whose records do not show when userspace began: no step within the bounds is a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from unsure_boot import boot


def history(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The data of a command."""
    capsys.readouterr()
    assert run(["history", *words, "--json"]) == 0
    found: dict[str, Any] = data_of_answer(capsys.readouterr().out)
    return found


def stepped(directory: Path, by: float, off: float | None) -> str:
    """A history of imported boots in whose second half the first program begins later, by some seconds.

    :param off: how long after its start the first program writes a line; none for never.
    """
    path = str(directory / "h.duckdb")
    for number in range(12):
        user = 2.0 + number % 3 / 1000 + (by if number >= 6 else 0.0)
        program = None if off is None else user + off
        made = boot(directory, f"{number}", user=user, program=program, end=12.0 + number % 2 / 1000)
        assert run(["history", "add", path, str(made.directory), "--at", f"v{number:02}"]) == 0
    return path


@pytest.mark.parametrize(
    ("by", "off", "changes", "uncertain"),
    [(0.2, 0.4, 0, 1), (0.2, None, 0, 1), (1.5, 0.4, 1, 0), (0.2, 0.001, 1, 0)],
    ids=["within-the-bounds", "no-bound", "beyond-the-bounds", "known"],
)
def test_a_step_is_a_change_where_the_bounds_cannot_make_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], by: float, off: float | None, changes: int, uncertain: int
) -> None:
    path = stepped(tmp_path, by, off)
    words = ("show", path, "--kind", "phase", "--name", "userspace")
    found = history(capsys, *words)
    assert [len(found["changes"]), len(found["unsure_changes"])] == [changes, uncertain]
    assert all(change["at"] == "v06" for change in found["changes"] + found["unsure_changes"])
    assert run(["history", *words]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("is not a certain change" in text) == bool(uncertain)
    assert ("no record shows when this phase began or ended" in text) == (off != 0.001)
    if off is None:
        assert found["points"][0]["unsure_ns"] == [12_000_000_000]


def test_what_is_known_of_a_phase_has_no_column_of_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stepped(tmp_path, 0.2, 0.001)
    assert run(["history", "show", path, "--kind", "phase", "--name", "userspace"]) == 0
    assert "Off by up to" not in capsys.readouterr().out
