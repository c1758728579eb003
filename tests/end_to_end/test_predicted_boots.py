"""Predictions of real boots against the boots without the work."""

from __future__ import annotations

from pathlib import Path

import pytest

import firstlight

pytestmark = pytest.mark.boot


def test_the_boot_without_an_initcall_is_ready_when_the_replay_says(short_boot: Path, boots: Path) -> None:
    forecast = firstlight.whatif(short_boot, without=["crypto_algapi_init"], prove=True, output=boots / "without.boot")
    prediction, proof = forecast.prediction, forecast.proof
    assert prediction.residual_ns == 0
    assert proof is not None
    assert proof.how == ("initcall_blacklist=crypto_algapi_init",)
    assert prediction.change_ns < -prediction.recorded_ns // 4
    assert abs(proof.error) < 0.02
    assert proof.proved_ns == firstlight.open(boots / "without.boot").manifest.totals.virtual_ns


def test_the_share_of_a_function_shortens_the_phases_that_it_is_in(short_boot: Path) -> None:
    boot = firstlight.open(short_boot)
    took = boot.functions().filter(function="dh_compute_value")["total_ns"].item()
    prediction = firstlight.whatif(boot, faster={"dh_compute_value": 0.5}).prediction
    assert prediction.change_ns == pytest.approx(-took / 2, rel=0.1)
