"""Arms whose boots vary, from bundles to a verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import firstlight
from answers import data_of_answer
from bundles import make_bundle
from firstlight.bundle.open import open as open_boot
from firstlight.cli.main import run
from firstlight.comparison.exact.rows import Key
from firstlight.comparison.sides.arms import CompareError, read_arms
from firstlight.comparison.sides.method import Method, decide_method, keep_alike, method_of
from firstlight.comparison.statistical.breakdown import BootParts
from firstlight.comparison.statistical.calibration import calibrate, random_pairs
from firstlight.comparison.statistical.comparison import NoisyComparison, compare_noisy
from firstlight.comparison.statistical.levels import mean_level
from firstlight.comparison.statistical.pairing import How
from firstlight.comparison.statistical.testbed_noise import Calibration, facts_of_testbed
from firstlight.errors import UnhealthyBootError, UsageError
from firstlight.render.views.statistical_comparison import headline
from gate_boots import change
from varying_boots import noise, session, stretched


def _compare(directory: Path, *, pairing: How = "auto", calibration: Calibration | None = None) -> NoisyComparison:
    a, b = read_arms([directory / "a", directory / "b"])
    return compare_noisy(a, b, pairing=pairing, calibration=calibration)


def test_a_slower_phase_is_a_regression_that_names_the_phase_and_adds_up(tmp_path: Path) -> None:
    session(tmp_path, noise(10, change=0.04), phase="initcalls_device")
    found = _compare(tmp_path)
    assert found.verdict.word == "regression"
    assert found.paired
    low, high = found.interval_percent or (0.0, 0.0)
    assert low < 0.04 * 543.655 / 829.882 * 100 < high
    phases = found.levels[0]
    assert [row.name for row in phases.rows if row.differs] == ["initcalls_device"]
    assert phases.sum_less_whole_scaled == 0
    for level in found.levels:
        assert sum(row.change_scaled for row in level.rows) == level.whole.change_scaled
        assert sum(row.a_sum_ns for row in level.rows) == sum(found.a_ns)
        assert sum(row.b_sum_ns for row in level.rows) == sum(found.b_ns)
    bridge = found.bridge
    assert bridge.mean_ns == pytest.approx(phases.whole.change_ns)
    assert bridge.headline_ns + bridge.bridge_ns == pytest.approx(bridge.mean_ns)


def test_arms_of_different_sizes_add_up_in_whole_numbers_too(tmp_path: Path) -> None:
    session(tmp_path, noise(9), in_turns=False)
    shutil.rmtree(tmp_path / "b" / "01.boot")
    found = _compare(tmp_path, pairing="none")
    assert (len(found.a_ns), len(found.b_ns), found.levels[0].scale) == (9, 8, 72)
    assert all(level.sum_less_whole_scaled == 0 for level in found.levels)


def test_equal_arms_are_equivalent(tmp_path: Path) -> None:
    session(tmp_path, noise(12, sigma=0.003))
    found = _compare(tmp_path)
    assert found.verdict.word == "equivalent"
    assert not any(row.differs for level in found.levels for row in level.rows)


def test_a_failed_boot_takes_its_partner_with_it_and_both_are_named_with_the_reason(tmp_path: Path) -> None:
    session(tmp_path, noise(8), failed=[(2, 1)])
    found = _compare(tmp_path)
    assert len(found.a_ns) == len(found.b_ns) == 7
    reasons = {Path(each.boot).parent.name: each.reason for each in found.excluded}
    assert reasons["b"] == "the boot failed (panic): no root file system"
    assert reasons["a"].startswith("its pair is incomplete: `03.boot`: the boot failed (panic)")


def test_five_pairs_are_too_few_and_it_says_how_many_are_needed(tmp_path: Path) -> None:
    session(tmp_path, noise(5, change=0.2))
    found = _compare(tmp_path)
    assert found.verdict.word == "inconclusive"
    assert found.verdict.reason == "need at least 6 pairs, there are 5"
    assert found.interval_percent is None


def test_few_wild_pairs_do_not_promise_that_the_least_number_settles_it(tmp_path: Path) -> None:
    session(tmp_path, [(1.0, 0.8), (0.9, 1.05), (1.2, 1.1), (1.0, 1.25)])
    found = _compare(tmp_path)
    assert found.verdict.least == 2
    assert (found.verdict.more or 0) > 50
    assert "at least 2 more pairs are needed, and if they vary as these do, about" in headline(found)


def test_rows_have_no_interval_where_the_headline_has_none(tmp_path: Path) -> None:
    session(tmp_path, noise(5, change=0.2))
    found = _compare(tmp_path)
    assert found.interval_percent is None
    rows = [row for level in found.levels for row in (*level.rows, level.whole)]
    assert all((row.low_ns, row.high_ns) == (None, None) for row in rows)


@pytest.mark.parametrize("pairs", [6, 12])
def test_intervals_of_rows_hold_the_truth_as_often_as_they_say(pairs: int) -> None:
    source = np.random.default_rng(20)
    # Rows that take too little to be tested, beside one that takes nearly all, and none of which changes.
    times = np.rint(source.normal(1e6, 1e4, (2, pairs, 2_000))).astype(int).tolist()
    arms = [[_boot_of_rows([*row, 10**13]) for row in arm] for arm in times]
    level = mean_level("initcalls", *arms, paired=True, seed=1)
    small = [row for row in level.rows if row.a_mean_ns < 1e9]
    held = sum((row.low_ns or 0.0) <= 0.0 <= (row.high_ns or 0.0) for row in small)
    assert held / len(small) >= 0.92


def _boot_of_rows(times: list[int]) -> BootParts:
    rows = {Key(str(number)): ns for number, ns in enumerate(times)}
    return BootParts(whole_ns=sum(times), levels={"initcalls": rows})


def test_arms_recorded_one_after_the_other_have_no_pairs_and_a_small_change_is_not_believed(tmp_path: Path) -> None:
    drifting = [(1 + 0.001 * place, 1.012 + 0.001 * place) for place in range(12)]
    session(tmp_path, drifting, in_turns=False)
    found = _compare(tmp_path)
    assert not found.paired
    assert "not recorded in turns" in found.pairing
    assert found.verdict.word == "inconclusive"
    assert "a change of the machine could cause the difference" in found.verdict.reason
    assert any("in random order" in note for note in found.notes)


def test_a_fixed_order_is_named_and_settles_nothing(tmp_path: Path) -> None:
    session(tmp_path, noise(12, change=0.03), fixed=True)
    found = _compare(tmp_path)
    assert found.paired
    assert found.verdict.word == "inconclusive"
    assert "A was recorded first in nearly every pair" in found.verdict.reason
    assert found.order is not None
    assert (found.order.a_first, found.order.b_first, found.order.is_fixed) == (12, 0, True)
    assert any(note.startswith("fixed order: ") for note in found.notes)


def test_equal_times_of_recording_invent_no_order(tmp_path: Path) -> None:
    session(tmp_path, noise(12, change=0.03))
    for bundle in tmp_path.glob("*/*.boot"):
        change(bundle, recorded_at="2024-05-01T12:00:00+00:00")
    found = _compare(tmp_path)
    assert (found.paired, found.order) == (False, None)
    assert any(note.startswith("the order of recording is unknown") for note in found.notes)
    assert not any("fixed order" in note for note in found.notes)


def test_boots_of_a_pair_with_one_time_of_recording_stay_a_pair(tmp_path: Path) -> None:
    session(tmp_path, noise(12, change=0.03))
    for place, bundle in enumerate(sorted((tmp_path / "a").glob("*.boot"))):
        other = tmp_path / "b" / bundle.name
        for each in (bundle, other):
            change(each, recorded_at=f"2024-05-01T12:{place:02}:00+00:00")
    found = _compare(tmp_path)
    assert (found.paired, len(found.a_boots), found.order) == (True, 12, None)


def test_a_change_of_the_machine_within_a_session_is_named_with_its_boot(tmp_path: Path) -> None:
    slow = [(one * (1.1 if place >= 7 else 1), other * (1.1 if place >= 7 else 1))
            for place, (one, other) in enumerate(noise(12, sigma=0.002))]  # fmt: skip
    session(tmp_path, slow)
    found = _compare(tmp_path)
    assert found.verdict.word == "equivalent"
    assert any("the machine changed by +" in note and "before boot 15 of 24" in note for note in found.notes)


def test_a_very_small_probability_is_a_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arms = [str(arm) for arm in session(tmp_path, noise(20, change=0.1))]
    assert run(["compare", *arms]) == 0
    said = capsys.readouterr().out
    assert "p < 0.0001" in said
    assert "p = <" not in said


def test_quantiles_and_looks_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    factors = [(one, other * (1.1 if place % 3 == 0 else 1)) for place, (one, other) in enumerate(noise(21))]
    arms = [str(arm) for arm in session(tmp_path, factors)]
    words = ["--quantile", "p50", "--quantile", "p95", "--quantile", "slow-share"]
    assert run(["compare", *arms, *words, "--json"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    rows = {row["statistic"]: row for row in found["quantiles"]}
    assert rows["slow-share"]["word"] == rows["p95"]["word"] == "regression"
    assert (rows["slow-share"]["change"]["a"], rows["slow-share"]["change"]["b"]) == (0, 7 / 21)
    assert rows["p95"]["change"]["low_percent"] > 1
    assert (found["look"], found["alpha"]) == (None, 0.05)
    assert run(["compare", *arms, "--look", "2", "--json"]) == 0
    (again,) = data_of_answer(capsys.readouterr().out)["comparisons"]
    assert (again["look"], again["alpha"], again["quantiles"]) == (2, 0.0125, [])
    narrow, wide = (each["interval_percent"] for each in (found, again))
    assert wide[0] <= narrow[0] < narrow[1] <= wide[1]
    assert run(["compare", *arms, "--quantile", "p99"]) == 2


def test_drift_that_both_arms_share_is_reported_and_taken_out_by_pairs(tmp_path: Path) -> None:
    factors = [(one * (1 + 0.002 * place), other * (1 + 0.002 * place))
               for place, (one, other) in enumerate(noise(12, sigma=0.001))]  # fmt: skip
    session(tmp_path, factors)
    found = _compare(tmp_path)
    assert found.verdict.word == "equivalent"
    assert any("drifted together by +2" in note for note in found.notes)


def test_pairs_by_name_are_taken_when_asked_for(tmp_path: Path) -> None:
    session(tmp_path, noise(8), in_turns=False)
    found = _compare(tmp_path, pairing="names")
    assert found.paired
    assert [Path(name).name for name in found.a_boots] == [Path(name).name for name in found.b_boots]


def test_the_same_boots_and_seed_give_the_same_answer_and_it_survives_json(tmp_path: Path) -> None:
    session(tmp_path, noise(7, change=0.01))
    found = _compare(tmp_path)
    assert _compare(tmp_path) == found
    data = json.loads(json.dumps(found.to_data(), allow_nan=False))
    assert data.pop("regime") == "noisy"
    assert NoisyComparison.model_validate(data) == found


def test_copies_of_one_boot_give_words_and_no_crash(tmp_path: Path) -> None:
    session(tmp_path, [(1.0, 1.0)] * 8)
    found = _compare(tmp_path)
    assert found.verdict.word == "equivalent"
    assert found.test.method == "every pair is equal"
    assert sum("took exactly the same time" in note for note in found.notes) == 2


def test_one_boot_a_side_gives_an_estimate_and_what_is_needed(tmp_path: Path) -> None:
    session(tmp_path, [(1.0, 1.1)])
    found = _compare(tmp_path)
    assert found.verdict.word == "inconclusive"
    assert (found.verdict.least, found.verdict.more) == (3, None)
    assert all(row.low_ns is None for row in found.levels[0].rows)


def test_a_boot_that_did_something_else_is_left_out_with_what_was_different(tmp_path: Path) -> None:
    session(tmp_path, noise(8))
    _rename_mark(tmp_path / "b" / "04.boot", "early_init_start", "late_init_start")
    found = _compare(tmp_path)
    assert len(found.a_ns) == 7
    assert any("lacks mark `early_init_start`" in each.reason for each in found.excluded)


def test_boots_that_seldom_do_the_same_are_not_timed(tmp_path: Path) -> None:
    session(tmp_path, noise(4))
    for number in (1, 2):
        _rename_mark(tmp_path / "b" / f"0{number}.boot", "early_init_start", f"odd_{number}")
    with pytest.raises(UnhealthyBootError, match="unstable: only 2 of 4 boots did the same"):
        keep_alike(read_arms([tmp_path / "a", tmp_path / "b"])[1])


@pytest.mark.parametrize(("soft", "alpha"), [(0.0, 0.05), (float("nan"), 0.05), (1.0, 0.0), (1.0, 1.5)])
def test_limits_that_cannot_be_are_refused(tmp_path: Path, soft: float, alpha: float) -> None:
    session(tmp_path, [(1.0, 1.0)])
    a, b = read_arms([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(UsageError):
        compare_noisy(a, b, soft_percent=soft, alpha=alpha)


def test_exact_repeats_are_exact_and_live_ones_noisy(tmp_path: Path) -> None:
    exact = [open_boot(make_bundle(tmp_path, name=f"{number}.boot")) for number in (1, 2)]
    assert decide_method(*exact).method == Method.EXACT
    live = [open_boot(stretched(tmp_path / f"live{number}.boot", 1 + number / 100, second=number)) for number in (1, 2)]
    report = decide_method(*live)
    assert (report.method, report.reasons) == (Method.NOISY, ("the same happens in both, at different times",))
    other = make_bundle(tmp_path, name="3.boot", seed=2)
    varying = method_of([*exact, open_boot(other)])
    assert varying.method == Method.NOISY
    assert any("firstlight verify" in reason for reason in varying.reasons)


def test_other_events_are_unstable_and_other_recipes_are_refused(tmp_path: Path) -> None:
    one = stretched(tmp_path / "1.boot", 1.0, second=1)
    other = stretched(tmp_path / "2.boot", 1.01, second=2)
    _rename_mark(other, "user_start", "elsewhere")
    report = decide_method(open_boot(one), open_boot(other))
    assert report.method == Method.UNSTABLE
    assert report.reasons == ("lacks mark `user_start`", "has besides mark `elsewhere`")
    failed = stretched(tmp_path / "3.boot", 1.0, second=3, failed=True)
    assert decide_method(open_boot(one), open_boot(failed)).method == Method.UNSTABLE
    exact = make_bundle(tmp_path)
    with pytest.raises(CompareError, match="not of the same recipe"):
        decide_method(open_boot(one), open_boot(exact))


def test_a_testbed_is_calibrated_and_then_judges(tmp_path: Path) -> None:
    session(tmp_path, noise(12, change=0.003, sigma=0.004, seed=3))
    a, b = read_arms([tmp_path / "a", tmp_path / "b"])
    testbed = facts_of_testbed(a.boots[0].manifest)
    ones, others = random_pairs([round(1e9 * each) for pair in noise(16, sigma=0.004) for each in pair], seed=4)
    made = calibrate(ones, others, testbed=testbed, seed=4, made_at="2024-05-01T12:00:00+00:00")
    assert made.is_stable
    assert Calibration.model_validate_json(made.model_dump_json()) == made
    assert [each.percent for each in made.detectable] == sorted(
        (each.percent for each in made.detectable), reverse=True
    )
    found = compare_noisy(a, b, calibration=made)
    assert found.floor_percent == pytest.approx(2 * made.sigma_percent / 12**0.5, rel=0.01)


def test_an_unstable_testbed_and_another_one_are_refused(tmp_path: Path) -> None:
    session(tmp_path, noise(6))
    manifest = read_arms([tmp_path / "a", tmp_path / "b"])[0].boots[0].manifest
    times = [round(1e9 * one) for one, _ in noise(14)]
    shifted = calibrate(times, [round(ns * 1.05) for ns in times], testbed=facts_of_testbed(manifest), seed=1)
    assert not shifted.is_stable
    with pytest.raises(CompareError, match="testbed is unstable"):
        _compare(tmp_path, calibration=shifted)
    even = [round(1e9 * other) for _, other in noise(14)]
    elsewhere = calibrate(times, even, testbed=facts_of_testbed(manifest) | {"cpu": "Haswell"}, seed=1)
    with pytest.raises(CompareError, match=r"another testbed: cpu Haswell there, Nehalem here"):
        _compare(tmp_path, calibration=elsewhere)


def test_too_few_boots_calibrate_nothing() -> None:
    with pytest.raises(UsageError, match="a calibration of a testbed needs at least 12 pairs, there are 3"):
        calibrate([1, 2, 3], [1, 2, 3], testbed={}, seed=1)


def _rename_mark(bundle: Path, mark: str, name: str) -> None:
    import polars as pl

    from bundles import write_table

    marks = pl.read_parquet(bundle / "marks.parquet")
    write_table(bundle, "marks", marks.with_columns(pl.col("mark").replace(mark, name)))


def test_a_verdict_of_boots_in_unknown_order_states_what_it_rests_on(tmp_path: Path) -> None:
    for arm, seconds in (("a", 5.0), ("b", 5.25)):
        (tmp_path / f"{arm}-logs").mkdir()
        for number in range(8):
            log = f"[    0.000000] Linux version 6.12\n[    {seconds + number / 500:.6f}] Run /init as init process\n"
            (tmp_path / f"{arm}-logs" / f"{number}.log").write_text(log)
        firstlight.import_batch(tmp_path / f"{arm}-logs", output=tmp_path / arm)
    found = _compare(tmp_path)
    assert found.verdict.word == "regression"
    assert "only if the machine did not change between the arms, as the order is unknown" in found.verdict.reason
