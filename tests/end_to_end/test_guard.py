"""Guarding real boots: the steps of the ready workflow, and sizes that are really booted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from answers import data_of_answer
from firstlight.cli.main import run
from short_boots import SHORT

pytestmark = pytest.mark.boot

CI = Path(__file__).parents[2] / "docs" / "guides" / "ci"


def shell(script: str, place: Path, **more: str) -> int:
    """Run a step of a workflow as a runner does; returns its exit code."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(place / "summary.md"), **more}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=place, env=environment, check=False, stdout=subprocess.DEVNULL).returncode


@pytest.fixture(scope="module")
def project(default_boot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a blessed baseline and rules."""
    place = tmp_path_factory.mktemp("project")
    shutil.copy(CI / "gate.toml", place / "gate.toml")
    assert run(["bless", str(default_boot), "--in", str(place / "baselines"), "--because", "the first one"]) == 0
    return place


def test_the_steps_of_the_github_workflow_do_what_they_say(project: Path) -> None:
    job = yaml.safe_load((CI / "github.yml").read_text())["jobs"]["gate"]
    steps = {step["name"]: step["run"] for step in job["steps"] if "run" in step}
    assert shell(steps["Boot"], project, RECIPE="") == 0
    assert shell(steps["Gate"], project) == 0
    assert shell(steps["Summary"], project) == 0
    assert "Boot time: pass" in (project / "summary.md").read_text()
    for number in ("1", "2"):
        assert shell(steps["History"], project, GITHUB_SHA=number) == 0
    assert (project / "boots.duckdb").is_file()
    assert shell(steps["History regressions"], project) == 0


def test_the_script_of_the_gitlab_job_finds_what_made_the_boot_slower(project: Path) -> None:
    record, gate = yaml.safe_load((CI / "gitlab.yml").read_text())["boot-time"]["script"]
    rules = (project / "gate.toml").read_text()
    (project / "gate.toml").write_text(rules.replace('"0.5 %"', '"0.1 %"'))
    assert shell(record, project, RECIPE="--append 8250.nr_uarts=32") == 0
    assert shell(gate, project) == 3
    text = (project / "boot-time.md").read_text()
    assert "Booted again: the same to the last instruction" in text
    assert "initcall_device" in text


def test_sizes_are_booted_and_their_law_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "devices.toml"
    plan.write_text(f"""
        sizes = [8, 16, 32, 64, 128]
        canary = false
        [base]
        profile = false
        append = "{SHORT}"
        [each]
        qemu-options = ["-device", "pci-testdev,multifunction=on,addr={{8 + i / 8:x}}.{{i % 8}}"]
    """)
    assert run(["scale", str(plan), "--json", "--at", "256"]) == 0
    (found,) = data_of_answer(capsys.readouterr().out)["configurations"]
    assert found["law"] in ("n", "n log n")
    # Exact boots have steps of their own, which no law holds.
    assert 0.5 < found["growth_exponent"]["value"] < 1.5
    assert found["costs"] == sorted(found["costs"])
    assert all(isinstance(step["extra"], float) for step in found["steps"])
    assert sum(part["slope"] for part in found["parts"]) == pytest.approx(found["fits"][0]["slope"], rel=1e-6)
