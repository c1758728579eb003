"""What a bisection prints of changes that may be accidents."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.difference import exact_difference
from firstlight.history.bisection import Bisection, Measured, bisect_versions
from firstlight.render.terminal.report import print_report
from firstlight.render.views.bisection import bisection_report
from gate_boots import slower

PHASE = "initcalls_device"


def report(directory: Path, times: dict[str, int]) -> Bisection:
    """Bisect invented times, and print the result."""
    found = bisect_versions(list(times), lambda name: Measured(name, times[name]))
    before = make_bundle(directory, name="good.boot")
    after = slower(directory, "bad.boot", PHASE, found.change_ns)
    print_report(bisection_report(found, exact_difference(open_boot(before), open_boot(after)), ()))
    return found


@pytest.mark.parametrize(
    ("rest_ns", "said"),
    [
        (974_000, "the rest is within the noise band: 1,636,922 ns"),
        (-974_000, "the rest is within the noise band: 1,636,922 ns"),
        (2_000_000, "other versions caused the rest"),
        (0, None),
    ],
)
def test_what_other_versions_caused_is_more_than_the_noise_band(
    tmp_path: Path, rest_ns: int, said: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    base, by = 1_500_000_000, 9_000_000
    report(tmp_path, {"1": base, "2": base, "3": base + by, "4": base + by + rest_ns})
    text = " ".join(capsys.readouterr().out.split())
    assert "3 changed the boot by +9,000,000 ns" in text
    assert ("in total" in text) == (said is not None)
    assert said is None or f"in total: {said}" in text
    assert "accident" not in text


def test_a_change_within_the_noise_band_may_be_an_accident(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(tmp_path, {"1": 1_500_000_000, "2": 1_500_900_000})
    assert "this may be an accident; noise band: 1,636,922 ns" in " ".join(capsys.readouterr().out.split())
