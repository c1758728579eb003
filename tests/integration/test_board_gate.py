"""A gate on a board in simulated time: checked boots, fresh pairs, boots that do not come up."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated_board import Duration, SimulatedBoard

import firstlight
from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.experiment.boards.record import record_boots
from firstlight.lab.board.board import Arm
from firstlight.lab.host.progress import SilentProgress


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    record_boots(
        SimulatedBoard(lambda arm: 2000.0, 1, name="lab.toml"), tmp_path / "base", repeat=12, warm_up=1, append="",
        kernel=None, initrd=None, rootfs=None, arm="baseline", force=False, progress=SilentProgress(),
    )  # fmt: skip
    firstlight.set_baseline([tmp_path / "base"], because="the first one")
    return tmp_path


def use(monkeypatch: pytest.MonkeyPatch, duration: Duration, *, hangs: float = 0.0, hooks: bool = True) -> None:
    seeds = iter(range(2, 100))
    monkeypatch.setattr(
        "firstlight.lab.board.open.open_board",
        lambda path: SimulatedBoard(
            duration, next(seeds), name=str(path), hangs=hangs, can_deploy=hooks, can_append=hooks
        ),
    )


def slow(arm: Arm) -> float:
    return 2300.0 if arm.name == "measured" else 2000.0


def test_a_regression_on_a_board_is_confirmed_by_pairs(
    baseline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, slow)
    assert run(["gate", "--board", "lab.toml", "--confirm", "--pairs", "8", "--keep", "boots", "--json"]) == 3
    said = data_of_answer(capsys.readouterr().out)
    assert said["verdict"] == "regression"
    assert "8 new pairs on the board in random order" in said["confirmation"]["text"]
    assert len(list((baseline / "boots").glob("*.boot"))) == 12
    assert len(list((baseline / "boots/confirm").glob("*.boot"))) == 16


def test_an_alarm_that_no_pair_confirms_is_inconclusive(
    baseline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The lab became warmer since the baseline: both arms are slower.
    use(monkeypatch, lambda arm: 2300.0)
    assert run(["gate", "--board", "lab.toml", "--confirm", "--pairs", "8", "--strict", "--json"]) == 5
    said = data_of_answer(capsys.readouterr().out)
    assert "no alarm is confirmed" in said["confirmation"]["text"]


def test_without_a_hook_nothing_says_how_the_baseline_boots(
    baseline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, lambda arm: 2300.0, hooks=False)
    assert run(["gate", "--board", "lab.toml", "--confirm", "--json"]) == 0
    said = data_of_answer(capsys.readouterr().out)
    assert said["verdict"] == "inconclusive"
    assert "no `deploy` hook" in said["confirmation"]["text"]


def test_equal_boots_pass(baseline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, lambda arm: 2000.0)
    assert firstlight.run_gate(board="lab.toml").verdict in ("pass", "inconclusive")


def test_a_board_that_hangs_is_unhealthy(
    baseline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, lambda arm: 2000.0, hangs=0.7)
    assert run(["gate", "--board", "lab.toml", "--json"]) == 4
    said = data_of_answer(capsys.readouterr().out)
    assert any("no line matched `ready` in time (3 power cycles)" in check["text"] for check in said["checks"])
    assert any("hung for 120 s" in flag for flag in said["flags"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["gate"], "give boots, or `--board`"),
        (["gate", "base", "--board", "lab.toml"], "give boots, or `--board`"),
        (["gate", "base", "--append", "quiet"], "`--append` needs `--board`"),
    ],
)
def test_boots_or_a_board(baseline: Path, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert complaint in capsys.readouterr().err
