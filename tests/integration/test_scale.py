"""The verb `scale`: plans, tables and what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.errors import UsageError
from firstlight.experiment.design import cells_of
from firstlight.experiment.scaling.costs import CostSeries
from firstlight.experiment.scaling.import_table import read_table
from firstlight.experiment.scaling.plan import expand, experiment_of, parse_scale_plan
from firstlight.experiment.scaling.result import Answer, configurations_of, measured_meetings, too_close
from firstlight.experiment.scaling.run import Prepare, without_effect
from firstlight.experiment.schedule import Prepared
from firstlight.experiment.store import CellState, State, Store
from firstlight.render.views.scaling import meeting_line, meeting_text
from firstlight.stats.scaling.crossover import Bracket

SIZES = [1, 2, 4, 8, 16, 32, 64]


def table(path: Path, text: str) -> str:
    (path / "data.csv").write_text(text)
    return str(path / "data.csv")


def data(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["scale", *words, "--json"]) == 0
    found: dict[str, Any] = data_of_answer(capsys.readouterr().out)
    return found


def test_a_table_of_measurements_has_a_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{n},{5 + 3 * n * n},{3 * n * n}\n" for n in SIZES)
    found = data(capsys, table(tmp_path, f"sensors,seconds,probe\n{rows}"), "--exact", "--at", "100", "--at", "1000")
    (only,) = found["configurations"]
    assert only["law"] == "n^2"
    assert only["regime"] == "exact"
    assert [part["name"] for part in only["parts"]] == ["probe", "[rest]"]
    near, far = only["predictions"]
    assert near["value"] == pytest.approx(30005)
    assert far["value"] is None
    assert far["low"] <= 3_000_005 <= far["high"]


def test_a_cost_that_falls_has_no_law_and_is_not_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, "n,cost\n" + "".join(f"{n},{1000 - 3 * n}\n" for n in SIZES))
    (only,) = data(capsys, path, "--exact", "--at", "128")["configurations"]
    assert (only["law"], only["certainty"], only["predictions"], only["leave_largest_out"]) == ("falls", "-", [], None)
    assert any("nothing is predicted" in note for note in only["notes"])
    assert run(["scale", path, "--exact", "--at", "128"]) == 0
    said = capsys.readouterr().out
    assert "falls as n grows" in said
    assert "whatever n" not in said


def test_a_line_through_five_sizes_is_no_constant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, "n,cost\n" + "".join(f"{n},{1 + n}\n" for n in (1, 2, 4, 8, 16)))
    for words in ([], ["--exact"]):
        (only,) = data(capsys, path, *words, "--at", "32")["configurations"]
        assert only["law"] == "n"
        assert only["predictions"][0]["value"] == pytest.approx(33)


def test_noise_without_growth_or_fall_stays_a_constant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = 0
    for seed in range(10):
        noise = np.exp(np.random.default_rng(seed).normal(0, 0.02, 32))
        rows = "".join(
            f"{n},{100 * each:.9g}\n" for n, each in zip([1, 2, 4, 8, 16, 32, 64, 128] * 4, noise, strict=True)
        )
        (only,) = data(capsys, table(tmp_path, f"n,cost\n{rows}"))["configurations"]
        kept += only["law"] == "1"
    assert kept >= 7


def test_costs_of_one_size_that_differ_are_not_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{n},{10 * n}\n" for n in SIZES)
    (only,) = data(capsys, table(tmp_path, f"n,cost\n{rows}{rows}"), "--exact")["configurations"]
    assert only["regime"] == "exact"
    assert not any("differ" in note for note in only["notes"])
    (only,) = data(capsys, table(tmp_path, f"n,cost\n{rows}4,50\n"), "--exact")["configurations"]
    assert only["regime"] == "noisy"
    assert any("those of size 4 differ by 20 %: they are taken as noisy" in note for note in only["notes"])


def test_a_size_asked_for_twice_is_predicted_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, "n,cost\n" + "".join(f"{n},{1 + n}\n" for n in SIZES))
    (only,) = data(capsys, path, "--at", "100", "--at", "128", "--at", "100")["configurations"]
    assert [each["size"] for each in only["predictions"]] == [100, 128]


def test_an_accident_at_the_largest_size_is_no_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = (1569131000, 1569130000, 1569117000, 1569116000, 1569111000, 1569190000)
    path = tmp_path / "flat.csv"
    path.write_text("n,cost\n" + "".join(f"{2**place},{cost}\n" for place, cost in enumerate(costs)))
    assert run(["scale", str(path), "--exact", "--at", "1000", "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["configurations"]
    assert (found["law"], found["predictions"][0]["laws"]) == ("1", ["1"])
    assert found["predictions"][0]["high"] < 1.0002 * max(costs)
    path.write_text("n,cost\n" + "".join(f"{2**place},{1569000000 + 3000 * 2**place}\n" for place in range(6)))
    assert run(["scale", str(path), "--exact", "--json"]) == 0
    assert data_of_answer(capsys.readouterr().out)["configurations"][0]["law"] == "n"


def test_a_crossing_that_was_not_bisected_lies_between_two_sizes_and_may_be_an_accident() -> None:
    one = CostSeries("uart", [1, 2, 4, 8, 16], [1_000_000, 1_000_100, 1_000_900, 1_001_000, 1_001_100], exact=True)
    other = CostSeries("loop", [1, 2, 4, 8, 16], [1_000_500, 1_000_400, 1_000_400, 1_000_300, 1_000_300], exact=True)
    meetings = tuple(measured_meetings(one, other))
    answer = Answer("", "n", "", "cost", True, configurations_of([one, other], []), meetings)
    assert meeting_text(answer, meetings[0]) == "Crossover between n = 2 and 4: above it loop costs less than uart."
    assert str(meeting_line(answer, meetings[0])).endswith("no size between them was tried")
    assert "may be an accident" in str(too_close(one, other, band_ns=800))
    assert too_close(one, other, band_ns=799) is None
    (found,) = measured_meetings(one, other, lambda below, above: Bracket(2, 3, 300, -10, ((2, 300), (3, -10))))
    assert meeting_text(answer, found) == "Crossover at n = 3: above it loop costs less than uart."
    far = CostSeries("far", [1, 2, 4, 8], [2_000_000] * 4, exact=True)
    assert too_close(one, far, band_ns=800) is None


def test_two_configurations_cross(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"old;{n};{100 + 10 * n}\nnew;{n};{400 + 2 * n}\n" for n in SIZES)
    path = table(tmp_path, f"board;n;ms\n{rows}")
    found = data(capsys, path, "--by", "board", "--exact")
    (crossing,) = found["crossovers"]
    assert crossing["crossing"]["size"] == pytest.approx(37.5)
    assert run(["scale", path, "--by", "board", "--exact"]) == 0
    assert "Crossover at n = 37.5: above it new costs less than old." in capsys.readouterr().out


@pytest.mark.parametrize("columns", ["60", "40"])
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = "".join(f"{n},{1e6 + 3e4 * n},{3e4 * n},7\n" for n in SIZES)
    path = table(tmp_path, f"n,cost,a_very_long_name_of_a_part_that_does_not_fit_into_the_width,\x1b[31mred\n{rows}")
    assert run(["scale", path, "--at", "999"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 30
    assert [line for line in lines if len(line) > int(columns)] == []
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a table of sizes and costs"),
        ("n\n1\n", "not a table of sizes and costs"),
        ("n,n\n1,2\n", "not a table of sizes and costs"),
        ("n,cost\n", "no rows"),
        ("n,cost\n1,x\n", "`cost`: `x` is not a number"),
        ("n;cost\n1;5,5\n", "write a decimal point instead of the comma"),
        ("n,cost\n1,2,3\n", "3 fields, there are 2 columns"),
        ("n,cost\n1,2\n2,3\n", "too few"),
        ("n,cost\n" + "".join(f"{n},nan\n" for n in SIZES), "csv:2: `cost`: `nan` is not a number"),
        ("n,cost\n1,2\n2,-3\n", "csv:3: `cost`: `-3` is negative"),
        ("10,100\n20,190\n30,280\n", "the first line has numbers instead of the names of columns"),
        ("n,cost\n\n \n1,2\n\n2,x\n", "csv:6: `cost`: `x` is not a number"),
        ('n,cost,"a\nb"\n1,2,"3\n"\n2,x,4\n', "csv:5: `cost`: `x` is not a number"),
        ("n,cost\n1,2\n2,\n", "csv:3: `cost`: the cell is empty"),
        ("n,cost\n1,2\n2,2_0_0_0\n", "csv:3: `cost`: `2_0_0_0` is not a number"),
        ("n,cost\n" + "".join(f"{n},{n}e-300\n" for n in SIZES), "the costs are too small"),
        ("n,cost\n" + "".join(f"{n},{n}e99\n" for n in SIZES), "a cost is too large"),
    ],
)
def test_a_table_that_cannot_be_is_reported(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scale", table(tmp_path, text)]) == 2
    assert said in capsys.readouterr().err


def test_digits_may_be_in_groups_of_three(tmp_path: Path) -> None:
    table(tmp_path, "n,cost\n1,1_000\n2,2_000.5\n")
    assert read_table(tmp_path / "data.csv").series[0].costs == [1000, 2000.5]


def test_an_empty_cell_is_not_called_a_column_of_names(tmp_path: Path) -> None:
    table(tmp_path, "n,cost\n1,\n")
    with pytest.raises(UsageError) as caught:
        read_table(tmp_path / "data.csv")
    assert caught.value.hint == "fill in the number, or leave the row out"


def test_the_columns_used_are_named_and_a_guess_is_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, "run,sizes,t\n" + "".join(f"{k},{n},{5 + 3 * n}\n" for k, n in enumerate(SIZES)))
    assert run(["scale", path]) == 0
    guessed = capsys.readouterr().out
    assert "sizes by run" in guessed
    assert "`run` as the size and `sizes` as the cost" in " ".join(guessed.split())
    assert run(["scale", path, "--size", "sizes", "--cost", "t"]) == 0
    named = capsys.readouterr().out
    assert "t by sizes" in named
    assert "order of its columns" not in named
    found = data(capsys, path, "--size", "sizes")
    assert (found["variable"], found["cost"]) == ("sizes", "run")
    assert found["notes"] == [
        "the table was read with `run` as the cost, by the order of its columns: `--cost` names another"
    ]


def test_a_column_of_text_is_left_out_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"2026-01-0{k + 1},b{k},{n},{5 + 3 * n},{n}\n" for k, n in enumerate(SIZES))
    path = table(tmp_path, f"date,board,volumes,seconds,probe\n{rows}")
    found = data(capsys, path, "--size", "volumes", "--cost", "seconds", "--exact")
    (only,) = found["configurations"]
    assert (only["law"], [part["name"] for part in only["parts"]]) == ("n", ["probe", "[rest]"])
    assert any("`date`, `board`" in note and "left out" in note for note in found["notes"])
    guessed = data(capsys, path, "--exact")
    assert (guessed["variable"], guessed["cost"]) == ("volumes", "seconds")


def test_a_column_of_numbers_with_a_mistake_is_not_left_out(tmp_path: Path) -> None:
    table(tmp_path, "n,cost,part\n1,2,3\n2,4,x\n")
    with pytest.raises(UsageError, match="`part`: `x` is not a number"):
        read_table(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("103,500", "write `103500` if the comma separates thousands, or `103.500` if it is a decimal comma"),
        ("1,103,500", "write `1103500` if the comma separates thousands"),
        ("103,5", "write a decimal point instead of the comma"),
        ("0,500", "write a decimal point instead of the comma"),
    ],
)
def test_a_comma_that_may_separate_thousands_is_no_decimal_point(tmp_path: Path, cell: str, hint: str) -> None:
    table(tmp_path, f'n,cost\n1,"{cell}"\n')
    with pytest.raises(UsageError) as caught:
        read_table(tmp_path / "data.csv")
    assert caught.value.hint == hint


def test_a_part_too_small_to_be_computed_has_no_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, "n,cost,part\n" + "".join(f"{n},{n},{n}e-300\n" for n in SIZES))
    (only,) = data(capsys, path)["configurations"]
    assert next(part["law"] for part in only["parts"] if part["name"] == "part") == "-"


def test_a_missing_column_names_the_nearest(tmp_path: Path) -> None:
    table(tmp_path, "sensors,seconds\n1,2\n")
    with pytest.raises(UsageError) as caught:
        read_table(tmp_path / "data.csv", size="sensor")
    assert "did you mean `sensors`" in str(caught.value.hint)


PLAN = """
title = "devices"
sizes = { from = 1, to = 64, zero = true }
[base]
append = "quiet count={n}"
memory = "{512 + n}M"
[each]
qemu-options = ["-device", "pci-testdev,addr={8 + i / 8:x}.{i % 8}"]
[[configuration]]
name = "plain"
[[configuration]]
name = "noacpi"
append = "acpi=off"
"""


def test_a_plan_puts_the_size_into_the_recipe() -> None:
    plan = parse_scale_plan(PLAN, "p.toml")
    assert plan.all_sizes() == [0, 1, 2, 4, 8, 16, 32, 64]
    change = expand(plan, 1, "noacpi", 20, PLAN, "p.toml")
    assert change.append == "acpi=off"
    assert len(change.qemu_options) == 40
    assert change.qemu_options[-1] == "pci-testdev,addr=a.3"


def test_a_size_that_changes_nothing_is_named_before_anything_boots(tmp_path: Path) -> None:
    plan = parse_scale_plan(PLAN, "p.toml")
    experiment = experiment_of(plan, {name: plan.all_sizes() for name in plan.names()}, PLAN, "p.toml")
    # The inputs of the second configuration are equal at all sizes.
    cells = [
        CellState(name=cell.name, directory=cell.directory, levels=cell.levels,
                  key="one" if cell.name.startswith("noacpi") else cell.name)
        for cell in cells_of(experiment)
    ]  # fmt: skip
    state = State(schema_version=1, plan_file="p.toml", seed=1, order=[], canary=None, cells=cells)
    prepared = Prepared(Store(tmp_path / "p"), experiment, PLAN, state, [], [], [])
    assert without_effect(Prepare(plan, Path("p.toml"), PLAN, prepared)) == [
        "the size `n` changes no input of any boot of `noacpi`: all sizes are one boot"
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("title =", "titel =", "did you mean `title`"),
        ("[base]\n", "[base]\nappned = 'x'\n", "did you mean `append`"),
        ("[each]\n", "[each]\nmemroy = '1G'\n", "unknown key `memroy`"),
        ("{n}", "{m}", "there is no `m`"),
        ("{n}", "{n ** 9}", "only integers"),
        ("{n}", "{n / 0}", "divides by zero"),
        ("{n}", "{__import__('os')}", "only integers"),
        ("{ from = 1, to = 64, zero = true }", "[1, 2, 3]", "at least 5 different sizes"),
        (
            "{ from = 1, to = 64, zero = true }",
            "{ from = 1, to = 64, factor = 1 }",
            "`sizes.factor`: input should be greater than or equal to 1.05",
        ),
        (
            "{ from = 1, to = 64, zero = true }",
            "{ from = 1.5, to = 64 }",
            "`sizes.from`: input should be a valid integer",
        ),
        ("{ from = 1, to = 64, zero = true }", "{ from = 1 }", "`to` is missing in `sizes`"),
        ("{ from = 1, to = 64, zero = true }", "{ from = 64, to = 1 }", "`sizes`: `to` is smaller than `from`"),
        (
            "{ from = 1, to = 64, zero = true }",
            "[-1, 2, 4, 8, 16]",
            "`sizes`: `-1`: input should be greater than or equal to 0",
        ),
        ("{ from = 1, to = 64, zero = true }", "[1.5, 2, 4, 8, 16]", "`sizes`: `1.5`: input should be a valid integer"),
        (
            "{ from = 1, to = 64, zero = true }",
            "5",
            "`sizes`: give a list of whole numbers, or a table with `from` and `to`",
        ),
        ("title =", "mode = 'live'\ntitle =", "give `repeats`"),
        ('name = "plain"\n', 'name = "plain"\nshift = 1\n', "unknown key `shift`"),
        ("title", "[title", "not TOML"),
    ],
)
def test_a_mistake_in_a_plan_is_named_before_anything_boots(
    tmp_path: Path, before: str, after: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert before in PLAN
    (tmp_path / "p.toml").write_text(PLAN.replace(before, after, 1))
    assert run(["scale", str(tmp_path / "p.toml")]) == 2
    assert said in capsys.readouterr().err


def test_a_missing_plan_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scale", str(tmp_path / "none.toml")]) == 2
    assert run(["scale", str(tmp_path / "none.csv")]) == 2
    assert capsys.readouterr().err.count("No such file") == 2


def test_the_help_names_every_kind_of_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scale", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for word in ("n log n", "sum of two", "power", "exponential", "saturation", "hinge", "step", "--term"):
        assert word in said
