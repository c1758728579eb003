"""A whole Debian for another architecture than the host's boots to its last service, equal each time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import firstlight
from equal_boots import assert_equal, assert_undisturbed
from firstlight.api import Boot
from firstlight.lab.rootfs.debian import debian_place
from firstlight.recipe.isa import chosen_architecture
from firstlight.recipe.options import RecordOptions

pytestmark = pytest.mark.boot


def needs(name: str) -> None:
    """Skip the test when this host cannot boot Debian for the architecture."""
    architecture = chosen_architecture(name)
    if shutil.which(architecture.qemu_binary) is None:
        pytest.skip(f"QEMU for {name} is not installed")
    if not debian_place((), architecture).is_file():
        pytest.skip(f"Debian for {name} is not built, which takes many minutes: `make foreign-debian`")


def record(name: str, output: Path, *, profile: bool = True, user_functions: bool = False) -> Boot:
    return firstlight.record_with(
        RecordOptions(output, arch=name, rootfs="debian", profile=profile, user_functions=user_functions)
    )


@pytest.mark.parametrize("name", ["arm64", "riscv64"])
def test_systemd_comes_up_equal_each_time_and_unchanged_by_what_is_recorded(name: str, tmp_path: Path) -> None:
    needs(name)
    first = record(name, tmp_path / "a.boot")
    assert {broken for broken, invariant in first.manifest.invariants.items() if not invariant.holds} == set()
    assert first.manifest.completeness.complete
    marks = first.marks()["mark"].to_list()
    assert marks[-1] == "ready"
    assert "switch_root" in marks
    assert {"systemd", "dbus-daemon", "systemd-logind", "cron"} <= set(first.processes()["name"])
    record(name, tmp_path / "b.boot")
    assert_equal(tmp_path / "a.boot", tmp_path / "b.boot")
    record(name, tmp_path / "plain.boot", profile=False)
    code = record(name, tmp_path / "code.boot", user_functions=True)
    assert all(invariant.holds for invariant in code.manifest.invariants.values())
    for other in ("plain.boot", "code.boot"):
        assert_undisturbed(tmp_path / "a.boot", tmp_path / other)
