"""Models of boards: fitted to an exact experiment and one in simulated time, and what they predict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from simulated_board import SimulatedBoard
from simulated_progress import Silent

import firstlight
from answers import data_of_answer
from bundles import make_bundle
from experiments import make_experiment, set_length
from firstlight.cli.main import run
from firstlight.experiment.board_runner import run_on_board
from firstlight.experiment.plan import parse_plan
from firstlight.experiment.schedule import prepare_plan
from firstlight.lab.board.board import Arm
from firstlight.stats.board_model import KnownChange, fit_costs

MS = 1_000_000
BASE = 2000 * MS
#: Of each arm, how much longer its exact boot takes, in milliseconds.
CHANGES = {f"c{number}": change for number, change in enumerate([-900, -600, -400, -250, 200, 350, 500, 700, 1000])}
ARMS = "".join(f'[[arm]]\nname = "{name}"\nappend = "{name}"\n' for name in CHANGES)
PLAN = f'[[arm]]\nname = "base"\n{ARMS}'


def duration(arm: Arm) -> float:
    return 4000.0 + 2.0 * CHANGES.get(arm.append, 0)


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")

    def length(levels: object, cell: str, repeat: int) -> int:
        return BASE + CHANGES.get(cell, 0) * MS

    make_experiment(folder, f"canary = false\n{PLAN}", length, name="exact")
    text = f'board = "lab.toml"\nrepeats = 4\nseed = 1\n{PLAN}'
    board = SimulatedBoard(duration, 3, outliers=0.0, drift=0.0)
    run_on_board(prepare_plan(parse_plan(text, "p.toml"), text, folder / "board.toml", board=board), Silent())
    return folder


def test_a_model_of_a_board_predicts_a_change_that_it_was_not_fitted_to(
    experiments: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "board.model"
    words = ["calibrate", str(experiments / "exact"), "--board", str(experiments / "board"), "-o", str(model)]
    assert run(words) == 0
    assert "instruction" in capsys.readouterr().out
    found = json.loads(model.read_text())
    assert found["model"]["changes"] == len(CHANGES)
    assert found["model"]["prices"]["instructions"] == pytest.approx(2.0, rel=0.1)
    changed = make_bundle(tmp_path, name="changed.boot")
    set_length(changed, BASE + 800 * MS)
    assert run(["predict", str(changed), "--board-model", str(model), "--json"]) == 0
    said = data_of_answer(capsys.readouterr().out)
    assert said["low_ns"] < 1600 * MS < said["high_ns"]
    assert said["high_ns"] - said["low_ns"] < 1600 * MS
    assert run(["predict", str(changed), "--from", str(changed), "--board-model", str(model)]) == 0
    assert "0 ns on lab.toml" in capsys.readouterr().out
    assert run([*words, "--json"]) == 1
    assert "this path already exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["calibrate", "{board}", "--board", "{board}"], "not exact"),
        (["calibrate", "{exact}", "--board", "{exact}"], "not run on a board"),
        (["calibrate", "{exact}", "--board", "{board}", "--pairs", "12"], "`--board` cannot be combined"),
        (["predict", "{exact}/base/1.boot", "--board-model", "{exact}/plan.toml"], "not a model of a board"),
        (["predict", "{exact}/base/1.boot", "--board-model", "{exact}/none"], "cannot be read"),
        (["predict", "{exact}/base/1.boot", "--board-model", "{damaged}"], "the model is damaged: `board`"),
    ],
)
def test_what_makes_no_model(
    experiments: Path, tmp_path: Path, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.model"
    damaged.write_text('{"kind": "board_model"}')
    places = {"exact": experiments / "exact", "board": experiments / "board", "damaged": damaged}
    assert run([word.format(**places) for word in words]) in (1, 2, 66)
    assert complaint in capsys.readouterr().err


def test_a_boot_of_a_board_cannot_be_predicted_from(
    experiments: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "a.model"
    firstlight.calibrate_board(experiments / "exact", experiments / "board", output=model)
    assert run(["predict", str(experiments / "board/base/1.boot"), "--board-model", str(model)]) == 2
    assert "starts from exact boots" in capsys.readouterr().err


def test_costs_that_no_change_has_are_named_and_prices_are_not_negative() -> None:
    known = [
        KnownChange(name=str(n), exact={"instructions": 1e6 * n, "wait_ns": 0.0}, board_ns=-1e6 * n, error_ns=1e4)
        for n in range(1, 9)
    ]
    model = fit_costs(known)
    assert model.prices == {"instructions": 0.0}
    assert model.predict({"instructions": 1.0, "wait_ns": 5.0}).beyond == ["wait_ns"]
