"""The Debian recipe: made once by mmdebstrap, the same on every machine of one suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.errors import LabError
from firstlight.lab.rootfs import debian
from firstlight.lab.rootfs.debian import debian_digest, debian_tar, unpacked_place, unpacked_tar
from firstlight.recipe.isa import architecture_of
from stand_ins import stand_in

#: Writes down its arguments and clock, and makes the tar that it was asked for.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$SOURCE_DATE_EPOCH" "$@" >>"$CALLS"
[ -z "$BROKEN" ] || { echo "I: trying" >&2; echo "E: no mirror answers" >&2; exit 25; }
for argument; do case $argument in *.tar) echo tar >"$argument";; esac; done
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the stand-in writes down its calls."""
    monkeypatch.setattr(debian, "os_release", lambda: {"ID": "debian", "VERSION_CODENAME": "bookworm"})
    return stand_in(tmp_path, monkeypatch, {"mmdebstrap": STAND_IN})


def test_the_userspace_is_made_once_with_a_fixed_clock_and_machine(calls: Path) -> None:
    path = debian_tar()
    assert path.read_text() == "tar\n"
    asked = calls.read_text().splitlines()
    assert asked[0] == "1704067200"
    assert "--variant=minbase" in asked
    assert "bookworm" in asked
    included = next(line for line in asked if line.startswith("--include="))
    assert {"systemd-sysv", "udev", "dbus"} <= set(included.removeprefix("--include=").split(","))
    assert any("etc/machine-id" in line and line.startswith("--customize-hook=echo") for line in asked)
    assert debian_tar() == path
    assert calls.read_text().splitlines() == asked


def test_another_suite_is_another_userspace(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = debian_digest()
    monkeypatch.setattr(debian, "os_release", lambda: {"ID": "debian", "VERSION_CODENAME": "trixie"})
    assert debian_digest() != here


def test_another_architecture_is_another_userspace_of_foreign_packages(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian, "foreign_command", lambda _architecture, command: command)
    arm = architecture_of("aarch64")
    assert debian_tar((), arm) != debian_tar()
    first, second = (part.splitlines() for part in calls.read_text().split("1704067200")[1:])
    assert {"--architectures=arm64", "--skip=check/qemu"} <= set(first)
    assert not any(line.startswith("--architectures") for line in second)


def test_packages_are_unpacked_without_executing_a_program_of_theirs(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> list[str]:
        raise AssertionError("nothing of another architecture is executed")

    monkeypatch.setattr(debian, "foreign_command", refuse)
    arm = architecture_of("aarch64")
    path = unpacked_tar(("xfsprogs",), arm)
    assert path == unpacked_place(("xfsprogs",), arm)
    asked = calls.read_text().splitlines()
    assert {"--variant=extract", "--architectures=arm64", "--include=?essential", "--include=xfsprogs"} <= set(asked)
    assert "--include=systemd-sysv" in asked, "it has what a Debian that boots has"
    assert not any(line.startswith("--customize-hook") for line in asked)
    assert unpacked_tar(("xfsprogs",), arm) == path
    assert calls.read_text().splitlines() == asked
    assert len({path, unpacked_place((), arm), unpacked_place(("xfsprogs",)), debian.debian_place((), arm)}) == 4


def test_a_host_that_is_no_debian_gets_the_stable_one(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "os_release", lambda: {"ID": "fedora", "VERSION_CODENAME": "f"})
    debian_tar()
    assert "stable" in calls.read_text().splitlines()


def test_a_failure_is_reported_in_the_tools_own_words_and_nothing_is_kept(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKEN", "yes")
    with pytest.raises(LabError, match="mmdebstrap failed: no mirror answers"):
        debian_tar()
    monkeypatch.delenv("BROKEN")
    assert debian_tar().read_text() == "tar\n"


def test_a_missing_tool_is_named_with_its_package(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(calls.parent))
    with pytest.raises(LabError, match="`mmdebstrap` is missing") as caught:
        debian_tar()
    assert "mmdebstrap`" in str(caught.value.hint)
