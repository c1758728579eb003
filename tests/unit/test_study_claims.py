"""Claims as data: how they are read, and how figures decide them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import FirstlightError
from firstlight.study.catalogue import find_study, studies
from firstlight.study.claims import Claim, Dependency, claims_of, parse_claims
from firstlight.study.outcome import Finding, Verdict
from firstlight.study.table import MissingValue
from firstlight.study.verdicts import evaluate

_PLAIN: dict[str, Any] = {
    "id": "stat", "statement": "A stat costs time.", "figure": "more", "unit": "percent", "expect": "at least",
    "limit": 0.0, "depends": ("kernel", "caches"), "refuted_by": "an equal walk",
}  # fmt: skip


def found(figures: dict[str, Any], untimed: tuple[Dependency, ...] = (), **changes: Any) -> Finding:
    return evaluate([Claim(**_PLAIN | changes)], figures, untimed)[0]


@pytest.mark.parametrize(
    ("figure", "changes", "verdict"),
    [
        (0.134, {}, Verdict.HOLDS),
        (-0.134, {}, Verdict.NO_LONGER),
        (0.134, {"value": 0.235, "tolerance": 0.2}, Verdict.DIRECTION),
        (0.22, {"value": 0.235, "tolerance": 0.2}, Verdict.HOLDS),
        (0.134, {"expect": "at most"}, Verdict.NO_LONGER),
        (0.134, {"expect": "between", "limit": (0.1, 0.2)}, Verdict.HOLDS),
        (1, {"expect": "yes", "limit": None}, Verdict.HOLDS),
        (0, {"expect": "yes", "limit": None}, Verdict.NO_LONGER),
        (3, {"expect": "count", "limit": None}, Verdict.COUNTED),
        (MissingValue("no kernel"), {}, Verdict.NOT_TESTABLE),
        (MissingValue("no kernel"), {"expect": "count", "limit": None}, Verdict.NOT_TESTABLE),
    ],
)
def test_the_figure_decides(figure: Any, changes: dict[str, Any], verdict: Verdict) -> None:
    assert found({"more": figure}, **changes).verdict is verdict


def test_what_the_machine_does_not_time_decides_no_fact() -> None:
    decided = {"decided_by": ("caches",)}
    evaluated = found({"more": 0.3}, (Dependency.CACHES,), **decided)
    assert (evaluated.verdict, evaluated.now) == (Verdict.MACHINE, "+30.0 %")
    assert evaluated.why == "The machine does not time: caches."
    assert found({"more": 0.3}, (), **decided).verdict is Verdict.HOLDS, "on a machine that has them"
    assert found({"more": 0.3}, (Dependency.CACHES,)).verdict is Verdict.HOLDS, "a dependency alone decides nothing"


def test_an_effect_inside_the_noise_band_is_none() -> None:
    inside = found({"more": 0.004, "band": 0.005}, band="band")
    assert (inside.verdict, inside.now) == (Verdict.NO_LONGER, "+0.4 %, inside the noise band of ±0.5 %")
    assert found({"more": 0.006, "band": 0.005}, band="band").verdict is Verdict.HOLDS
    level = found({"more": 0.004, "band": 0.005}, band="band", expect="between", limit=(-0.02, 0.02))
    assert level.verdict is Verdict.HOLDS, "that nothing changes is what is claimed"


@pytest.mark.parametrize(
    ("figure", "expect", "limit", "verdict"),
    [
        (0.001, "at most", 0.05, Verdict.HOLDS),  # no effect is less than 5 %
        (0.048, "at most", 0.05, Verdict.INCONCLUSIVE),
        (0.052, "at most", 0.05, Verdict.INCONCLUSIVE),
        (0.06, "at most", 0.05, Verdict.NO_LONGER),
        (-0.001, "at least", -0.05, Verdict.HOLDS),
        (0.001, "at least", 0.001, Verdict.NO_LONGER),  # no effect saves no time
        (-0.001, "at most", -0.001, Verdict.NO_LONGER),
        (0.0055, "at least", 0.001, Verdict.INCONCLUSIVE),
        (0.007, "at least", 0.001, Verdict.HOLDS),
        (0.018, "between", (-0.02, 0.02), Verdict.INCONCLUSIVE),
        (0.006, "between", (0.005, 0.007), Verdict.INCONCLUSIVE),  # the band is wider than the interval
        (0.03, "between", (-0.02, 0.02), Verdict.NO_LONGER),
    ],
)
def test_the_band_around_the_figure_is_held_against_the_limit(
    figure: float, expect: str, limit: Any, verdict: Verdict
) -> None:
    one = found({"more": figure, "band": 0.005}, band="band", expect=expect, limit=limit)
    assert one.verdict is verdict
    inside = abs(figure) <= 0.005
    assert ("reaches over the limit" in one.now) == (verdict is Verdict.INCONCLUSIVE and not inside)


def test_a_band_that_is_not_known_and_a_figure_that_is_no_number_are_named() -> None:
    unknown = found({"more": 0.134, "band": MissingValue("no perturbed boot came up")}, band="band")
    assert (unknown.verdict, unknown.now) == (Verdict.HOLDS, "+13.4 %, the noise band is not known")
    assert found({"more": 0.134, "band": float("nan")}, band="band").now == unknown.now
    nan = found({"more": float("nan")})
    assert (nan.verdict, nan.now) == (Verdict.NOT_TESTABLE, "the figure `more` is not a finite number")


def test_a_claim_without_a_figure_is_an_error_that_names_both() -> None:
    with pytest.raises(FirstlightError, match="claim `stat`: no figure `more` was measured"):
        found({})
    with pytest.raises(FirstlightError, match="claim `stat`: no figure `less` was measured"):
        found({"more": 1}, now="{less:time}")
    with pytest.raises(FirstlightError, match="claim `stat`: there is no unit `furlong`"):
        found({"more": 1}, now="{more:furlong}")


def test_texts_have_figures_with_their_units_and_say_what_is_missing() -> None:
    text = found({"more": 0.2, "time": 1_500_000, "gone": MissingValue("x")}, now="{time:time} of {gone:time}")
    assert text.now == "1.500 ms of none"
    why = {"no longer holds": "It is gone.", "holds": "It stays: {more:percent}."}
    assert found({"more": 0.2}, why=why).why == "It stays: +20.0 %."


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("limit = 0.0", "`at least` needs a `limit` of one number"),
        ('refuted_by = "an equal walk"', "refuted_by"),
        ('id = "stat"', "id"),
        ('depends = ["kernel", "caches"]', "depends"),
    ],
)
def test_what_a_claim_lacks_is_named(change: str, error: str) -> None:
    text = "\n".join(
        ["[[claim]]", 'id = "stat"', 'statement = "s"', 'figure = "more"', 'expect = "at least"', "limit = 0.0",
         'depends = ["kernel", "caches"]', 'refuted_by = "an equal walk"']
    )  # fmt: skip
    assert parse_claims(text, "c.toml")[0].id == "stat"
    with pytest.raises(FirstlightError, match=error):
        parse_claims(text.replace(change, ""), "c.toml")
    with pytest.raises(FirstlightError, match="two claims have the id `stat`"):
        parse_claims(f"{text}\n{text}", "c.toml")
    with pytest.raises(FirstlightError, match=r"`between` needs a `limit` of two numbers: `\[LOWER, UPPER\]`"):
        parse_claims(text.replace("at least", "between"), "c.toml")
    for wrong in ("true", '"1"'):
        with pytest.raises(FirstlightError, match="limit"):
            parse_claims(text.replace("limit = 0.0", f"limit = {wrong}"), "c.toml")
    with pytest.raises(FirstlightError, match="but `depends` does not"):
        parse_claims(f'{text}\ndecided_by = ["UART"]', "c.toml")


@given(figure=st.floats(-10, 10), limit=st.floats(-10, 10), value=st.floats(-10, 10), tolerance=st.floats(0, 2))
def test_a_verdict_follows_from_the_figure_alone(figure: float, limit: float, value: float, tolerance: float) -> None:
    changes: dict[str, Any] = {"limit": limit, "value": value, "tolerance": tolerance}
    verdict = found({"more": figure}, **changes).verdict
    assert (verdict is Verdict.NO_LONGER) == (figure < limit)
    if verdict is Verdict.HOLDS:
        assert abs(figure - value) <= tolerance * abs(value)
    assert found({"more": figure}, **changes).verdict is verdict


@pytest.mark.parametrize("study", [study.name for study in studies()])
def test_every_claim_of_a_study_names_what_it_depends_on_and_what_would_refute_it(study: str) -> None:
    claims = claims_of(find_study(study).package)
    assert claims
    assert all(claim.depends and claim.refuted_by for claim in claims)
    assert all(len(claim.statement.split()) <= 25 for claim in claims)
