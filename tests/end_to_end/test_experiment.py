"""Experiments that are really booted, and one that is really killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from answers import data_of_answer
from firstlight.cli.main import run
from firstlight.experiment.results import read_results
from short_boots import SHORT

pytestmark = pytest.mark.boot

GIVE_UP_S = 300


def plan_of(*arms: str) -> str:
    """Arms that no experiment before had, so that nothing is taken from the cache; without profile they are quick."""
    unique = f"experiment.test={uuid.uuid4().hex}"
    head = f'canary = false\n[base]\nprofile = false\nappend = "{SHORT} {unique}"\n'
    return head + "".join(f'[[arm]]\nname = "{arm}"\nappend = "arm={arm}"\n' for arm in arms)


def until(what: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for something that a running experiment does."""
    began = time.monotonic()
    while not what():
        assert process.poll() is None, "the experiment ended before"
        assert time.monotonic() - began < GIVE_UP_S
        time.sleep(0.02)


def running_below(directory: Path) -> list[str]:
    """The programs that were started with a path below a directory."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(directory) in words and "qemu" in words:
            found.append(words)
    return found


def test_a_killed_experiment_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "p.toml"
    plan.write_text(plan_of("one", "two"))
    experiment = tmp_path / "p"
    command = [sys.executable, "-m", "firstlight", "experiment", "run", str(plan), "-j", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        # One boot is finished, and the guest of the other has printed something.
        until(lambda: any(experiment.glob("*/1.boot/manifest.json")), process)
        until(lambda: any(file.stat().st_size for file in experiment.glob("*/.1.boot.*/raw/console.log")), process)
        os.kill(process.pid, signal.SIGKILL)
    began = time.monotonic()
    while running_below(tmp_path):
        assert time.monotonic() - began < GIVE_UP_S, "a guest outlived the experiment"
        time.sleep(0.05)

    partial = read_results(experiment)
    (finished,) = [cell for cell in partial.cells if cell.counted]
    manifest = experiment / finished.directory / "1.boot/manifest.json"
    before = manifest.stat()
    assert run(["experiment", "run", str(plan), "--json"]) == 0
    said = capsys.readouterr()
    assert "1 of 2 boots already exist" in said.err
    cells = data_of_answer(said.out)["cells"]
    assert [cell["counted"] for cell in cells] == [1, 1]
    after = manifest.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(path.name for path in experiment.glob("*/.*")) == []

    # Nothing is left to do; another experiment with the same recipe takes the boots as they are.
    assert run(["experiment", "run", str(plan), "-o", str(tmp_path / "again"), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.count("taken from an earlier experiment") == 2
    assert [cell["time_ns"] for cell in data_of_answer(said.out)["cells"]] == [cell["time_ns"] for cell in cells]


def test_boots_side_by_side_are_those_of_one_after_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "p.toml"
    # The canary is a second boot of the first arm, made beside the others.
    plan.write_text(plan_of("one", "two").replace("canary = false", "canary = true"))
    assert run(["experiment", "run", str(plan), "-j", "3", "--json"]) == 0
    assert data_of_answer(capsys.readouterr().out)["exact"]["canary"] is True


def test_a_change_is_tried_with_one_boot_and_not_booted_twice(
    short_boot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["try", "--append", f"quiet try.test={uuid.uuid4().hex}", "--against", str(short_boot), "--json"]
    assert run(words) == 0
    first = data_of_answer(capsys.readouterr().out)
    assert first["booted"] == {"baseline": False, "changed": True}
    assert first["totals"]["change"]["ns"] < 0
    assert all(level["sum_less_whole_ns"] == 0 for level in first["levels"].values())
    assert run([*words, "--limit", "0"]) == 0
    again = data_of_answer(capsys.readouterr().out)
    assert again["booted"] == {"baseline": False, "changed": False}
    assert again["levels"] == first["levels"]


def test_a_regression_beyond_the_limit_has_an_exit_code_of_its_own(
    short_boot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["try", "--append", "initcall_debug", "--against", str(short_boot)]
    assert run([*words, "--limit", "0.1%"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "is exceeded: a regression." in said
    assert "B the change (only in the cache; `-o NAME.boot` keeps it)" in said
    assert run([*words, "--limit", "1s"]) == 0


def test_what_changes_nothing_or_is_not_exact_is_refused(short_boot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["try", "--against", str(short_boot)]) == 2
    assert run(["try", "--against", str(short_boot), "--memory", "512M"]) == 1
    assert "this changes no input of the boot" in capsys.readouterr().err
    assert run(["try", "--against", str(short_boot), "--append", "quiet", "--limit", "much"]) == 2


def test_a_command_of_the_guest_that_fails_makes_its_boot_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "p.toml"
    text = plan_of("good", "bad").replace('append = "arm=bad"', 'guest-command = "cat /etc/note /nothing"')
    text = text.replace('append = "arm=good"', 'guest-command = "cat /etc/note"\nfiles = {"/etc/note" = {text = "x"}}')
    plan.write_text(text)
    assert run(["experiment", "run", str(plan), "--json"]) == 4
    good, bad = data_of_answer(capsys.readouterr().out)["cells"]
    assert good["why_not"] is None
    assert "ended with exit status: 1" in bad["why_not"]
