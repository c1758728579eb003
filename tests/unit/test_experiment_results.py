"""What an experiment's directory says: which boots count, which do not and why, finished or not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from answers import data_of_answer
from experiments import make_experiment
from firstlight.cli.main import run
from firstlight.comparison.known_bands import band_of_recipe
from firstlight.errors import FirstlightError
from firstlight.experiment.plan import parse_plan
from firstlight.experiment.results import read_results
from firstlight.experiment.schedule import unusual_marks

ARMS = '[[arm]]\nname = "stock"\n[[arm]]\nname = "quiet"\nappend = "quiet"\n'
LENGTHS = {"stock": 900_000_000, "quiet": 800_000_000}


def test_each_cell_has_its_time_and_the_change_against_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_experiment(tmp_path, ARMS, lambda levels, name, repeat: LENGTHS[name])
    assert run(["experiment", "show", str(path), "--json"]) == 0
    data = data_of_answer(capsys.readouterr().out)
    assert (data["from"], data["to"]) == ("power_on", "ready")
    assert [(cell["name"], cell["time_ns"], cell["change_ns"]) for cell in data["cells"]] == [
        ("stock", 900_000_000, 0),
        ("quiet", 800_000_000, -100_000_000),
    ]


@pytest.mark.parametrize(("side", "beyond_ns", "accident"), [(1, 0, True), (-1, 0, True), (1, 1, False), (0, 0, False)])
def test_a_change_within_the_noise_band_is_an_accident(
    tmp_path: Path, side: int, beyond_ns: int, accident: bool
) -> None:
    shipped = band_of_recipe(None, has_rootfs=False).total_ns
    change_ns = side * (shipped + beyond_ns)
    lengths = {"stock": 900_000_000, "quiet": 900_000_000 + change_ns}
    notes = read_results(make_experiment(tmp_path, ARMS, lambda levels, name, repeat: lengths[name])).notes
    assert any(note.startswith(f"noise band: {shipped:,} ns (shipped, for the minimal guest") for note in notes)
    said = "the change from `stock` is within the noise band and may be an accident: `quiet`"
    assert (said in notes) is accident


def test_a_boot_that_failed_does_not_count_and_says_why(tmp_path: Path) -> None:
    path = make_experiment(tmp_path, ARMS, lambda levels, name, repeat: None if name == "quiet" else 900_000_000)
    stock, quiet = read_results(path).cells
    assert stock.time == 900_000_000
    assert quiet.time is None
    assert quiet.why_not is not None
    assert quiet.why_not.startswith("the boot failed (panic)")


@pytest.mark.parametrize(
    ("health", "said"),
    [
        ('marks = ["login"]', "mark `login` was not reached"),
        ('units = ["ssh.service"]', "nothing in the evidence says which units failed"),
        ('[health.facts]\n"kernel.release" = "7.0"', "`kernel.release` is `6.1.0-56-cloud-amd64`, not `7.0`"),
        ('[health.facts]\n"module.xfs" = true', "there is no fact `module.xfs`"),
        ('[health.facts]\n"module.*" = false', "there is a fact `module.ext4`"),
        ('[health.facts]\n"module.ext4" = {at-most = 10}', "`module.ext4` is 987136, more than 10"),
        ('[health.facts]\n"kernel.lpj" = {at-least = 5000000}', "`kernel.lpj` is 4000000, less than 5000000"),
        ('[health.facts]\n"clocksource.*" = {matches = "^hpet$"}', "which does not match `^hpet$`"),
        ('[health.facts]\n"kernel.release" = {at-most = 3}', "which is not a whole number"),
        ('[health.facts]\n"nothing.*" = "1"', "there is no fact `nothing.*` like it"),
    ],
)
def test_a_boot_without_the_required_health_does_not_count(tmp_path: Path, health: str, said: str) -> None:
    table = health if health.startswith("[") else f"[health]\n{health}"
    path = make_experiment(tmp_path, ARMS + table, lambda levels, name, repeat: LENGTHS[name])
    for cell in read_results(path).cells:
        assert cell.time is None
        assert said in str(cell.why_not)


def test_what_health_requires_and_finds_changes_nothing(tmp_path: Path) -> None:
    health = '[health]\nmarks = ["ready"]\n[health.facts]\n"device.*" = {same = true}\n"kernel.warnings" = 0\n'
    path = make_experiment(tmp_path, ARMS + health, lambda levels, name, repeat: LENGTHS[name])
    assert [cell.time for cell in read_results(path).cells] == [900_000_000, 800_000_000]


def test_between_the_marks_that_the_plan_names(tmp_path: Path) -> None:
    measure = '[measure]\nfrom = "early_init_start"\nto = "ready"\n'
    path = make_experiment(tmp_path, ARMS + measure, lambda levels, name, repeat: LENGTHS[name])
    results = read_results(path)
    assert results.span == ("early_init_start", "ready")
    assert all(cell.time is not None and cell.time < LENGTHS[cell.name] for cell in results.cells)


def test_a_mark_that_is_not_there_is_a_reason_with_each_boot(tmp_path: Path) -> None:
    path = make_experiment(tmp_path, ARMS + '[measure]\nfrom = "none"', lambda levels, name, repeat: LENGTHS[name])
    assert all(cell.why_not == "no mark `none`" for cell in read_results(path).cells)


def test_a_mark_that_was_mistyped_names_the_nearest_before_and_after_the_boots(tmp_path: Path) -> None:
    plan = ARMS + '[measure]\nfrom = "kernel_strat"\n'
    path = make_experiment(tmp_path, plan, lambda levels, name, repeat: LENGTHS[name])
    assert all("; did you mean `kernel_" in str(cell.why_not) for cell in read_results(path).cells)
    (note,) = unusual_marks(parse_plan(plan, "plan.toml"))
    assert note == "`measure`, `from`: no recording has a mark `kernel_strat` by itself; did you mean `kernel_start`?"
    health = ARMS + '[health]\nmarks = ["user_strat"]\n'
    again = make_experiment(tmp_path, health, lambda levels, name, repeat: LENGTHS[name], name="health")
    assert "mark `user_strat` was not reached; did you mean `user_start`?" in str(read_results(again).cells[0].why_not)
    assert len(unusual_marks(parse_plan(health, "plan.toml"))) == 1
    assert unusual_marks(parse_plan(ARMS + '[measure]\nto = "login"\n', "plan.toml")) == []


def test_an_unfinished_experiment_shows_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_experiment(tmp_path, ARMS, lambda levels, name, repeat: 0 if name == "quiet" else 900_000_000)
    assert run(["experiment", "show", str(path)]) == 0
    said = capsys.readouterr().out
    assert "900.000 ms" in said
    assert "1 boot is missing" in said


def test_of_several_boots_the_mean_is_exact(tmp_path: Path) -> None:
    plan = "repeats = 3\n" + ARMS
    path = make_experiment(tmp_path, plan, lambda levels, name, repeat: LENGTHS[name] + repeat**2)
    assert [cell.time for cell in read_results(path).cells] == [
        900_000_000 + Fraction(14, 3),
        800_000_000 + Fraction(14, 3),
    ]


def test_a_directory_that_is_no_experiment_or_damaged_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FirstlightError, match="no such experiment"):
        read_results(tmp_path / "none")
    with pytest.raises(FirstlightError, match="not an experiment"):
        read_results(tmp_path)
    path = make_experiment(tmp_path, ARMS, lambda levels, name, repeat: LENGTHS[name])
    (path / "experiment.json").write_text('{"schema-version": 99}')
    with pytest.raises(FirstlightError, match="schema version 99"):
        read_results(path)
    healthy = make_experiment(tmp_path, ARMS, lambda levels, name, repeat: LENGTHS[name], name="other")
    (healthy / "plan.toml").write_text(ARMS.replace("quiet", "loud"))
    with pytest.raises(FirstlightError, match="state and its plan do not match: cell `quiet`"):
        read_results(healthy)
    for text in ("{", "[]", '{"schema-version": 1}', "null"):
        (path / "experiment.json").write_text(text)
        with pytest.raises(FirstlightError, match="damaged"):
            read_results(path)
