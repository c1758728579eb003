"""Completion of commands, options and their values, as the shells ask for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from firstlight.cli.app import COMMANDS
from firstlight.cli.completion import COMPLETE, Shell
from firstlight.cli.main import run


def asked(shell: Shell, line: str) -> str:
    """What is printed for a line whose last word is to be completed."""
    variables = {
        COMPLETE: f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-m", "firstlight"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", Shell)
def test_commands_are_completed(shell: Shell) -> None:
    offered = asked(shell, "firstlight rec")
    assert "record" in offered
    assert "report" not in offered


def test_options_and_their_values_are_completed() -> None:
    assert asked(Shell.BASH, "firstlight record --ro").split() == ["--rootfs", "--root-as"]
    assert "speedscope" in asked(Shell.BASH, "firstlight export --to sp").split()
    assert asked(Shell.BASH, "firstlight baseline s").split() == ["set"]


@pytest.mark.parametrize("shell", Shell)
def test_a_script_for_each_shell(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell.value]) == 0
    script = capsys.readouterr().out
    assert f"{COMPLETE}=complete_{shell}" in script
    if shell is Shell.BASH:
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_overview_lists_every_command_uncut(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for task, commands in COMMANDS.items():
        assert f"{task}:" in lines
        for name, _, summary in commands:
            assert any(line.split(maxsplit=1) == [name, summary] for line in lines), name
