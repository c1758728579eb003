"""Noisy mode in simulated sessions with drift: the quick form of `benches/noisy_statistics.py`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scipy.stats import binom

_BENCHES = Path(__file__).parents[2] / "benches"
_SESSIONS = 200


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The benchmark as a module."""
    sys.path.insert(0, str(_BENCHES))
    try:
        spec = importlib.util.spec_from_file_location("noisy_statistics", _BENCHES / "noisy_statistics.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(_BENCHES))
    return module


def test_equal_arms_are_seldom_called_different(bench: ModuleType) -> None:
    """So many alarms come once in a thousand times where the rate is the promised 6 %."""
    assert bench.simulate(_SESSIONS, 0.0).alarms <= binom.ppf(0.999, _SESSIONS, 0.06)


@pytest.mark.parametrize("change", [0.0, 0.01])
def test_the_interval_holds_the_truth(bench: ModuleType, change: float) -> None:
    assert bench.simulate(_SESSIONS, change, first_seed=5_001).covered >= binom.ppf(0.001, _SESSIONS, 0.94)


def test_a_drift_between_arms_is_not_taken_for_a_change(bench: ModuleType) -> None:
    blind = bench.simulate(_SESSIONS, 0.0, in_turns=False, doubting=False)
    assert blind.alarms > _SESSIONS / 2
    assert bench.simulate(_SESSIONS, 0.0, in_turns=False).alarms <= binom.ppf(0.999, _SESSIONS, 0.06)
