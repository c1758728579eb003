"""What this machine can do, and what adds the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.lab import doctor
from firstlight.lab.doctor import Check, exact_possible, examine, install_command
from firstlight.lab.host import package_manager


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian that has nothing but apt, whose cache is empty, and whose user is not root."""
    programs = tmp_path / "bin"
    programs.mkdir()
    add_program(programs, "apt-get")
    system(tmp_path, monkeypatch, 'ID=debian\nNAME="Debian GNU/Linux"\n')
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor, "_SYSTEM_PATHS", ())
    monkeypatch.setattr(doctor, "_KVM", tmp_path / "kvm")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return tmp_path


def add_program(programs: Path, name: str) -> None:
    (programs / name).write_text("#!/bin/sh\nexit 1\n")
    (programs / name).chmod(0o755)


def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str | None) -> None:
    """Let the machine's os-release have this text."""
    path = tmp_path / "os-release"
    if release is not None:
        path.write_text(release, encoding="utf-8")
    monkeypatch.setattr(package_manager, "OS_RELEASE", (path, tmp_path / "usr-lib-os-release"))


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
        "qemu-system-mips qemu-system-misc qemu-system-ppc qemu-system-x86 zstd"
    )


@pytest.mark.parametrize(
    ("program", "release", "command"),
    [
        (
            "dnf",
            'NAME="Fedora Linux"\nVERSION="41 (Workstation Edition)"\nID=fedora\nPLATFORM_ID="platform:f41"\n',
            "sudo dnf install -y busybox chromium cpio e2fsprogs fakeroot mmdebstrap qemu-system-aarch64 "
            "qemu-system-arm qemu-system-mips qemu-system-ppc qemu-system-riscv qemu-system-x86 zstd",
        ),
        (
            "dnf",
            'ID="rocky"\nID_LIKE="rhel centos fedora"\n',
            "sudo dnf install -y busybox chromium cpio e2fsprogs fakeroot mmdebstrap qemu-system-aarch64 "
            "qemu-system-arm qemu-system-mips qemu-system-ppc qemu-system-riscv qemu-system-x86 zstd",
        ),
        (
            "pacman",
            'NAME="EndeavourOS"\nID="endeavouros"\nID_LIKE="arch"\n',
            "sudo pacman -S --needed busybox chromium cpio e2fsprogs fakeroot qemu-system-aarch64 qemu-system-arm "
            "qemu-system-mips qemu-system-ppc qemu-system-riscv qemu-system-x86 zstd",
        ),
        (
            "zypper",
            'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n',
            "sudo zypper install -y busybox-static chromium cpio e2fsprogs fakeroot qemu-arm qemu-extra qemu-ppc "
            "qemu-x86 zstd",
        ),
        (
            "apk",
            'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.0\n',
            "sudo apk add busybox-static chromium cpio e2fsprogs fakeroot qemu-system-aarch64 qemu-system-arm "
            "qemu-system-mips64el qemu-system-ppc64 qemu-system-riscv64 qemu-system-x86_64 zstd",
        ),
        (
            "nix-shell",
            'ANSI_COLOR="0;38;2;126;186;228"\nID=nixos\nVERSION_ID="25.05"\n',
            "nix-shell -p chromium cpio e2fsprogs fakeroot mmdebstrap pkgsStatic.busybox qemu zstd",
        ),
    ],
    ids=["fedora", "rocky", "endeavouros", "tumbleweed", "alpine", "nixos"],
)
def test_each_distribution_gets_the_command_of_its_own(
    program: str, release: str, command: str, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Debian's own is there, too, as on machines that build packages for it.
    add_program(bare_machine / "bin", program)
    system(bare_machine, monkeypatch, release)
    checks = examine()
    assert install_command(checks) == command
    lacks = [check.remedy for check in checks if check.name == "mmdebstrap"]
    assert lacks == [None if "mmdebstrap" in command else f"{program} has none: install what Debian has in the "
                     "package `mmdebstrap`"]  # fmt: skip


@pytest.mark.parametrize("release", [None, "", "ID=unheard-of\n", "\x00\xff=\nID='open"])
def test_a_machine_of_an_unknown_distribution_gets_the_command_of_what_it_has(
    release: str | None, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare_machine / "bin" / "apt-get").unlink()
    (bare_machine / "os-release").unlink()
    system(bare_machine, monkeypatch, release)
    assert install_command(examine()) is None
    add_program(bare_machine / "bin", "apk")
    assert (install_command(examine()) or "").startswith("sudo apk add ")


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
