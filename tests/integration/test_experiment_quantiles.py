"""Quantiles of experiments whose boots vary: each cell against the first, in the terminal, as data and on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import make_experiment
from firstlight.cli.main import run
from firstlight.experiment.quantiles import cell_quantiles
from firstlight.experiment.results import read_results
from firstlight.render.page.experiment import experiment_page_data

PLAN = """
mode = "live"
repeats = 32
seed = 1
[[arm]]
name = "A"
append = "a"
[[arm]]
name = "B"
append = "b"
[[arm]]
name = "same"
append = "c"
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """32 blocks; every fourth boot of B is 10 % slower, so that its median stays and its p95 does not."""

    def length(levels: object, name: str, repeat: int) -> int:
        noise = (repeat * 7 % 11 - 5) * 100_000 + (repeat * 13 % 7) * 10_000
        return 800_000_000 + noise + (80_000_000 if name == "B" and repeat % 4 == 0 else 0)

    return make_experiment(tmp_path_factory.mktemp("quantiles"), PLAN, length, name="varying", live=True)


def _data(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["experiment", "show", *words, "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)["data"]
    return data


def test_a_slow_tail_is_a_regression_of_p95_and_not_of_the_median(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = _data(capsys, str(experiment), "--quantile", "p50", "--quantile", "p95")
    words = {(row["cell"], row["statistic"]): row["word"] for row in data["quantiles"]}
    assert words == {("B", "p50"): "equivalent", ("B", "p95"): "regression",
                     ("same", "p50"): "equivalent", ("same", "p95"): "equivalent"}  # fmt: skip
    b = next(row for row in data["quantiles"] if (row["cell"], row["statistic"]) == ("B", "p95"))
    assert b["change"]["percent"] > 5
    assert _data(capsys, str(experiment))["quantiles"] == []


def test_more_cells_make_p_larger_and_intervals_wider(experiment: Path) -> None:
    results = read_results(experiment)
    fewer = results.__class__(**{**results.__dict__, "cells": results.cells[:2]})
    (alone,) = cell_quantiles(fewer, ["p95"])
    among = cell_quantiles(results, ["p95"])[0]
    assert alone.found.change is not None
    assert among.found.change is not None
    assert (among.found.adjusted_p or 0) >= (alone.found.adjusted_p or 0)
    assert among.found.change.low_percent <= alone.found.change.low_percent


def test_the_terminal_has_a_row_for_each_statistic(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "show", str(experiment), "--quantile", "p95", "--quantile", "slow-share"]) == 0
    printed = capsys.readouterr().out
    assert "Quantiles" in printed
    assert sum(line.startswith("B ") and ("p95" in line or "slow-share" in line) for line in printed.splitlines()) == 2


def test_csv_is_the_table_of_quantiles_if_they_are_asked_for(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["experiment", "show", str(experiment), "--quantile", "p95", "--csv"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("cell,")
    assert [row.partition(",")[0] for row in rows] == ["B", "same"]


def test_the_page_has_all_statistics(experiment: Path) -> None:
    data = experiment_page_data(read_results(experiment))
    assert {row[1] for row in data["tables"]["quantiles"]["rows"]} == {"p50", "p90", "p95", "slow-share"}


def test_an_unknown_statistic_is_rejected_before_anything_boots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    assert run(["experiment", "run", str(tmp_path / "plan.toml"), "--quantile", "p51"]) == 2
    assert "`p51` is not a statistic" in capsys.readouterr().err
    assert not (tmp_path / "plan").exists()
