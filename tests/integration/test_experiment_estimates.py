"""Boots that vary are compared over blocks; a drift from block to block harms nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from answers import data_of_answer
from experiments import make_experiment
from firstlight.cli.main import run
from firstlight.experiment.estimates import estimate_cells, estimate_effects, estimate_interactions, varies
from firstlight.experiment.results import read_results

LIVE = 'mode = "live"\nrepeats = 12\n'
ARMS = LIVE + "".join(f'[[arm]]\nname = "{name}"\n' for name in ("stock", "same", "slower"))
FACTORS = LIVE + "".join(f'[[factor]]\nname = "{name}"\nkind = "command-line"\non = "{name}"\n' for name in "xy")


def noisy(base: float, block: int, cell: str) -> int:
    """A time with 0.2 % of noise and a drift of 3 % a block, the same each time."""
    noise = random.Random(f"{cell}/{block}").gauss(0, 0.002)
    return round(base * (1 + 0.03 * block) * (1 + noise))


def test_arms_are_judged_against_the_first_in_spite_of_a_drift(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    factor = {"stock": 1.0, "same": 1.0, "slower": 1.02}
    path = make_experiment(
        tmp_path, ARMS, lambda levels, name, repeat: noisy(9e8 * factor[name], repeat, name), live=True
    )
    found = estimate_cells(read_results(path))
    assert {name: each.word for name, each in found.items()} == {"same": "equivalent", "slower": "regression"}
    low, high = found["slower"].interval_percent or (0, 0)
    assert low < 2.0 < high
    assert found["slower"].blocks == 12
    run(["experiment", "show", str(path), "--json"])
    data = data_of_answer(capsys.readouterr().out)
    assert data["exact"]["varies"] is True
    assert [cell["judged"] and cell["judged"]["word"] for cell in data["cells"]] == [None, "equivalent", "regression"]


def test_a_block_with_a_failed_boot_is_left_out_pairwise(tmp_path: Path) -> None:
    path = make_experiment(
        tmp_path, ARMS,
        lambda levels, name, repeat: None if (name, repeat) == ("slower", 3) else noisy(9e8, repeat, name), live=True,
    )  # fmt: skip
    found = estimate_cells(read_results(path))
    assert (found["same"].blocks, found["slower"].blocks) == (12, 11)


def test_effects_and_interactions_have_intervals(tmp_path: Path) -> None:
    def length(levels: dict[str, str], name: str, repeat: int) -> int:
        faster = 0.97 if levels["x"] == "on" else 1.0
        both = 0.98 if levels["x"] == levels["y"] == "on" else 1.0
        return noisy(9e8 * faster * both, repeat, name)

    results = read_results(make_experiment(tmp_path, FACTORS, length, live=True))  # type: ignore[arg-type]
    effects = estimate_effects(results)
    assert effects["x", "on"].word == "improvement"
    (both,) = estimate_interactions(results).values()
    assert both.interval_percent is not None
    assert both.interval_percent[0] < -2.0 < both.interval_percent[1] < 0


def test_too_few_blocks_settle_nothing_and_say_how_many_are_lacking(tmp_path: Path) -> None:
    plan = ARMS.replace("repeats = 12", "repeats = 4")
    path = make_experiment(tmp_path, plan, lambda levels, name, repeat: noisy(9e8, repeat, name), live=True)
    found = estimate_cells(read_results(path))["same"]
    assert (found.word, found.interval_percent) == ("inconclusive", None)
    assert "at least 2 more blocks are needed" in found.advice


def test_exact_boots_are_judged_by_no_statistics(tmp_path: Path) -> None:
    plan = ARMS.replace('mode = "live"\n', "")
    results = read_results(make_experiment(tmp_path, plan, lambda levels, name, repeat: 900_000_000))
    assert not varies(results)
