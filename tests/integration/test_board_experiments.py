"""Experiments on a board: blocks, warm-up, events, resuming; in simulated time, and once on the emulated board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from simulated_board import SimulatedBoard
from simulated_progress import Silent

import firstlight
from answers import data_of_answer
from emulated_board import Board, emulated
from firstlight.cli.main import run
from firstlight.errors import FirstlightError, LabError
from firstlight.experiment.board_runner import run_on_board
from firstlight.experiment.estimates import estimate_cells
from firstlight.experiment.plan import parse_plan
from firstlight.experiment.plan_parser import PlanError
from firstlight.experiment.results import Results, read_results
from firstlight.experiment.schedule import prepare_plan
from firstlight.lab.board.board import Arm

PLAN = """\
board = "lab.toml"
repeats = 8
seed = 1
arm = [{name = "before"}, {name = "after", append = "slow"}]
"""


def duration(arm: Arm) -> float:
    return 2500.0 if arm.append else 2000.0


def boot(folder: Path, board: SimulatedBoard, plan: str = PLAN) -> Results:
    prepared = prepare_plan(parse_plan(plan, "plan.toml"), plan, folder / "plan.toml", board=board)
    run_on_board(prepared, Silent())
    return read_results(folder / "plan")


def test_arms_are_booted_in_blocks_after_a_warm_up_and_the_change_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = SimulatedBoard(duration, 1)
    results = boot(tmp_path, board)
    assert board.boots == 17
    assert board.closed
    assert [len(cell.counted) for cell in results.cells] == [8, 8]
    found = estimate_cells(results)["after"]
    assert found.word == "regression"
    assert found.interval_percent is not None
    assert found.interval_percent[0] < 500 / 2300 * 100 < found.interval_percent[1]
    facts = firstlight.open(tmp_path / "plan/after/3.boot").fact_values()
    assert (facts["capture.arm"], facts["capture.block"]) == ("after", "3")
    assert (tmp_path / "plan/warm-up/1.boot").is_dir()
    # The directories of the arms are in turns for `compare`, too: the captures have the order.
    assert run(["compare", str(tmp_path / "plan/before"), str(tmp_path / "plan/after"), "--json"]) == 0
    assert data_of_answer(capsys.readouterr().out)["comparisons"][0]["paired"]


def test_an_experiment_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Broken(SimulatedBoard):
        def capture(self, path: Path, about: object) -> object:  # type: ignore[override]
            if self.boots == 6:
                raise KeyboardInterrupt
            return super().capture(path, about)  # type: ignore[arg-type]

    with pytest.raises(KeyboardInterrupt):
        boot(tmp_path, Broken(duration, 1))
    there = sorted(tmp_path.glob("plan/[ab]*/*.boot"))
    assert len(there) == 5
    before = {path: path.stat().st_ino for path in there}
    board = SimulatedBoard(duration, 2)
    results = boot(tmp_path, board)
    assert board.boots == 1 + 16 - 5
    assert [len(cell.counted) for cell in results.cells] == [8, 8]
    assert {path: path.stat().st_ino for path in there} == before


def test_hangs_are_events_that_the_results_name(tmp_path: Path) -> None:
    results = boot(tmp_path, SimulatedBoard(duration, 5, hangs=0.4))
    events = [json.loads(line) for line in (tmp_path / "plan/events.jsonl").read_text().splitlines()]
    lost = [event for event in events if not event["came_up"] and not event["bundle"].startswith("warm-up")]
    assert 0 < len(lost) < 8
    assert sum(len(cell.counted) for cell in results.cells) == 16 - len(lost)
    reasons = [boot.excluded for cell in results.cells for boot in cell.boots if boot.excluded]
    assert set(reasons) == {"the boot failed (never_ready): no line matched `ready` in time (3 power cycles)"}
    assert any("did not come up" in note for note in results.notes)
    assert any("more than one power cycle" in note for note in results.notes)


def test_a_board_that_dies_keeps_what_was_booted(tmp_path: Path) -> None:
    class Dying(SimulatedBoard):
        def capture(self, path: Path, about: object) -> object:  # type: ignore[override]
            if self.boots >= 6:
                raise LabError("no permission to read the port", where="/dev/ttyUSB0")
            return super().capture(path, about)  # type: ignore[arg-type]

    with pytest.raises(LabError, match=r"6 times in a row: .*no permission"):
        boot(tmp_path, Dying(duration, 1))
    assert len(list(tmp_path.glob("plan/[ab]*/*.boot"))) == 5
    assert [len(cell.counted) for cell in boot(tmp_path, SimulatedBoard(duration, 1)).cells] == [8, 8]


@pytest.mark.parametrize(
    ("plan", "complaint"),
    [
        (PLAN + 'mode = "exact"', "boots of a board vary"),
        (PLAN.replace('board = "lab.toml"', "warm-up = 2"), "`warm-up` needs a `board`"),
        (PLAN.replace('append = "slow"', 'memory = "1G"'), "a board has no `memory`"),
        (PLAN + '[base]\nready = "login"', "a board has no `ready`"),
    ],
)
def test_a_plan_that_no_board_can_run(tmp_path: Path, plan: str, complaint: str) -> None:
    if "mode" in plan:
        lines = plan.splitlines()
        plan = "\n".join([lines[-1], *lines[:-1]])
    with pytest.raises(PlanError, match=complaint):
        boot(tmp_path, SimulatedBoard(duration, 1), plan)


def test_a_board_without_a_hook_cannot_run_it(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="no hook for the command line"):
        boot(tmp_path, SimulatedBoard(duration, 1, can_append=False))


def test_the_command_runs_a_plan_on_the_emulated_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("repeats = 8", "repeats = 2"))
    with emulated(Board(loader=True)) as board:
        board.file(tmp_path / "lab.toml")
        assert run(["experiment", "run", str(plan), "--dry-run", "--json"]) == 0
        assert len(data_of_answer(capsys.readouterr().out)["boots"]) == 4
        assert board.power_ons == 0
        assert run(["experiment", "run", str(plan), "--json"]) == 0
    cells = data_of_answer(capsys.readouterr().out)["cells"]
    assert [cell["name"] for cell in cells] == ["before", "after"]
    assert board.typed.count(b"slow") == board.typed.count(b"boot\n") >= 2
