"""A whole Debian for arm64 boots to its last service, equal each time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import firstlight
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.lab.rootfs.debian import debian_place
from firstlight.recipe.isa import architecture_of
from firstlight.recipe.options import RecordOptions

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(shutil.which("qemu-system-aarch64") is None, reason="QEMU for arm64 is not installed"),
    pytest.mark.skipif(
        not debian_place((), architecture_of("aarch64")).is_file(),
        reason="Debian for arm64 is not built, which takes many minutes: `make foreign-debian`",
    ),
]


def record(output: Path, *, profile: bool = True, user_functions: bool = False) -> Boot:
    return firstlight.record_with(
        RecordOptions(output, arch="arm64", rootfs="debian", profile=profile, user_functions=user_functions)
    )


def test_systemd_comes_up_equal_each_time_and_unchanged_by_what_is_recorded(tmp_path: Path) -> None:
    first = record(tmp_path / "a.boot")
    assert {name for name, invariant in first.manifest.invariants.items() if not invariant.holds} == set()
    assert first.manifest.completeness.complete
    marks = first.marks()["mark"].to_list()
    assert marks[-1] == "ready"
    assert "switch_root" in marks
    assert {"systemd", "dbus-daemon", "systemd-logind", "cron"} <= set(first.processes()["name"])
    record(tmp_path / "b.boot")
    assert_equal(tmp_path / "a.boot", tmp_path / "b.boot")
    record(tmp_path / "plain.boot", profile=False)
    code = record(tmp_path / "code.boot", user_functions=True)
    assert all(invariant.holds for invariant in code.manifest.invariants.values())
    for other in ("plain.boot", "code.boot"):
        assert_undisturbed(tmp_path / "a.boot", tmp_path / other)
