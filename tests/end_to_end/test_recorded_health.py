"""`firstlight health` on recorded boots: the guest reports what the checks need, and planted breakages are caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import firstlight
from bench_modules import load_bench
from firstlight.experiment.files import overlay_for
from firstlight.lab.run.record import record
from short_boots import short

pytestmark = pytest.mark.boot


def test_a_recorded_boot_is_healthy_and_says_what_it_cannot_know(short_boot: Path) -> None:
    found = firstlight.health(short_boot, short_boot)
    assert found.healthy
    # The minimal guest has neither units nor a login.
    assert [check.id for check in found.unknown] == ["HC-UNITS", "HC-ACTIVE", "HC-LOGIN"]


def test_a_wrong_lpj_and_a_disabled_mitigation_are_caught(short_boot: Path, tmp_path: Path) -> None:
    options = short(output=tmp_path / "broken.boot", append="lpj=500000 mitigations=off")
    found = firstlight.health(record(options), short_boot)
    assert {"HC-LPJ", "HC-VULN"} <= {check.id for check in found.failed}


def test_debian_is_healthy(debian_boot: Path) -> None:
    found = firstlight.health(debian_boot, debian_boot)
    assert (found.healthy, found.unknown) == (True, [])


def test_breakages_of_debian_are_caught_in_one_boot(tmp_path: Path) -> None:
    bench = load_bench("planted_breakages")
    planted = [each for each in bench.BREAKAGES if each.base is bench.DEBIAN]
    files = {path: change for each in planted for path, change in each.files.items()}
    commands = [text for each in planted for text in each.change.get("guest_commands", ())[1:]]
    overlay = overlay_for(files, Path())
    common = short(output=tmp_path / "sound.boot", rootfs="debian", profile=False, guest_commands=(bench.DISK,))
    sound = record(common)
    broken = record(
        replace(common, output=tmp_path / "broken.boot", guest_commands=(bench.DISK, *commands), overlay=overlay)
    )
    found = firstlight.health(broken, sound)
    assert {each.check for each in planted} <= {check.id for check in found.failed}
