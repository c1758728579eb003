"""How long a boot with remedies may take: the limits come from the baseline."""

from __future__ import annotations

from pathlib import Path

import pytest

from bundles import make_bundle
from firstlight.advise.tuning import boots
from firstlight.advise.tuning.boots import Bench
from firstlight.advise.tuning.goal import Goal
from firstlight.bundle.boot import Boot
from firstlight.bundle.open import open
from firstlight.experiment import boot_cache
from firstlight.lab.host.progress import SilentProgress
from firstlight.recipe.options import RecordOptions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[RecordOptions]:
    """The options of the boots that are asked for, none of which is made."""
    seen: list[RecordOptions] = []

    def obtain(options: RecordOptions, *_: object) -> tuple[Path, bool]:
        seen.append(options)
        return Path(), True

    monkeypatch.setattr(boots, "resolve", lambda options, progress: options)
    monkeypatch.setattr(boot_cache, "obtain", obtain)
    return seen


def bench(baseline: Path, options: RecordOptions) -> Bench:
    made = Bench(options, baseline, Goal.READY, {}, Path(), None, 1, SilentProgress())
    made.kernel = Path("bzImage")
    return made


def whole_seconds(boot: Boot) -> int:
    return -(-(boot.manifest.totals.virtual_ns or 0) // 10**9)


def test_a_boot_without_a_profile_ends_by_the_hosts_time(asked: list[RecordOptions], tmp_path: Path) -> None:
    """Nothing sees its virtual time, so that limit cannot end it."""
    baseline = make_bundle(tmp_path)
    options = RecordOptions(output=tmp_path / "x.boot")
    bench(baseline, options).boot_of(frozenset(), profile=False)
    assert asked[0].timeout_wall_s == 60 + 45 * whole_seconds(open(baseline)) < options.timeout_wall_s


def test_a_shorter_limit_of_the_recipe_stays(asked: list[RecordOptions], tmp_path: Path) -> None:
    options = RecordOptions(output=tmp_path / "x.boot", timeout_wall_s=30, timeout_virtual_s=2)
    bench(make_bundle(tmp_path), options).boot_of(frozenset(), profile=False)
    assert (asked[0].timeout_wall_s, asked[0].timeout_virtual_s) == (30, 2)


def test_a_boot_with_a_profile_ends_by_its_virtual_time(asked: list[RecordOptions], tmp_path: Path) -> None:
    options = RecordOptions(output=tmp_path / "x.boot")
    bench(make_bundle(tmp_path), options).boot_of(frozenset())
    assert asked[0].timeout_wall_s == options.timeout_wall_s
    assert asked[0].timeout_virtual_s == 20
