"""The classic table of stages: A, B, change, C, change, and the change in all."""

from __future__ import annotations

from pathlib import Path

import pytest

from answers import data_of_answer
from experiments import make_experiment
from firstlight.cli.main import run

ARMS = "".join(f'[[arm]]\nname = "{name}"\nappend = "{name}"\n' for name in "ABC")
STAGES = """
[[stage]]
name = "in kernel"
from = "early_init_start"
to = "ready"
[[stage]]
name = "firmware"
from = "power_on"
to = "early_init_start"
of = "in kernel"
"""
# The historical table's last row, in milliseconds instead of tens of them.
BOOTING = {"A": 2_565_000_000, "B": 2_586_000_000, "C": 2_404_000_000}


def show(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `show --stages` prints."""
    assert run(["experiment", "show", str(path), "--stages", *words]) == 0
    return capsys.readouterr().out


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Three arms."""
    return make_experiment(tmp_path, ARMS, lambda levels, name, repeat: BOOTING[name])


def test_changes_stand_behind_each_arm_and_the_whole_change_at_the_end(
    experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    lines = show(experiment, capsys).splitlines()
    head = next(line for line in lines if line.startswith("Stage"))
    assert head.split() == ["Stage", "(s)", "A", "B", "A→B", "%", "C", "B→C", "%", "A→C", "%"]
    last = next(line for line in lines if line.startswith("all"))
    # 100 (not 101), 92 and 93 percent: rounded down, as the historical table has them.
    assert last.split() == [
        "all", "2.565000", "2.586000", "+0.021000", "100%", "2.404000", "-0.182000", "92%", "-0.161000", "93%",
    ]  # fmt: skip
    assert any("rounded down" in line for line in lines)


def test_stages_that_a_plan_names_and_shares_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_experiment(tmp_path, ARMS + STAGES, lambda levels, name, repeat: BOOTING[name])
    data = data_of_answer(show(path, capsys, "--json"))["stages"]
    assert data["percent"] == "trunc(100 * new / old)"
    kernel, firmware, whole = data["rows"]
    for place in range(3):
        assert kernel["times_ns"][place] + firmware["times_ns"][place] == whole["times_ns"][place]
    expected = [100 * part // of for part, of in zip(firmware["times_ns"], kernel["times_ns"], strict=True)]
    assert firmware["shares_percent"] == expected
    assert "(of which firmware)" in show(path, capsys)


def test_csv_has_whole_nanoseconds(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = show(experiment, capsys, "--csv").splitlines()
    assert lines[0] == ("stage,A_ns,B_ns,A_to_B_ns,A_to_B_percent,C_ns,B_to_C_ns,B_to_C_percent,total_ns,total_percent")
    assert lines[-1] == "all,2565000000,2586000000,21000000,100,2404000000,-182000000,92,-161000000,93"


def test_a_narrow_terminal_gets_a_table_for_each_step(
    experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = show(experiment, capsys)
    assert max(map(len, said.splitlines())) <= 60
    heads = [line.split()[2:5] for line in said.splitlines() if line.startswith("Stage ")]
    assert heads == [["A", "B", "A→B"], ["B", "C", "B→C"], ["A", "C", "A→C"]]


def test_markdown_is_a_table_with_the_convention(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = show(experiment, capsys, "--markdown")
    assert "| Stage (s) | A | B | A→B | % | C | B→C | % | A→C | % |" in said
    assert "| all | 2.565000 | 2.586000 | +0.021000 | 100% | 2.404000 | -0.182000 | 92% | -0.161000 | 93% |" in said
    assert "rounded down" in said


def test_what_an_arm_lacks_is_a_dash_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = ARMS + '[[stage]]\nname = "none"\nfrom = "power_on"\nto = "login"\n'
    path = make_experiment(tmp_path, plan, lambda levels, name, repeat: None if name == "B" else BOOTING[name])
    said = show(path, capsys)
    assert "B: the boot failed (panic)" in said
    assert "A, stage none: no mark `login`" in said
    row = next(line for line in said.splitlines() if line.startswith("none"))
    assert row.split() == ["none", "-", "-", "-", "-"]


def test_a_stage_of_what_no_boot_has_is_not_said_to_take_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ARMS + '[[stage]]\nname = "typed"\nfunction = "start_kernal"\n[[stage]]\nname = "call"\ninitcall = "none"\n'
    said = show(make_experiment(tmp_path, plan, lambda levels, name, repeat: BOOTING[name]), capsys)
    assert "stage typed: no boot has function `start_kernal`; did you mean `start_kernel`?" in " ".join(said.split())
    assert "stage call: no boot has initcall `none`" in said
    assert next(line for line in said.splitlines() if line.startswith("typed")).split()[1] == "-"


def test_one_form_of_data_at_a_time(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "show", str(experiment), "--csv", "--json"]) == 2
    assert run(["experiment", "show", str(experiment), "--stages", "--shares"]) == 2
    assert run(["experiment", "show", str(experiment), "--shares", "--csv"]) == 1
    assert "the plan has arms" in capsys.readouterr().err


FACTORS = "".join(
    f'[[factor]]\nname = "{name}"\nkind = "command-line"\non = "{name}=1"\n' for name in ("long_name", "x")
)


@pytest.fixture
def factors(tmp_path: Path) -> Path:
    """Two factors of two levels: four cells."""
    return make_experiment(
        tmp_path,
        FACTORS,
        lambda levels, name, repeat: (
            900_000_000 - 100 * (levels["long_name"] == "on") - 7_000_000 * (levels["x"] == "on")
        ),
    )


def test_cells_of_factors_are_each_compared_with_the_first(factors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of_answer(show(factors, capsys, "--json"))["stages"]
    assert data["against"] == "first"
    whole = data["rows"][-1]
    assert whole["total"] is None
    times = whole["times_ns"]
    assert [change["change_ns"] for change in whole["changes"]] == [time - times[0] for time in times[1:]]


def test_a_narrow_terminal_gets_a_table_for_each_cell_of_factors(
    factors: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = show(factors, capsys)
    assert max(map(len, said.splitlines())) <= 60
    heads = [line.split() for line in said.splitlines() if line.startswith("Stage ")]
    assert heads == [["Stage", "(ms)", "before", "after", "change", "%"]] * 3
    assert said.count("Before: long_name=off,x=off; after: long_name=") == 3


def test_a_change_too_small_for_its_column_is_not_called_nothing(
    factors: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    changes = [line.split()[3:] for line in show(factors, capsys).splitlines() if line.startswith("all ")]
    assert ["-0.000", "99%"] in changes


def test_a_row_of_cells_of_factors_has_a_cell_for_each_column(
    factors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for line in show(factors, capsys, "--markdown").splitlines() if line.startswith("|")]
    assert len(lines) > 3
    assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1
