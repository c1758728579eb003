"""Programs of another architecture run in namespaces of their own, and this machine stays as it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from firstlight.lab.host import foreign_programs
from firstlight.lab.host.foreign_programs import foreign_command
from firstlight.recipe.isa import architecture_of

LIST = Path("/proc/sys/fs/binfmt_misc")
#: The head of a program for arm64, which nothing here would run.
FOREIGN = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\xb7\0" + bytes(100)


def run(interpreter: Path, *command: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", foreign_programs.__name__, str(interpreter), "0xb7", *command]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def interpreter(tmp_path: Path) -> Path:
    """Prints the name of the program that it is given; skipped where the kernel has no lists by namespace."""
    path = tmp_path / "interpreter"
    path.write_text("#!/bin/sh\necho runs $1\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    tried = run(path, "true")
    if tried.returncode != 0:
        pytest.skip(tried.stderr.strip())
    return path


def test_a_program_is_run_by_its_interpreter_and_this_machines_list_is_as_before(
    interpreter: Path, tmp_path: Path
) -> None:
    before = sorted(LIST.iterdir())
    program = tmp_path / "program"
    program.write_bytes(FOREIGN)
    program.chmod(0o755)
    ran = run(interpreter, str(program))
    assert (ran.stdout, ran.returncode) == (f"runs {program}\n", 0)
    assert sorted(LIST.iterdir()) == before


def test_the_exit_code_is_that_of_the_command(interpreter: Path) -> None:
    assert run(interpreter, "sh", "-c", "exit 7").returncode == 7


def test_what_cannot_be_registered_is_an_error_in_words(interpreter: Path, tmp_path: Path) -> None:
    ran = run(tmp_path / "nothing", "true")
    assert ran.returncode == 1
    assert ran.stderr.startswith("E: cannot run programs of another architecture: ")


def test_programs_of_this_machine_need_nothing() -> None:
    own = architecture_of("x86_64")
    if os.uname().machine != own.name:
        pytest.skip("this machine is another one")
    assert foreign_command(own, ["ls"]) == ["ls"]
