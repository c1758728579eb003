"""Noisy mode on simulated machines: the quick form of `benches/noisy_statistics.py`."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from bench_modules import load_bench
from firstlight.comparison.statistical.headline import Session, estimate_session
from firstlight.comparison.statistical.quantiles import Statistic, compare_statistics
from firstlight.errors import UsageError
from firstlight.stats.looks import look_level
from firstlight.stats.order import order_effect, session_changes, without_order_effect
from firstlight.stats.verdict import VerdictThresholds

_SESSIONS = 200
_FEWER = 40
_MACHINES = ["steady", "drift of 2 %", "second place 1 % slower", "switches between two states", "ticks of 4 ms",
             "bimodal"]  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The benchmark as a module."""
    return load_bench("noisy_statistics")


def test_every_machine_of_the_benchmark_is_tested(bench: ModuleType) -> None:
    assert list(bench.MACHINES) == _MACHINES


@pytest.mark.parametrize("machine", _MACHINES)
def test_equal_arms_are_seldom_called_different(bench: ModuleType, machine: str) -> None:
    """So many alarms come once in a thousand times where the rate is the promised 6 %."""
    assert bench.simulate(_SESSIONS, 0.0, machine).alarms <= binom.ppf(0.999, _SESSIONS, 0.06)


@pytest.mark.parametrize("order", ["fixed", "one arm first"])
@pytest.mark.parametrize("machine", ["second place 1 % slower", "switches between two states", "drift of 2 %"])
def test_an_order_that_could_be_all_of_a_change_settles_nothing(bench: ModuleType, machine: str, order: str) -> None:
    for change in (0.0, 0.05):
        assert bench.simulate(20, change, machine, order).alarms == 0
    found = estimate_session(bench.session(1, 0.05, machine, order), VerdictThresholds(soft=0.01), seed=1)
    assert found.verdict.word == "inconclusive"


@pytest.mark.parametrize("change", [0.0, 0.01])
def test_the_interval_contains_the_true_change(bench: ModuleType, change: float) -> None:
    assert bench.simulate(_SESSIONS, change, first_seed=5_001).covered >= binom.ppf(0.001, _SESSIONS, 0.94)


def test_looking_again_and_again_does_not_make_alarms_likelier(bench: ModuleType) -> None:
    assert bench.simulate_looks(_FEWER, 0.0).alarms <= binom.ppf(0.999, _FEWER, 0.06)
    assert bench.simulate_looks(_FEWER, 0.02).alarms >= _FEWER / 2


@pytest.mark.parametrize("machine", ["steady", "drift of 2 %", "bimodal"])
def test_a_slower_p95_is_found_and_an_equal_one_is_not(bench: ModuleType, machine: str) -> None:
    p95 = Statistic.P95
    assert bench.simulate_statistic(_FEWER, p95, 0.0, machine).alarms <= binom.ppf(0.999, _FEWER, 0.06)
    assert bench.simulate_statistic(_FEWER, p95, 0.05, machine).alarms >= binom.ppf(0.001, _FEWER, 0.80)


def test_the_share_of_slow_boots_is_compared_by_itself() -> None:
    source = np.random.default_rng(4)
    a, b = (np.exp(source.normal(0, 0.006, 40)) * 1e9 for _ in "ab")
    b[::3] *= 1.1
    median, share = compare_statistics(a, b, [Statistic.P50, Statistic.SLOW_SHARE], paired=True, seed=1)
    assert share.change is not None
    assert (share.word, share.change.a, share.change.b) == ("regression", 0.0, 14 / 40)
    assert median.word != "regression"
    (none,) = compare_statistics(range(100, 140), range(100, 140), [Statistic.SLOW_SHARE], paired=True, seed=1)
    assert (none.change, none.reason) == (None, "all boots together have one mode, or one for each arm")


@pytest.mark.parametrize("seed", range(5))
def test_a_shift_of_all_boots_changes_no_share_of_slow_boots(seed: int) -> None:
    source = np.random.default_rng(seed)
    a, b = (np.exp(source.normal(0, 0.006, 40)) * 1e9 for _ in "ab")
    (shift,) = compare_statistics(a, b * 1.05, [Statistic.SLOW_SHARE], paired=False, seed=1)
    assert (shift.word, shift.change) == ("inconclusive", None)
    for times in (a, b):
        times[::3] *= 1.2
    (both,) = compare_statistics(a, b * 1.05, [Statistic.SLOW_SHARE], paired=False, seed=1)
    assert both.change is not None
    assert (both.change.a, both.change.b) == (14 / 40, 14 / 40)


@pytest.mark.parametrize(("share", "at_least"), [(0.15, 0.45), (0.25, 0.85), (0.35, 0.95)])
def test_slow_boots_of_one_arm_alone_are_found(bench: ModuleType, share: float, at_least: float) -> None:
    assert bench.simulate_slow_boots(_FEWER, share).alarms >= binom.ppf(0.001, _FEWER, at_least)


@pytest.mark.parametrize("machine", ["steady", "drift of 2 %", "bimodal"])
def test_equal_shares_of_slow_boots_are_seldom_called_different(bench: ModuleType, machine: str) -> None:
    found = bench.simulate_statistic(_FEWER, Statistic.SLOW_SHARE, 0.0, machine)
    assert found.alarms <= binom.ppf(0.999, _FEWER, 0.06)


def test_a_quantile_of_too_few_boots_says_how_many_it_needs() -> None:
    (found,) = compare_statistics(range(100, 119), range(100, 119), [Statistic.P95], paired=True, seed=1)
    assert (found.word, found.reason) == ("inconclusive", "this needs at least 20 boots of each arm, there are 19")


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(-50, 50), min_size=10, max_size=30), st.integers(-40, 40), st.integers(-40, 40))
def test_the_effect_of_the_order_and_the_change_do_not_mix(noise: list[int], change: int, order: int) -> None:
    """Another effect of the order moves that estimate by as much, and the change not at all; and the reverse."""
    a_first = np.arange(len(noise)) % 2 == 0
    sides = np.where(a_first, 1, -1)

    def found(change: float, order: float) -> tuple[float, float]:
        ratios = (np.array(noise) * 1e-5 + change * 1e-3) + sides * order * 1e-3
        effect = order_effect(ratios, a_first, seed=1).percent
        assert effect is not None
        return without_order_effect(ratios, a_first, seed=1)[0].log_ratio, float(np.log1p(effect / 100))

    was, now = found(0, 0), found(change, order)
    assert now[0] - was[0] == pytest.approx(change * 1e-3, abs=1e-9)
    assert now[1] - was[1] == pytest.approx(order * 1e-3, abs=1e-9)


def test_the_second_place_is_taken_out_where_it_matters() -> None:
    a_first = np.array([True] * 5 + [False] * 9)
    noise = np.random.default_rng(3).normal(0, 0.001, 14)
    b = noise + np.where(a_first, 0.03, -0.03)
    session = Session(np.zeros(14), b, paired=True, in_turns=True, a_first=a_first)
    found = estimate_session(session, VerdictThresholds(soft=0.005), seed=1)
    assert found.order is not None
    assert found.order.percent == pytest.approx(3.0, abs=0.2)
    assert found.verdict.word == "equivalent"


def test_the_boot_at_which_a_machine_changes_is_named() -> None:
    source = np.random.default_rng(8)
    logs = source.normal(0, 0.006, 24)
    assert session_changes(logs) == []
    logs[15:] += 0.1
    assert session_changes(logs) == [15]


def test_the_levels_of_all_looks_stay_below_the_level() -> None:
    assert sum(look_level(0.05, look) for look in range(1, 11)) < 0.05
    with pytest.raises(UsageError):
        look_level(0.05, 0)
