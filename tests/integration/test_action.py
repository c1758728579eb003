"""The GitHub Action: what it uses is pinned, and its steps do what they say, run here as a runner runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from imported_bundle import make_imported

ROOT = Path(__file__).parents[2]
LOG = "[    0.000000] Linux version 6.1.0 (builder) #1 SMP\n[    0.500000] Run /init as init process\n"


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return read


def test_every_action_it_uses_is_pinned_by_its_commit(action: dict[str, Any]) -> None:
    used = [step["uses"] for step in action["runs"]["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each) for each in used)


def test_inputs_reach_scripts_as_variables_only(action: dict[str, Any]) -> None:
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert "run" not in step or step["shell"] == "bash"
    text = str(action["runs"])
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])


def run_step(
    action: dict[str, Any], name: str, folder: Path, *, path: str = "", **given: str
) -> subprocess.CompletedProcess[str]:
    """Run a step with inputs, in *folder*, as a runner does."""
    step = next(step for step in action["runs"]["steps"] if step.get("name") == name)
    inputs = {key: str(about.get("default", "")) for key, about in action["inputs"].items()} | given
    pattern = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
    values = {key: value.replace("${{ github.action_path }}", str(ROOT)) for key, value in step["env"].items()}
    variables = {key: pattern.sub(lambda found: inputs[found[1]], value) for key, value in values.items()}
    files = {key: str(folder / key.lower()) for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
    path = f"{path or Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ | variables | files | {"PATH": path, "RUNNER_TEMP": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_records_become_a_boot_a_report_and_a_summary(action: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a log.txt").write_text(LOG, encoding="utf-8")
    done = run_step(action, "Read", tmp_path, records="a log.txt\n\n")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "boot-report/report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "Linux" in (tmp_path / "github_step_summary").read_text(encoding="utf-8")
    outputs = (tmp_path / "github_output").read_text(encoding="utf-8")
    assert outputs == "report=boot-report/report.html\nboot=boot-report/measured.boot\n"


def test_a_bundle_is_compared_with_its_baseline(action: dict[str, Any], tmp_path: Path) -> None:
    bundle = make_imported(tmp_path)
    done = run_step(action, "Read", tmp_path, boot=str(bundle), baseline=str(bundle), output="out put")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out put/changes.md").read_text(encoding="utf-8")


def test_names_are_no_commands_and_no_options(action: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "--help").write_text(LOG, encoding="utf-8")
    done = run_step(action, "Read", tmp_path, records="--help")
    assert done.returncode == 0, done.stderr
    done = run_step(action, "Read", tmp_path, records="$(touch owned)\n`touch owned`", output="other")
    assert done.returncode != 0
    assert not (tmp_path / "owned").exists()


def test_nothing_to_read_is_an_error_in_words(action: dict[str, Any], tmp_path: Path) -> None:
    done = run_step(action, "Read", tmp_path)
    assert done.returncode == 2
    assert "are both empty" in done.stdout


def test_a_wheel_with_another_digest_is_not_installed(action: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "firstlight.whl").write_bytes(b"no wheel")
    done = run_step(action, "Install", tmp_path, firstlight="firstlight.whl", sha256="0" * 64)
    assert done.returncode != 0
    assert not (tmp_path / "firstlight").exists()


def test_all_that_the_wheel_needs_is_locked_by_digests(action: dict[str, Any], tmp_path: Path) -> None:
    # A Python whose environments have a pip that writes down what it is asked for.
    fake = tmp_path / "bin/python"
    fake.parent.mkdir()
    pip = '#!/bin/sh\necho "$@" >> "$RUNNER_TEMP/asked"\n'
    fake.write_text(f'#!/bin/sh\nmkdir -p "$3/bin"\ncat > "$3/bin/pip" <<\'END\'\n{pip}END\nchmod +x "$3/bin/pip"\n')
    fake.chmod(0o755)
    done = run_step(action, "Install", tmp_path, path=str(fake.parent), firstlight="a.whl")
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    locked = ROOT / "requirements-reader.txt"
    assert asked == [
        f"install --quiet --only-binary :all: --require-hashes -r {locked}",
        "install --quiet --no-deps -- a.whl",
    ]
    # Comparisons of boots that vary need more than the base installation.
    assert {"numpy", "scipy"} <= {line.partition("==")[0] for line in locked.read_text().splitlines()}


def test_it_has_the_form_that_the_schema_of_actions_asks(action: dict[str, Any]) -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    if not checker.exists():
        pytest.skip("check-jsonschema is not installed")
    command = [str(checker), "--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml")]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
