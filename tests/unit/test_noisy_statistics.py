"""The statistics of boots that are never the same twice, on plain figures; scipy is the oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

from firstlight.errors import UsageError
from firstlight.stats.descriptive import describe
from firstlight.stats.estimate import Estimate, fewest_boots, fewest_pairs, paired, unpaired
from firstlight.stats.modality import modes
from firstlight.stats.multiple_testing import benjamini_hochberg, holm
from firstlight.stats.randomization import draw_order
from firstlight.stats.sample_size import pairs_needed, robust_sigma, smallest_effect
from firstlight.stats.significance import paired_p, unpaired_p
from firstlight.stats.spread import spread
from firstlight.stats.verdict import VerdictThresholds, decide, settle


@pytest.mark.parametrize("n", [6, 9, 12, 25])
def test_the_paired_interval_holds_what_the_test_does_not_reject(n: int) -> None:
    values = np.random.default_rng(n).normal(0.01, 0.02, n)
    found = paired(values)
    assert found.low is not None
    assert found.high is not None
    assert found.achieved is not None
    assert found.achieved >= 0.95
    tiny = 1e-9
    for bound, inwards in ((found.low, tiny), (found.high, -tiny)):
        assert wilcoxon(values - (bound + inwards), method="exact").pvalue > 0.05
        assert wilcoxon(values - (bound - inwards), method="exact").pvalue <= 0.05
    assert math.isclose(1 - found.achieved, wilcoxon(values - (found.low - tiny), method="exact").pvalue, rel_tol=1e-9)


@pytest.mark.parametrize(("few", "many"), [(4, 4), (5, 9), (12, 10)])
def test_the_unpaired_interval_holds_what_the_test_does_not_reject(few: int, many: int) -> None:
    source = np.random.default_rng(few)
    a, b = source.normal(0, 1, few), source.normal(0.5, 1, many)
    found = unpaired(a, b)
    assert found.low is not None
    assert found.high is not None
    assert found.achieved is not None
    assert found.achieved >= 0.95
    for bound, inwards in ((found.low, 1e-9), (found.high, -1e-9)):
        assert mannwhitneyu(b - (bound + inwards), a, method="exact").pvalue > 0.05
        assert mannwhitneyu(b - (bound - inwards), a, method="exact").pvalue <= 0.05


def test_many_boots_take_the_normal_law_and_agree_with_the_exact_one() -> None:
    """One more value in the middle of many hardly moves anything; the distribution behind the bounds is another."""
    source = np.random.default_rng(1)
    values = source.normal(0, 1, 300)
    exact, approximate = paired(values), paired([*values, float(np.median(values))])
    assert _bounds(approximate) == pytest.approx(_bounds(exact), abs=0.003)
    a, b = source.normal(0, 1, 60), source.normal(0, 1, 60)
    exact, approximate = unpaired(a, b), unpaired([*a, float(np.median(a))], b)
    assert _bounds(approximate) == pytest.approx(_bounds(exact), abs=0.02)


def _bounds(found: Estimate) -> tuple[float | None, float | None]:
    return found.low, found.high


def test_one_outlier_does_not_move_the_estimate() -> None:
    values = [0.010, 0.011, 0.009, 0.0105, 0.0095, 0.0102, 0.0098, 0.0101]
    moved = paired([*values[:-1], 5.0]).percent
    assert abs(moved - paired(values).percent) < 0.05


@pytest.mark.parametrize("n", [1, 2, 5])
def test_too_few_pairs_have_an_estimate_and_no_interval_and_say_how_many_are_needed(n: int) -> None:
    found = paired([0.01] * n)
    assert (found.low, found.high, found.achieved, found.needed) == (None, None, None, 6)
    verdict = decide(found, paired_p([0.01] * n, 1).p, n, 0.01, VerdictThresholds(soft=0.01))
    assert verdict.word == "inconclusive"
    assert verdict.reason == f"need at least 6 pairs, there are {n}"
    assert verdict.least == 6 - n
    assert verdict.more == (None if n < 3 else 24)


def test_the_least_numbers_follow_from_the_level() -> None:
    assert (fewest_pairs(0.05), fewest_pairs(0.01), fewest_boots(0.05), fewest_boots(0.01)) == (6, 8, 4, 5)
    assert paired([0.01] * 5, confidence=0.9).low is not None
    assert unpaired([0.0] * 3, [1.0] * 3).low is None


@pytest.mark.parametrize("bad", [[], [math.nan], [math.inf, 0.0]])
def test_figures_that_are_none_are_refused_in_words(bad: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no boots|finite"):
        paired(bad)


def test_equal_pairs_are_equivalent_and_nothing_is_not_a_number() -> None:
    found = paired(np.zeros(8))
    tested = paired_p(np.zeros(8), seed=1)
    assert (found.log_ratio, found.low, found.high) == (0, 0, 0)
    assert (tested.p, tested.method) == (1.0, "every pair is equal")
    assert decide(found, tested.p, 8, robust_sigma(np.zeros(8)), VerdictThresholds(soft=0.01)).word == "equivalent"


def test_ties_go_to_the_test_by_permutation_and_are_named() -> None:
    tied = paired_p([1.0, 1.0, 1.0, 1.0, 1.0, 1.0], seed=3)
    assert tied.p == 2 / 2**6
    assert tied.method == "Wilcoxon signed rank, by all signs (ties)"
    many = paired_p([1.0, *range(1, 30)], seed=3)
    assert "random signs, seed 3 (ties)" in many.method
    assert many == paired_p([1.0, *range(1, 30)], seed=3)
    arms = unpaired_p([1, 2, 2, 3], [2, 3, 3, 4], seed=3)
    assert "all exchanges (ties)" in arms.method
    assert 0.05 < arms.p <= 1
    assert unpaired_p([1, 1], [1, 1], seed=1).p == 1.0


def test_an_arm_of_one_boot_with_ties_has_a_p_value() -> None:
    assert unpaired_p([1], [2, 2, 2], seed=1).p == pytest.approx(0.5)
    assert unpaired_p([2, 2, 2], [3], seed=1).p == pytest.approx(0.5)
    assert unpaired_p([2], [1, 2, 3], seed=1).p == 1.0
    many = unpaired_p([0], [*range(1, 200), 5], seed=1)
    assert many.p == pytest.approx(2 / 201) == many.smallest


@pytest.mark.parametrize(
    ("values", "soft", "word"),
    [
        (np.linspace(0.02, 0.03, 10), 0.01, "regression"),
        (np.linspace(-0.03, -0.02, 10), 0.01, "improvement"),
        (np.linspace(-0.004, 0.005, 10), 0.01, "equivalent"),
        (np.linspace(0.004, 0.006, 10), 0.01, "equivalent"),
        (np.linspace(0.004, 0.006, 10), 0.001, "regression"),
        (np.linspace(-0.05, 0.06, 10), 0.01, "inconclusive"),
    ],
)  # fmt: skip
def test_the_four_verdicts(values: np.ndarray, soft: float, word: str) -> None:
    verdict = decide(
        paired(values), paired_p(values, 1).p, values.size, robust_sigma(values), VerdictThresholds(soft=soft)
    )
    assert verdict.word == word
    assert (verdict.more is None) == (word != "inconclusive")


def test_a_difference_below_what_the_testbed_can_tell_is_inconclusive() -> None:
    values = np.linspace(0.004, 0.006, 10)
    assert decide(paired(values), 0.002, 10, 0.001, VerdictThresholds(soft=0.001, floor=0.0045)).word == "regression"
    verdict = decide(paired(values), 0.002, 10, 0.001, VerdictThresholds(soft=0.001, floor=0.0055))
    assert verdict.word == "inconclusive"
    assert verdict.reason == "the change is below 0.55 %, the noise of this testbed with so few boots"


def test_a_small_difference_that_is_real_is_equivalent_and_said_to_be_real() -> None:
    values = np.linspace(0.004, 0.006, 10)
    verdict = decide(paired(values), paired_p(values, 1).p, 10, 0.001, VerdictThresholds(soft=0.01))
    assert (
        verdict.reason == "the interval lies within ±1.01 %; there is a difference, but one that small does not matter"
    )


def test_the_advised_number_of_pairs_mostly_settles_it() -> None:
    """The advice is for nine in ten; a tenth may miss, and chance a few more."""
    source = np.random.default_rng(5)
    sigma, effect, settled = 0.01, 0.01, 0
    pairs = pairs_needed(effect, sigma)
    for _ in range(200):
        values = source.normal(effect, sigma, pairs)
        settled += (
            decide(paired(values), paired_p(values, 1).p, pairs, sigma, VerdictThresholds(soft=0.001)).word
            == "regression"
        )
    assert settled >= 165


@pytest.mark.parametrize(("sigma", "effect", "pairs"), [(0.0025, 0.0025, 14), (0.02, 0.01, 47), (0.01, 0.0025, 179)])
def test_planned_numbers_agree_with_the_simulated_table(sigma: float, effect: float, pairs: int) -> None:
    assert pairs_needed(effect, sigma) == pairs


def test_planning_has_no_end_in_extremes() -> None:
    assert pairs_needed(1.0, 0.001) == 8
    assert pairs_needed(0.0, 0.01) == 100_000
    assert pairs_needed(0.01, 0.0) == 8
    assert 6_000 < pairs_needed(0.0004, 0.01) < 100_000
    assert smallest_effect(12, 0.0) == 0.0


def test_arms_of_one_sort_show_one_mode_and_two_sorts_two_with_their_shares() -> None:
    source = np.random.default_rng(2)
    one = np.exp(source.normal(0, 0.006, 24)) * 1e9
    two = np.concatenate([one[:14], one[14:] * 1.17])
    assert len(modes(one)) == 1
    fast, slow = modes(two)
    assert (fast.boots, slow.boots) == (14, 10)
    assert slow.share == pytest.approx(10 / 24)
    assert 1.1 < slow.at_ns / fast.at_ns < 1.25


def test_a_few_slow_boots_are_no_mode_of_their_own() -> None:
    source = np.random.default_rng(3)
    times = np.exp(source.normal(0, 0.006, 24))
    times[:2] *= 1.1
    assert len(modes(times * 1e9)) == 1


def test_spread_is_told_apart_from_the_middle_and_constants_give_words_not_nan() -> None:
    source = np.random.default_rng(4)
    quiet, loud = (np.exp(source.normal(0, sigma, 20)) * 1e9 for sigma in (0.002, 0.02))
    found = spread(quiet, loud)
    assert found.spread_p is not None
    assert found.spread_p < 0.01
    assert found.a_percent < 0.5 < found.b_percent
    constant = spread([5.0] * 8, [5.0] * 8)
    assert (constant.spread_p, constant.shape_p, constant.a_percent) == (None, None, 0.0)
    assert spread([5.0], [6.0]).spread_p is None
    assert found.shifts_ns is not None
    assert len(found.shifts_ns) == 1


def test_families_keep_order_and_leave_out_what_was_not_tested() -> None:
    assert holm([0.04, None, 0.01, 0.03]) == pytest.approx([0.06, None, 0.03, 0.06])
    assert benjamini_hochberg([0.04, None, 0.01, 0.03]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert holm([]) == []
    assert benjamini_hochberg([None]) == [None]


def test_the_named_figures_of_an_arm() -> None:
    found = describe([6.0, 8.1, 8.2, 8.3, 9.9], bin_width=0.5)
    assert (found.count, found.median, found.low, found.high) == (5, 8.2, 6.0, 9.9)
    assert found.mode is not None
    assert (found.mode.low, found.mode.high, found.mode.count, found.mode.tied) == (8.0, 8.5, 3, 0)
    assert found.stddev == pytest.approx(np.std([6.0, 8.1, 8.2, 8.3, 9.9], ddof=1))
    alone = describe([3.0])
    assert (alone.stddev, alone.mode, alone.mean) == (None, None, 3.0)
    assert describe([1.0, 2.0, 10.0, 20.0], bin_width=0.1).mode is None
    with pytest.raises(ValueError, match="wider"):
        describe([1.0], bin_width=0)


def test_every_block_holds_every_arm_once_and_the_orders_differ() -> None:
    order = draw_order(["base", "quiet", "lean"], blocks=40, seed=11)
    assert all(sorted(block) == ["base", "lean", "quiet"] for block in order.blocks)
    assert len(set(order.blocks)) == 6
    assert order != draw_order(["base", "quiet", "lean"], blocks=40, seed=12)
    assert type(order).model_validate_json(order.model_dump_json()) == order
    assert [slot.position for slot in order.slots()] == list(range(120))


@pytest.mark.parametrize(("arms", "blocks"), [(["a"], 3), (["a", "a"], 3), (["a", "b"], 0)])
def test_an_order_that_cannot_be_is_refused(arms: list[str], blocks: int) -> None:
    with pytest.raises(UsageError):
        draw_order(arms, blocks, seed=1)


def test_estimates_survive_json() -> None:
    found = paired([0.01, 0.02, 0.03, 0.015, 0.012, 0.011])
    assert Estimate.model_validate_json(found.model_dump_json()) == found


def test_a_certain_change_that_may_be_within_the_limit_is_inconclusive() -> None:
    found = Estimate(log_ratio=0.009, low=0.007, high=0.011, confidence=0.95, achieved=0.95, needed=6)
    verdict = decide(found, 0.001, 12, 0.003, VerdictThresholds(soft=0.01))
    assert verdict.word == "inconclusive"
    assert "real" in verdict.reason
    assert verdict.more is not None


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_an_exact_change_is_settled_by_the_limit_alone(limit: int) -> None:
    for change in range(-8, 9):
        expected = "equivalent" if abs(change) <= limit else "regression" if change > 0 else "improvement"
        assert settle(change, change, change, limit) == expected
