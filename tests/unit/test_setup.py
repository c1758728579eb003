"""The set-up of a fresh machine."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What the script itself is made of.
SHELL = ("bash", "sed", "sort", "head", "cut", "dirname", "cat", "env", "printf")


@pytest.fixture
def fresh_machine(tmp_path: Path) -> Path:
    """A directory of programs: a shell and its tools, an apt that writes down what it is asked, nothing else."""
    for name in SHELL:
        found = next((Path(place) / name for place in ("/bin", "/usr/bin") if (Path(place) / name).exists()), None)
        if found is not None:
            (tmp_path / name).symlink_to(found)
    program(tmp_path, "id", "echo ${TEST_UID:-1000}")
    program(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/asked')
    program(
        tmp_path,
        "apt-cache",
        'case $2 in rustc) echo "  Candidate: 1.63.0";; rustc-web) echo "  Candidate: 1.96.0";; esac',
    )
    return tmp_path


def program(directory: Path, name: str, text: str) -> None:
    (directory / name).write_text(f"#!/bin/bash\n{text}\n")
    (directory / name).chmod(0o755)


def packages(machine: Path, *sets: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the script on the machine; system directories stay out of its sight."""
    script = (ROOT / "make/packages.sh").read_text().replace("PATH=$PATH:/usr/sbin:/sbin", "")
    (machine / "make").mkdir(exist_ok=True)
    (machine / "make/packages.sh").write_text(script)
    (machine / "Cargo.toml").write_text((ROOT / "Cargo.toml").read_text())
    words = [str(machine / "bash"), str(machine / "make/packages.sh"), *sets]
    return subprocess.run(words, env={"PATH": str(machine), **more}, capture_output=True, text=True, check=False)


def test_a_user_gets_the_one_command_to_run_and_nothing_is_installed(fresh_machine: Path) -> None:
    said = packages(fresh_machine, "run", "build")
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == (
        "hint: run `sudo apt-get install -y --no-install-recommends gcc libc6-dev rustc-web cargo-web qemu-system-x86 "
        "busybox-static cpio e2fsprogs mmdebstrap zstd fakeroot`"
    )
    assert not (fresh_machine / "asked").exists()


def test_root_installs_them(fresh_machine: Path) -> None:
    said = packages(fresh_machine, "run", TEST_UID="0")
    assert said.returncode == 0, said.stderr
    asked = (fresh_machine / "asked").read_text().splitlines()
    assert asked[0].startswith("update")
    assert asked[1].startswith("install -y --no-install-recommends qemu-system-x86 busybox-static")


def test_what_is_there_is_not_asked_for(fresh_machine: Path) -> None:
    for name in ("qemu-system-x86_64", "cpio", "mke2fs", "mmdebstrap", "zstd", "fakeroot", "busybox"):
        program(fresh_machine, name, "true")
    program(fresh_machine, "ldd", "exit 1")
    assert packages(fresh_machine, "run").returncode == 0


def test_a_machine_whose_distribution_has_no_rust_is_told_where_it_is(fresh_machine: Path) -> None:
    program(fresh_machine, "gcc", "echo /bin/sh")
    program(fresh_machine, "apt-cache", 'echo "  Candidate: (none)"')
    said = packages(fresh_machine, "build", TEST_UID="0")
    assert said.returncode == 1
    assert "rustup" in said.stderr
    assert not any(line.startswith("install") for line in (fresh_machine / "asked").read_text().splitlines())


def test_a_machine_without_apt_gets_the_names(fresh_machine: Path) -> None:
    (fresh_machine / "apt-get").unlink()
    said = packages(fresh_machine, "run")
    assert said.returncode == 1
    assert "has no apt-get" in said.stderr


def test_locked_requirements_have_digests_and_no_addresses() -> None:
    for path in ROOT.glob("requirements*.txt"):
        text = path.read_text()
        assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text), path
        entries = re.findall(r"^[a-z0-9-]+==.*(?:\n    .*)*", text, re.MULTILINE)
        assert entries
        assert all("--hash=sha256:" in entry for entry in entries), path


def test_make_help_names_every_target_of_the_readme() -> None:
    said = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "MAKEFLAGS": ""}
    )
    listed = {line.split()[0] for line in said.stdout.splitlines() if line.startswith("  ")}
    assert listed >= {"demo", "test", "lint", "bench", "build", "web", "guest", "plugin", "clean", "help"}
    assert set(re.findall(r"`make ([a-z]+)", (ROOT / "README.md").read_text())) <= listed
