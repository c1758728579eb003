"""Bisections and anchors by real boots: commits of a small repository, and another build of QEMU."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.lab.qemu.emulator import find_qemu
from firstlight.lab.run.record import record
from firstlight.recipe.isa import DEFAULT
from short_boots import short

pytestmark = pytest.mark.boot


def git(repository: Path, *words: str) -> str:
    """Run git with a name and an address of its own."""
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    done = subprocess.run(["git", "-C", str(repository), *who, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine commits of a file with kernel parameters; the sixth asks for 64 serial ports, the fourth cannot be built."""
    path = tmp_path_factory.mktemp("repository")
    git(path, "init", "--quiet", "--initial-branch=main")
    for number in range(9):
        words = "quiet" + (" 8250.nr_uarts=64" if number >= 5 else "")
        (path / "parameters").write_text(f"{words}\n")
        (path / "Makefile").write_text("all:\n\tcp parameters built\n" if number != 4 else "all:\n\tfalse\n")
        (path / "notes").write_text(f"{number}\n")
        git(path, "add", ".")
        git(path, "commit", "--quiet", "-m", f"change {number}")
        git(path, "tag", f"v{number}")
    return path


def test_a_bisection_finds_the_commit_and_goes_around_one_that_cannot_be_built(
    repository: Path, short_boot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["history", "bisect", "--against", str(short_boot), "--repository", str(repository), "--git", "v0..v8",
               "--build", "rm -f built && make", "--append-file", "built", "-o", str(tmp_path / "b")]  # fmt: skip
    assert run([*command, "--json"]) == 0
    printed = capsys.readouterr()
    assert "9 versions: about 5 boots" in printed.err
    found = data_of_answer(printed.out)
    assert found["suspects"] == [git(repository, "rev-parse", tag) for tag in ("v4", "v5")]
    assert found["last_good"] == git(repository, "rev-parse", "v3")
    assert found["change_ns"] == found["total_change_ns"] > 0
    assert [each["version"] for each in found["measured"] if each["skipped"]] == [git(repository, "rev-parse", "v4")]
    assert any("8250" in name for name in found["path"])
    assert run([*command, "--json"]) == 0
    again = data_of_answer(capsys.readouterr().out)
    assert again["boots"] == 0
    assert again["suspects"] == found["suspects"]
    assert run([*command[:-6], "--append-file", "built", "-o", str(tmp_path / "b")]) == 2
    assert "another bisection" in capsys.readouterr().err


def test_versions_of_a_list_are_built_by_a_command(
    short_boot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make = 'echo quiet $(test "$VERSION" != 1.0 && echo 8250.nr_uarts=64) > words'
    command = ["history", "bisect", "--against", str(short_boot), "--build", make, "--append-file", "words"]
    versions = [word for version in ("1.0", "1.1", "1.2") for word in ("--version", version)]
    assert run([*command, *versions, "-o", str(tmp_path / "b")]) == 0
    assert "1.1 changed the boot by +" in capsys.readouterr().out


def test_an_anchor_is_the_same_recipe_under_another_qemu(
    short_boot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = find_qemu(DEFAULT).path.resolve()
    other = tmp_path / "bin" / program.name
    other.parent.mkdir()
    shutil.copy(program, other)
    for name in ("lib", "share"):  # QEMU looks for its modules and its firmware next to the directory of its program
        (tmp_path / name).symlink_to(program.parent.parent / name)
    with other.open("ab") as file:
        file.write(b"another build")
    history = str(tmp_path / "h.duckdb")
    assert run(["history", "add", history, str(short_boot), "--at", "v1"]) == 0
    assert run(["history", "anchor", history, str(short_boot), "--at", "v1"]) == 1
    assert "QEMU is the same as in this boot" in capsys.readouterr().err
    assert run(["history", "anchor", history, str(short_boot), "--at", "v1", "--qemu", str(other)]) == 0
    later = record(short(output=tmp_path / "later.boot", qemu=other, append="quiet"))
    assert run(["history", "add", history, str(later), "--at", "v2"]) == 0
    capsys.readouterr()
    assert run(["history", "show", history, "--json"]) == 0
    found = data_of_answer(capsys.readouterr().out)
    assert [(point["at"], point["anchored"]) for point in found["points"]] == [("v1", True), ("v2", False)]
    assert found["anchors"][0]["ratio"] == 1.0
