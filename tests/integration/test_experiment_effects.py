"""What factors did, against answers that are known beforehand; every sum holds exactly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest

from answers import data_of_answer
from experiments import make_experiment
from firstlight.cli.main import run
from firstlight.experiment.effects import aliases, interactions, main_effects
from firstlight.experiment.results import Results, read_results
from firstlight.experiment.shapley import Shares, shapley
from firstlight.experiment.store import STATE
from firstlight.render.views.experiment.cells import cells_table
from firstlight.render.views.experiment.effects import effects_table

BASE = 900_000_000


def figures(*wanted: int | Fraction) -> list[Fraction]:
    """What is expected, as the analyses have it."""
    return [Fraction(each) for each in wanted]


def factor(name: str) -> str:
    """A factor of two levels."""
    return f'[[factor]]\nname = "{name}"\nkind = "command-line"\non = "{name}=1"\n'


def experiment(tmp_path: Path, plan: str, saves: Mapping[frozenset[str], int], missing: str = "") -> Results:
    """An experiment in which every set of factors that is on takes so many nanoseconds more."""

    def length(levels: Mapping[str, str], name: str, repeat: int) -> int | None:
        if name == missing:
            return None
        on = frozenset(factor for factor, level in levels.items() if level == "on")
        return BASE + sum(ns for factors, ns in saves.items() if factors <= on)

    return read_results(make_experiment(tmp_path, plan, length))


def test_effects_and_interactions_of_a_full_design_are_the_planted_ones(tmp_path: Path) -> None:
    planted = {frozenset("x"): -1_000_001, frozenset("y"): 250_000, frozenset("xy"): 400_001}
    results = experiment(tmp_path, factor("x") + factor("y"), planted)
    x, y = main_effects(results)
    # The interaction is there in half of the pairs.
    assert [x.effect, y.effect] == figures(-1_000_001 + Fraction(400_001, 2), 250_000 + Fraction(400_001, 2))
    assert [x.least, x.most] == figures(-1_000_001, -600_000)
    (both,) = interactions(results)
    assert both.effect == 400_001
    assert both.squares == 1


def test_shares_are_those_of_every_order_and_add_up_exactly(tmp_path: Path) -> None:
    saves = {
        frozenset("x"): -7_000_003, frozenset("y"): -5_000_001, frozenset("z"): 11, frozenset("xy"): 3_000_001,
        frozenset("xyz"): -100,
    }  # fmt: skip
    results = experiment(tmp_path, factor("x") + factor("y") + factor("z"), saves)
    shares = shapley(results)
    assert isinstance(shares, Shares)
    assert shares.total == sum(saves.values())
    assert sum(each.share for each in shares.shares) == shares.total
    assert sum(each.whole for each in shares.shares) == shares.total
    for each in shares.shares:
        gained = Fraction(0)
        for order in permutations("xyz"):
            before = frozenset(order[: order.index(each.factor)])
            after = before | {each.factor}
            gained += sum(ns for factors, ns in saves.items() if factors <= after and not factors <= before)
        assert each.share == gained / 6
        assert each.first_in == saves[frozenset(each.factor)]
        assert each.last_out == sum(ns for factors, ns in saves.items() if each.factor in factors)


def test_a_factor_that_changes_nothing_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = experiment(tmp_path, factor("x") + factor("y"), {frozenset("x"): -1})
    assert [each.nothing is None for each in main_effects(results)] == [True, False]
    run(["experiment", "show", str(results.path)])
    assert "`y=on` changes nothing" in capsys.readouterr().out


def test_a_cell_that_does_not_count_leaves_the_other_comparisons(tmp_path: Path) -> None:
    plan = factor("x") + factor("y")
    results = experiment(tmp_path, plan, {frozenset("x"): -10, frozenset("y"): -4}, missing="x=on,y=on")
    x, y = main_effects(results)
    assert [x.effect, y.effect] == figures(-10, -4)
    assert [(each.pairs, each.possible) for each in (x, y)] == [(1, 2), (1, 2)]
    assert interactions(results)[0].effect is None
    assert "does not count" in str(shapley(results))


def test_a_folded_plackett_burman_design_finds_main_effects_past_interactions(tmp_path: Path) -> None:
    names = [f"f{number:02}" for number in range(11)]
    saves: dict[frozenset[str], int] = {frozenset([name]): -1000 * 2**place for place, name in enumerate(names)}
    saves[frozenset(names[:2])] = 999_998
    results = experiment(tmp_path, 'design = "plackett-burman"\n' + "".join(map(factor, names)), saves)
    assert len(results.cells) == 24
    effects = {each.factor: each.effect for each in main_effects(results)}
    for name in names:
        # Half of an interaction belongs to the main effect of each factor in it, by the definition of a main effect.
        half = Fraction(999_998, 2) if name in names[:2] else 0
        assert effects[name] == saves[frozenset([name])] + half
    assert aliases(results) == []
    assert "plackett-burman" in str(shapley(results))


def test_a_fractional_design_says_what_it_cannot_tell_apart(tmp_path: Path) -> None:
    plan = '[design]\nkind = "fractional"\nresolution = 3\n' + factor("a") + factor("b") + factor("c")
    results = experiment(tmp_path, plan, {frozenset("a"): 5})
    assert len(results.cells) == 4
    assert aliases(results) == [("a", ["b x c"]), ("b", ["a x c"]), ("c", ["a x b"])]


def test_what_boots_every_combination_has_shares_and_interactions_whatever_its_design(tmp_path: Path) -> None:
    for kind in ("fractional", "plackett-burman"):
        (tmp_path / kind).mkdir()
        plan = f'design = "{kind}"\n' + factor("a") + factor("b") + factor("c")
        results = experiment(tmp_path / kind, plan, {frozenset("a"): 50, frozenset("ab"): 7})
        assert len(results.cells) == 8
        shares = shapley(results)
        assert not isinstance(shares, str)
        assert sum(each.whole for each in shares.shares) == shares.total == 57
        assert interactions(results)[0].effect == 7


def test_changes_against_a_cell_that_is_not_all_off_say_so(tmp_path: Path) -> None:
    plan = '[design]\nkind = "fractional"\nresolution = 3\n' + factor("a") + factor("b") + factor("c")
    results = experiment(tmp_path, plan, {frozenset("a"): 5})
    assert shapley(results) == "this fractional design boots 4 of 8 combinations: shares need all of them"
    for table in (cells_table(results), effects_table(results)):
        assert any(f"against `{results.cells[0].name}`" in line for line in table.notes)


def test_levels_beyond_two_are_each_compared_with_the_first(tmp_path: Path) -> None:
    plan = '[[factor]]\nname = "m"\nkind = "machine"\nlevels = {a = {}, b = {memory = "1G"}, c = {memory = "2G"}}\n'
    times = {"a": BASE, "b": BASE + 7, "c": BASE - 9}
    path = make_experiment(tmp_path, plan + factor("x"), lambda levels, name, repeat: times[levels["m"]])
    effects = main_effects(read_results(path))
    assert [(each.factor, each.level) for each in effects] == [("m", "b"), ("m", "c"), ("x", "on")]
    assert [each.effect for each in effects] == figures(7, -9, 0)


def test_one_at_a_time_compares_with_the_baseline_alone(tmp_path: Path) -> None:
    plan = 'design = "one-at-a-time"\n' + factor("x") + factor("y")
    results = experiment(tmp_path, plan, {frozenset("x"): -3, frozenset("y"): 2, frozenset("xy"): 100})
    assert [each.effect for each in main_effects(results)] == figures(-3, 2)
    assert interactions(results) == []


def test_the_data_have_every_figure_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = experiment(tmp_path, factor("x") + factor("y") + factor("z"), {frozenset("xyz"): -1})
    assert run(["experiment", "show", str(results.path), "--json"]) == 0
    shares = data_of_answer(capsys.readouterr().out)["shares"]
    assert [each["exact"] for each in shares["factors"]] == ["-1/3"] * 3
    assert sum(each["share_ns"] for each in shares["factors"]) == shares["total_ns"] == -1
    assert run(["experiment", "show", str(results.path), "--shares", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "factor,level,share_ns,share_numerator,share_denominator,first_in_ns,last_out_ns"
    assert [line.split(",")[-2:] for line in lines[1:]] == [["0", "-1"]] * 3


def test_whatever_the_times_shares_and_whole_shares_add_up(tmp_path: Path) -> None:
    plan = "repeats = 3\n" + factor("x") + factor("y") + factor("z")
    odd = {levels: place * 7919 % 101 for place, levels in enumerate(product(("off", "on"), repeat=3))}
    path = make_experiment(
        tmp_path, plan, lambda levels, name, repeat: BASE + odd[tuple(levels.values())] * repeat**2, profile=False
    )
    shares = shapley(read_results(path))
    assert isinstance(shares, Shares)
    assert sum(each.share for each in shares.shares) == shares.total
    assert sum(each.whole for each in shares.shares) == round(shares.total)


def test_arms_with_the_same_inputs_are_named_where_they_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arms = '[[arm]]\nname = "base"\n[[arm]]\nname = "same"\n[[arm]]\nname = "other"\nappend = "x"\n'
    path = make_experiment(tmp_path, arms, lambda levels, name, repeat: BASE - (name == "other"))
    shutil.rmtree(path / "same" / "1.boot")
    shutil.copytree(path / "base" / "1.boot", path / "same" / "1.boot")
    state = json.loads((path / STATE).read_text())
    base, same, _ = state["cells"]
    same["key"] = base["key"]
    (path / STATE).write_text(json.dumps(state))
    for options in ([], ["--markdown"]):
        assert run(["experiment", "show", str(path), *options]) == 0
        said = " ".join(capsys.readouterr().out.replace("\\", "").split())
        assert said.count("arms `base` and `same` have the same inputs: they are one boot") == 1
        assert "`other` have the same inputs" not in said
