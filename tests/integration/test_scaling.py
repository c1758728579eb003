"""Laws of growth: found, told apart, added up and predicted."""

from __future__ import annotations

import warnings
from types import ModuleType

import numpy as np
import pytest

from bench_modules import load_bench
from firstlight.errors import UsageError
from firstlight.stats.scaling.analysis import REST, study
from firstlight.stats.scaling.counts import counted_term
from firstlight.stats.scaling.crossover import bisect, crossings
from firstlight.stats.scaling.fit import fit_model
from firstlight.stats.scaling.models import BY_NAME, LAWS
from firstlight.stats.scaling.prediction import predict

SIZES = [1, 2, 4, 8, 16, 32, 64, 128]
FIVE = [4, 10, 25, 64, 160]


def grown(law: str) -> np.ndarray:
    """What a law says for the sizes."""
    parts = [growth(np.array(SIZES, float)) for growth in BY_NAME[law].growths]
    return np.asarray(np.sum(parts, axis=0) * np.ones(len(SIZES)))


@pytest.mark.parametrize("law", [law.name for law in LAWS])
def test_an_exact_law_is_found_with_its_coefficients(law: str) -> None:
    costs = 1_000_000 + 5_000 * grown(law)
    found = study(SIZES, costs.tolist(), exact=True)
    assert found.best.law == law
    assert found.best.misfit < 1e-9
    if law != "1":
        assert found.best.constant == pytest.approx(1_000_000)
        assert found.best.slope == pytest.approx(5_000)
        assert found.certainty == "clear"
    assert found.left_out is not None
    assert abs(found.left_out.error) < 1e-6


def test_no_law_is_clear_whose_band_at_twice_the_largest_size_is_wide() -> None:
    # 1000 + 2000 n / (n + 10) + n, with 3 % of noise.
    sizes = [2, 3, 5, 8, 13, 21, 34, 55, 89, 144]
    costs = [1307, 1445, 1729, 1920, 2322, 2453, 2644, 3053, 3223, 3447]
    found = study(sizes, costs, exact=False)
    ahead = predict(found, 288)
    assert ahead.high > 2 * ahead.low
    assert found.certainty == "likely"


def test_a_model_that_the_largest_size_refutes_states_what_the_others_predict_there() -> None:
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    found = study(sizes, [min(1000 + 30 * size, 4000) for size in sizes], exact=True)
    assert found.misfit is not None
    assert "+0%" not in found.misfit
    assert "at the largest size" in found.misfit
    assert found.left_out is not None
    assert 0 < found.left_out.least < found.left_out.most


@pytest.mark.parametrize("law", ["1", "n", "n log n", "n^2"])
def test_a_law_is_found_in_noise(law: str) -> None:
    hits = 0
    for seed in range(20):
        noise = np.exp(np.random.default_rng(seed).normal(0, 0.01, len(SIZES)))
        costs = (100 + 20 * grown(law)) * noise
        hits += study(SIZES, costs.tolist(), exact=False).simple.law == law
    assert hits >= 16


def test_the_interval_of_the_slope_covers_it() -> None:
    covered = 0
    for seed in range(40):
        noise = np.exp(np.random.default_rng(seed).normal(0, 0.01, len(SIZES)))
        costs = (100 + 20 * np.array(SIZES)) * noise
        fit = fit_model(BY_NAME["n"], np.array(SIZES, float), costs, exact=False)
        assert fit is not None
        assert fit.slope_interval is not None
        covered += fit.slope_interval[0] <= 20 <= fit.slope_interval[1]
    assert covered >= 35


def test_laws_that_the_sizes_cannot_tell_apart_are_not_called_clear() -> None:
    sizes = np.array([8, 10, 12, 14, 16, 18, 20, 22])
    kept = surely_wrong = told = 0
    for seed in range(12):
        noise = np.exp(np.random.default_rng(seed).normal(0, 0.04, len(sizes)))
        found = study(sizes.tolist(), (sizes * noise).tolist(), exact=False)
        kept += "n" in predict(found, 44).laws
        surely_wrong += found.certainty == "clear" and found.best.law != "n"
        told += found.certainty == "indistinguishable"
        assert any("look alike" in note for note in found.notes)
    assert kept >= 10
    assert surely_wrong == 0
    assert told >= 4


def test_parts_have_laws_of_their_own_and_coefficients_that_add_up() -> None:
    n = np.array(SIZES, float)
    parts = {"probe": (40 * n).tolist(), "sort": (n**2).tolist(), "fixed": [500.0] * len(SIZES)}
    total = 40 * n + n**2 + 500 + 17
    found = study(SIZES, total.tolist(), parts, exact=True)
    laws = {part.name: part.law for part in found.parts}
    assert laws == {"probe": "n", "sort": "n^2", "fixed": "1", REST: "1"}
    assert sum(part.slope for part in found.parts) == pytest.approx(found.simple.slope, rel=1e-9)
    assert sum(part.constant for part in found.parts) == pytest.approx(found.simple.constant, rel=1e-9)
    assert sum(part.largest for part in found.parts) == pytest.approx(total[-1])


def test_the_exponent_needs_no_law() -> None:
    n = np.array(SIZES, float)
    found = study(SIZES, (10**6 + 7 * n**2).tolist(), exact=True)
    assert found.growth_exponent is not None
    assert 1.9 < found.growth_exponent.value < 2.1
    assert found.exponent is not None
    assert found.exponent.value < 0.1


def test_a_step_is_found_where_it_is() -> None:
    costs = [1000 + 10 * n + (5000 if n > 16 else 0) for n in SIZES]
    found = study(SIZES, costs, exact=True)
    assert found.law == "n, step above 16"
    assert found.best.coefficients == pytest.approx((10, 5000))


def test_a_prediction_keeps_to_the_band_far_away() -> None:
    found = study(SIZES, [100 + 3 * n for n in SIZES], exact=True)
    near, far = predict(found, 512), predict(found, 513)
    assert near.value == pytest.approx(100 + 3 * 512)
    assert far.value is None
    assert far.low <= 100 + 3 * 513 <= far.high


def test_a_noisy_prediction_holds_the_truth() -> None:
    held = 0
    for seed in range(20):
        noise = np.exp(np.random.default_rng(seed).normal(0, 0.01, len(SIZES)))
        found = study(SIZES, ((100 + 20 * np.array(SIZES)) * noise).tolist(), exact=False)
        band = predict(found, 256)
        held += band.low <= 100 + 20 * 256 <= band.high
    assert held >= 18


def test_where_two_configurations_cross() -> None:
    flat = study(SIZES, [1000.0] * len(SIZES), exact=True)
    grows = study(SIZES, [400 + 10 * n for n in SIZES], exact=True)
    (crossing,) = crossings(flat, grows)
    assert crossing.size == pytest.approx(60)
    assert crossing.cheaper_above == "first"
    bracket = bisect(lambda n: 400 + 10 * n - 1000.5, 1, 128)
    assert bracket is not None
    assert (bracket.below, bracket.above) == (60, 61)
    assert len(bracket.measured) <= 10
    assert bisect(lambda n: 1.0, 1, 128) is None


@pytest.mark.parametrize(
    ("sizes", "costs", "said"),
    [
        ([1, 2, 4, 8], [1, 2, 3, 4], "too few"),
        ([1, 1, 1, 1, 1, 2], [1] * 6, "too few"),
        ([-1, 2, 4, 8, 16], [1] * 5, "the size of measurement 1 is negative: -1"),
        ([1, 2, 4, 8, 16], [1, 2, 3, 4, float("nan")], "the cost of measurement 5 is not a number"),
        ([1, 2, 4, 8, 1e200], [1] * 5, "too large"),
        ([1, 2, 4], [1, 2, 4, 8], "one cost for each size"),
    ],
)
def test_figures_that_cannot_be_are_refused(sizes: list[float], costs: list[float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        study(sizes, costs, exact=True)


def test_what_costs_nothing_is_constant() -> None:
    assert study(SIZES, [0] * len(SIZES), exact=True).best.law == "1"


def test_a_cost_that_falls_is_reported() -> None:
    found = study(SIZES, [1000 - n for n in SIZES], exact=True)
    assert found.best.law == "1"
    assert any("falls" in note for note in found.notes)


def test_two_terms_are_found_where_one_law_misses_the_truth_at_twice_the_size() -> None:
    n = np.array(SIZES, float)
    found = study(SIZES, (1000 + 30 * n + 0.3 * n**2).tolist(), exact=True)
    assert found.law == "n + n^2"
    assert found.best.coefficients == pytest.approx((30, 0.3))
    band = predict(found, 256)
    assert band.low <= 1000 + 30 * 256 + 0.3 * 256**2 <= band.high
    assert band.rests_on == "`n + n^2` holding up to 2 times the largest size"


def test_a_shape_that_no_model_has_is_none_of_these_laws() -> None:
    costs = [1000, 5000, 1100, 4900, 1200, 5200, 900, 5100]
    found = study(SIZES, costs, exact=True)
    assert (found.law, found.certainty, predict(found, 256).value) == ("none", "-", None)
    assert found.misfit is not None
    assert found.next_size is not None


@pytest.mark.parametrize(
    "costs",
    [
        [1000 / n + 10 * n for n in SIZES],
        [max(0, n - 15) for n in SIZES],
        [100, 150] * 4,
    ],
    ids=["falls and rises", "begins late", "alternates"],
)
def test_exact_costs_that_no_model_meets_are_not_called_constant(costs: list[float]) -> None:
    found = study(SIZES, costs, exact=True)
    assert (found.law, found.certainty, predict(found, 256).value) == ("none", "-", None)
    assert found.misfit is not None
    assert "it is off by up to" in found.misfit


@pytest.mark.parametrize("constant", [0, 1000])
def test_exact_costs_that_fall_in_a_curve_fall(constant: int) -> None:
    found = study(SIZES, [constant + 1000 / n for n in SIZES], exact=True)
    assert (found.law, found.certainty) == ("falls", "-")


def test_an_exact_constant_may_be_off_by_little() -> None:
    found = study(SIZES, [100000, 100003, 99990, 100001, 100000, 100007, 99991, 100002], exact=True)
    assert found.law == "1"


@pytest.mark.parametrize("sizes", [[0, *SIZES], [0, 1, 2, 3, 4, 8]])
def test_nothing_that_costs_nothing_does_not_widen_the_band(sizes: list[int]) -> None:
    found = study(sizes, [3 * n for n in sizes], exact=True)
    assert found.law == "n"
    band = predict(found, 2 * sizes[-1])
    assert band.low <= 6 * sizes[-1] <= band.high
    assert band.high < 1.5 * band.low


@pytest.mark.parametrize("sizes", [SIZES, list(range(1, 100_001))], ids=["eight", "one a measurement"])
def test_many_measurements_are_fitted_to_some_of_each_size(sizes: list[int]) -> None:
    n = np.resize(np.array(sizes, float), 100_000)
    noise = np.exp(np.random.default_rng(1).normal(0, 0.01, len(n)))
    costs = (1000 + 30 * n) * noise
    found = study(n.tolist(), costs.tolist(), {"half": (costs / 2).tolist()}, exact=False)
    assert len(found.sizes) <= 2_000
    assert found.sizes[-1] == max(sizes)
    assert "100,000 measurements: the models are fitted to" in found.notes[0]
    band = predict(found, 2 * max(sizes))
    assert band.low <= 1000 + 60 * max(sizes) <= band.high
    assert [part.name for part in found.parts] == ["half", REST]


def test_one_of_many_exact_costs_that_differs_is_found() -> None:
    costs = [1000 + 30 * n for n in SIZES * 1_000]
    costs[-1] += 1
    found = study(SIZES * 1_000, costs, exact=True)
    assert not found.exact
    assert "those of size 128 differ" in found.notes[0]


def test_more_sizes_close_together_do_not_widen_the_band() -> None:
    widths = []
    for step in (8, 1):
        n = np.arange(step, 97, step, dtype=float)
        noise = np.exp(np.random.default_rng(1).normal(0, 0.01, len(n)))
        band = predict(study(n.tolist(), ((1000 + 30 * n) * noise).tolist(), exact=False), 192)
        assert band.low <= 1000 + 30 * 192 <= band.high
        widths.append(band.high / band.low)
    assert widths[1] <= widths[0]
    assert widths[1] < 1.5


def test_the_reach_is_that_of_a_doubling_where_sizes_lie_close_together() -> None:
    n = np.arange(1, 41, dtype=float)
    found = study(n.tolist(), (1000 + 30 * n).tolist(), exact=True)
    assert found.reach is not None
    assert found.reach.times == pytest.approx(2)
    doubled = study(SIZES, [1000 + 30 * n for n in SIZES], exact=True)
    assert doubled.reach is not None
    assert doubled.left_out is not None
    assert doubled.reach.times == pytest.approx(2)


def test_noisy_costs_measured_once_that_lie_far_off_every_model_are_none_of_these_laws() -> None:
    found = study([10, 20, 40, 80, 160], [5, 19, 11, 45, 12], exact=False)
    assert found.law == "none"
    assert found.misfit == "the costs are 62 % off it, and one cost a size does not show how much is noise"


@pytest.mark.parametrize("sizes", [5, 6, 7])
def test_nothing_is_clear_below_eight_sizes(sizes: int) -> None:
    found = study(SIZES[:sizes], [1000 + 30 * n for n in SIZES[:sizes]], exact=True)
    assert found.law == "n"
    assert found.certainty != "clear"
    assert any("clear below 8" in note for note in found.notes)


def test_two_terms_that_five_sizes_show_are_found() -> None:
    n = np.array(FIVE, float)
    found = study(FIVE, (5000 + 2 * n + 0.01 * n**2).tolist(), exact=True)
    assert found.law == "n + n^2"
    assert found.best.coefficients == pytest.approx((2, 0.01))
    ahead = predict(found, 320)
    assert ahead.low <= 6664 <= ahead.high


def test_the_band_of_five_sizes_holds_every_model_that_fits_as_well() -> None:
    n = np.array([*FIVE, 320.0])
    *costs, truth = (500 + n + 20 * np.maximum(0, n - 60)).tolist()
    found = study(FIVE, costs, exact=True)
    assert found.certainty == "weak"
    ahead = predict(found, 320)
    assert ahead.low <= truth <= ahead.high
    assert any(law.startswith("hinge") for law in ahead.laws)
    assert "measure more sizes" in ahead.rests_on


def test_an_exponential_of_five_sizes_is_no_power() -> None:
    n = np.array([*FIVE, 320.0])
    *costs, truth = (500 + 20 * 2 ** (n / 40)).tolist()
    ahead = predict(study(FIVE, costs, exact=True), 320)
    assert ahead.low <= truth <= ahead.high


@pytest.mark.parametrize("sizes", [8, 12, 20])
def test_a_cost_that_begins_to_fall_beyond_the_sizes_is_in_the_band(sizes: int) -> None:
    n = np.array([*np.linspace(8, 160, sizes), 320.0])
    *costs, truth = (500 + 60 * n - 0.1 * n**2).tolist()
    found = study(n[:-1].tolist(), costs, exact=True)
    assert found.certainty == "weak"
    ahead = predict(found, 320)
    assert ahead.low <= truth <= ahead.high


def test_the_next_size_separates_models_that_differ_there() -> None:
    alone = study(SIZES[:5], [100 + 10 * n for n in SIZES[:5]], exact=True)
    assert alone.runner_up is not None
    assert alone.next_size is not None
    near, best = np.array([3.0]), np.array([alone.next_size])
    apart = [abs(float(alone.best.at(at)[0] / alone.runner_up.at(at)[0]) - 1) for at in (near, best)]
    assert apart[1] > 3 * apart[0]
    assert study(SIZES, [1000] * len(SIZES), exact=True).next_size is None


def test_a_measured_count_is_a_term() -> None:
    processes, files = [1, 2, 4, 8, 16, 32, 64, 128], [3, 9, 5, 20, 11, 60, 30, 200]
    counts = [one * other for one, other in zip(processes, files, strict=True)]
    term = counted_term("processes*files", SIZES, counts)
    found = study(SIZES, [500 + 7 * count for count in counts], exact=True, terms=[term])
    assert found.law == "processes*files"
    assert found.best.slope == pytest.approx(7)
    with pytest.raises(UsageError, match="not a count that grows"):
        counted_term("x", SIZES, [1] * 8)


def test_an_exact_cubic_with_lower_terms_is_no_sum_of_two() -> None:
    sizes = [2**k for k in range(9)]
    found = study(sizes, [round(5_000_000 + 2461 * n + 2 * n**2 + 0.02 * n**3) for n in sizes], exact=True)
    assert (found.law, found.certainty) == ("none", "-")
    assert "n^3" in str(found.misfit)
    at_twice = predict(found, 512)
    assert at_twice.low <= 9_468_674 <= at_twice.high < 1.01 * 9_468_674


def test_an_exact_law_in_decimals_is_clear_where_it_meets_their_last_digit() -> None:
    sizes = [2**k for k in range(9)]
    rounded = study(sizes, [round(5 + 0.0301 * n + 0.00031 * n**2, 3) for n in sizes], exact=True)
    assert (rounded.law, rounded.certainty) == ("n + n^2", "clear")


def test_exact_accidents_around_a_line_leave_it_clear() -> None:
    """Real boots are exact and lie a little beside every law: no sum of more terms explains it."""
    off = (-0.4, 0.6, 0.2, -0.5, 0.3, -0.6, 0.5, -0.2, 0.1)
    costs = [1_000_000 + 20_000 * 2**k + round(1_000 * each) for k, each in enumerate(off)]
    found = study([2**k for k in range(9)], costs, exact=True)
    assert (found.law, found.certainty) == ("n", "clear")


def test_the_interval_of_an_exponent_is_a_number_where_costs_tie() -> None:
    sizes = [2**k for k in range(8) for _ in range(4)]
    noise = np.random.default_rng(0).normal(0, 0.003, len(sizes))
    costs = [16 * round((100 + 0.01 * n) * float(np.exp(off)) / 16) for n, off in zip(sizes, noise, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = study(sizes, costs, exact=False).exponent
    assert found is not None
    assert found.low <= found.value <= found.high


def test_powers_of_two_are_an_exponential_without_exact() -> None:
    found = study(range(9), [2**n for n in range(9)], exact=False)
    assert (found.best.model.family, found.misfit) == ("exponential", None)
    assert found.best.model.parameter == pytest.approx(1.0)
    at_twice = predict(found, 16)
    assert at_twice.low <= 2**16 <= at_twice.high < 100 * 2**16
    assert at_twice.low > 1


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The zoo of laws."""
    return load_bench("scaling_laws")


def test_laws_that_were_held_out_are_not_wrongly_called_clear_and_stay_in_the_band(bench: ModuleType) -> None:
    found = bench.run(bench.HELD_OUT, range(50_000, 50_001))
    assert found.wrong == ()
    assert found.held >= 0.9 * found.fits


def test_the_bands_of_five_sizes_hold_the_truth_of_laws_that_were_held_out(bench: ModuleType) -> None:
    found = bench.run(bench.HELD_OUT, range(50_000, 50_001), bench.FEW)
    assert (found.wrong, found.clear) == ((), 0)
    assert found.held >= 0.93 * found.fits


def test_sums_of_three_terms_are_in_the_band_and_never_clear(bench: ModuleType) -> None:
    for noise in (0.0, 0.003):
        found = bench.run_sums(range(50_000, 50_020), noise)
        assert (found.wrong, found.clear) == ((), 0)
        assert found.held >= 0.95 * found.fits


def test_a_law_is_not_clear_where_noise_hides_a_term_that_adds_an_eighth(bench: ModuleType) -> None:
    assert bench.run_sums(range(2_085, 2_094), 0.01).wrong == ()
