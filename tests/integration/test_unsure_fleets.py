"""Fleets of imported boots whose records do not show when userspace began: what their phases say, and what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answers import data_of_answer
from firstlight import api
from firstlight.cli.main import run
from firstlight.fleet.boot_rows import boot_rows
from firstlight.fleet.bulk import bulk_rows
from unsure_boot import boot


def shown(capsys: pytest.CaptureFixture[str], fleet: Path, *words: str) -> dict[str, Any]:
    """The data of `fleet show`."""
    capsys.readouterr()
    assert run(["fleet", "show", str(fleet), *words, "--json"]) == 0
    found: dict[str, Any] = data_of_answer(capsys.readouterr().out)
    return found


def two_kernels(directory: Path, later: float, off: float | None) -> Path:
    """A fleet of two kernels; with the second one the first program begins later, by some seconds.

    :param off: how long after its start the first program writes a line; none for never.
    """
    fleet = directory / "fleet"
    api.init_fleet(fleet)
    for kernel, by in (("6.1", 0.0), ("6.2", later)):
        made = []
        for number in range(12):
            user = 2.0 + by + number / 1000
            program = None if off is None else user + off
            made.append(boot(directory, f"{kernel}-{number}", user=user, program=program, end=12.0).directory)
        api.add_to_fleet(fleet, made, {"kernel": kernel})
    return fleet


def test_the_phases_of_a_fleet_say_how_far_each_median_may_be_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = two_kernels(tmp_path, 0.2, 0.4)
    found = shown(capsys, fleet, "phases")
    off = {row["name"]: row["unsure_ns"] for row in found["rows"]}
    assert off == {"total": 0, "kernel": 0, "free_init_memory": 400_001_000, "userspace": 400_001_000}
    assert {row["unsure_boots"] for row in found["rows"] if row["name"] == "userspace"} == {12}
    assert any(note.startswith("unsure: records do not show") for note in found["notes"])
    assert run(["fleet", "show", str(fleet), "phases"]) == 0
    assert "Off by up to" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("later", "off", "verdict"),
    [(0.2, 0.4, "unsure"), (0.2, None, "unsure"), (1.5, 0.4, "slower"), (0.2, 0.001, "slower")],
    ids=["within-the-bounds", "no-bound", "beyond-the-bounds", "known"],
)
def test_a_phase_is_slower_only_where_its_bounds_cannot_make_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], later: float, off: float | None, verdict: str
) -> None:
    fleet = two_kernels(tmp_path, later, off)
    found = shown(capsys, fleet, "regressed")
    verdicts = {row["name"]: row["verdict"] for row in found["rows"]}
    # The kernel until its memory is freed is known, and takes longer; so does what follows, as far as is known.
    assert verdicts["kernel"] == "slower"
    assert verdicts["userspace"] == {"slower": "faster"}.get(verdict, verdict)
    written = api.export_fleet(fleet, "openmetrics", tmp_path / "fleet.prom", between=("6.1", "6.2")).read_text()
    changed = [line for line in written.splitlines() if line.startswith("fleet_part_change_ratio{")]
    assert any('part="userspace"' in line for line in changed) == (verdict != "unsure")


def test_boots_that_are_read_together_have_the_same_bounds(tmp_path: Path) -> None:
    boots = [boot(tmp_path, "a"), boot(tmp_path, "b", program=None), boot(tmp_path, "c", program=2.001)]
    together = bulk_rows([each.directory for each in boots], {})
    assert together.left == []
    alone = pl.concat([boot_rows(each, {}).spans for each in boots])
    order = ["boot", "kind", "name"]
    assert together.spans.sort(order).equals(alone.sort(order))
    bounds = together.spans.filter(pl.col("kind") == "phase_bound")
    assert sorted(bounds["duration_ns"]) == [60_001_000, 60_001_000, 12_000_000_000, 12_000_000_000]


def test_a_fleet_of_known_phases_has_no_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = two_kernels(tmp_path, 0.2, 0.001)
    assert {row["unsure_ns"] for row in shown(capsys, fleet, "phases")["rows"]} == {0}
    assert run(["fleet", "show", str(fleet), "phases"]) == 0
    assert "Off by up to" not in capsys.readouterr().out
