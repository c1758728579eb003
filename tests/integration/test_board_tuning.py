"""A tuning on a board in simulated time: planted effects, one remedy that hangs the board, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated_board import SimulatedBoard
from simulated_progress import Silent

from answers import data_of_answer
from firstlight.advise.tuning.on_board import tune_on_board
from firstlight.advise.tuning.remedy import Remedy, read_remedies
from firstlight.cli.main import run
from firstlight.errors import UsageError
from firstlight.lab.board.board import Arm

#: What words change of 4 s, in milliseconds.
EFFECTS = {"fast": -400.0, "faster": -250.0, "slow": 300.0, "nothing": 0.0, "none": 0.0}


def duration(arm: Arm) -> float:
    return 4000.0 + sum(EFFECTS.get(word, 0.0) for word in arm.append.split())


def remedies() -> list[Remedy]:
    return [
        Remedy.model_validate(
            {
                "id": word,
                "title": word,
                "layer": "cmdline",
                "change": {"append": word},
                "risk": "low",
                "takes-away": "Nothing.",
            }
        )
        for word in EFFECTS
    ]


def test_planted_effects_are_kept_and_confirmed(tmp_path: Path) -> None:
    board = SimulatedBoard(duration, 1, hangs=0.01)
    found = tune_on_board(board, remedies(), tmp_path / "tuning", Silent(), blocks=4, pairs=8, seed=1)
    assert set(found.append.split()) == {"fast", "faster"}
    assert found.verdict == "improvement"
    assert found.low_percent is not None
    assert found.high_percent is not None
    assert found.low_percent < -650 / 4000 * 100 < found.high_percent < 0
    tried = {each.remedy: each for each in found.tried}
    assert tried["slow"].percent > 5
    assert abs(tried["nothing"].percent) < 1
    assert [each.kept for each in found.tried].count(True) == 2
    # The same command goes on: nothing is left to boot.
    again = SimulatedBoard(duration, 2)
    assert tune_on_board(again, remedies(), tmp_path / "tuning", Silent(), blocks=4, pairs=8, seed=1) == found
    assert again.boots == 0


def test_what_is_not_tried_is_named_and_a_board_needs_a_hook(tmp_path: Path) -> None:
    board = SimulatedBoard(lambda arm: 4000.0, 1)
    every = [*remedies(), *(each for each in read_remedies().remedy if each.layer != "cmdline")]
    found = tune_on_board(board, every, tmp_path / "a", Silent(), without=["slow", "fast"], pairs=6, seed=1)
    assert found.left_out["slow"] == "`--without slow`"
    assert "a board is tuned by its command line" in found.left_out.values()
    assert (found.append, found.verdict, found.percent) == ("", "nothing kept", None)
    with pytest.raises(UsageError, match="no hook for the command line"):
        tune_on_board(SimulatedBoard(duration, 1, can_append=False), remedies(), tmp_path / "b", Silent())
    with pytest.raises(UsageError, match="fewer than two remedies"):
        tune_on_board(board, remedies()[:1], tmp_path / "c", Silent())


def test_the_command_tunes_a_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "firstlight.advise.tuning.on_board.open_board",
        lambda path: SimulatedBoard(
            lambda arm: 4000.0 - 600.0 * ("panel=fast" in arm.append.split()), 4, name=str(path), outliers=0.0
        ),
    )
    text = "".join(
        f'[[remedy]]\nid = "own-{word[:5]}"\ntitle = "{word}"\nlayer = "cmdline"\nchange = {{append = "{word}"}}\n'
        'risk = "low"\ntakes-away = "Messages."\n'
        for word in ("panel=fast", "frames")
    )
    Path("own.toml").write_text(text)
    banned = [word for each in read_remedies().remedy if each.layer == "cmdline" for word in ("--without", each.id)]
    words = ["tune", "--board", "lab.toml", "--remedies", "own.toml", "--blocks", "4", *banned]
    assert run([*words, "--json"]) == 0
    said = data_of_answer(capsys.readouterr().out)
    assert (said["append"], said["verdict"]) == ("panel=fast", "improvement")
    assert run(words) == 0
    assert "panel=fast" in capsys.readouterr().out
    for more, complaint in (
        (["--goal", "kernel"], "`--goal kernel` is not for boards"),
        (["--allow", "kconfig"], "`--allow` is not for boards"),
        (["minimal"], "give a recipe, or `--board`"),
    ):
        assert run([*words, *more]) == 2
        assert complaint in capsys.readouterr().err
    assert run(["tune", "run"]) == 2
