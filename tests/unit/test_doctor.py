"""What this machine can do, and what adds the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.lab import doctor
from firstlight.lab.doctor import Check, exact_possible, examine, install_command


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has nothing but apt, whose cache is empty, and whose user is not root."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    (programs / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor, "_SYSTEM_PATHS", ())
    monkeypatch.setattr(doctor, "_KVM", tmp_path / "kvm")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return tmp_path


def states(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def test_a_bare_machine_lacks_everything_and_one_command_adds_it(bare_machine: Path) -> None:
    checks = examine()
    assert not exact_possible(checks)
    assert {name for name, state in states(checks).items() if state == "missing"} >= {
        "QEMU", "exact mode", "KVM", "busybox", "mke2fs", "mmdebstrap", "fakeroot", "zstd", "cpio", "browser",
    }  # fmt: skip
    assert install_command(checks) == (
        "sudo apt-get install -y busybox-static chromium cpio e2fsprogs fakeroot mmdebstrap qemu-system-arm "
        "qemu-system-misc qemu-system-x86 zstd"
    )


def test_a_machine_without_apt_gets_no_command(bare_machine: Path) -> None:
    (bare_machine / "bin" / "apt-get").unlink()
    assert install_command(examine()) is None


def test_the_exit_code_is_for_scripts(bare_machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 1
    data = data_of_answer(capsys.readouterr().out)
    assert data["exact"] is False
    assert data["install"].startswith("sudo apt-get install -y ")
    assert {check["state"] for check in data["checks"]} <= {"ok", "limited", "missing"}


def test_kvm_that_is_not_ours_is_limited(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare_machine / "kvm").touch()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert states(examine())["KVM"] == "limited"


def test_a_qemu_without_plugins_is_limited_and_exact_mode_is_not_possible(bare_machine: Path) -> None:
    qemu = bare_machine / "qemu"
    qemu.write_text('#!/bin/sh\ncase $1 in --version) echo "QEMU emulator version 9.1.0";; esac\n')
    qemu.chmod(0o755)
    checks = examine(qemu)
    assert states(checks)["QEMU"] == "limited"
    assert states(checks)["exact mode"] == "missing"


def test_kernels_in_the_cache_are_named(bare_machine: Path) -> None:
    assert states(examine())["default kernel"] == "limited"
    boot = bare_machine / "cache/firstlight/kernels/0123/boot"
    boot.mkdir(parents=True)
    (boot / "vmlinuz-6.1.0-cloud").touch()
    kernel = next(check for check in examine() if check.name == "default kernel")
    assert (kernel.state, kernel.detail) == ("ok", "vmlinuz-6.1.0-cloud")


def test_only_what_is_needed_decides_about_exact_mode() -> None:
    fine = [Check("QEMU", "ok", "", needed=True), Check("KVM", "missing", ""), Check("browser", "missing", "")]
    assert exact_possible(fine)
    assert not exact_possible([*fine, Check("busybox", "missing", "", needed=True)])
