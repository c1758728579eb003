"""Studies and commands of other packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from firstlight.cli.main import run
from firstlight.study.catalogue import find_study, studies

PACKAGE = Path(__file__).parents[1] / "study_package"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example package, as if it were installed."""
    monkeypatch.syspath_prepend(str(PACKAGE))


def test_a_study_of_another_package_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "list", "--json"]) == 0
    listed = {each["name"]: each["question"] for each in json.loads(capsys.readouterr().out)["data"]}
    assert listed["quiet-console"] == "How much of a boot is the printing of the kernel's log?"
    assert {"kernel-hotspots", "lvm-activation", "root-filesystems", "tree-walk", "udev-ptys"} < set(listed)


def test_a_study_of_another_package_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing boots without a QEMU: every arm is a missing value with its reason, and the study ends all the same.
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["study", "quiet-console", "-o", str(tmp_path / "out"), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["study"], data["findings"][0]["verdict"]) == ("quiet-console", "not testable here")
    assert [missing["what"] for missing in data["missing"]] == ["loud", "quiet"]
    assert (tmp_path / "out/study.html").read_text().startswith("<!doctype html>")


def test_a_command_of_another_package_runs(invented_boot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["quiet", str(invented_boot)]) == 0
    assert capsys.readouterr().out == "loud\n"
    assert run(["--help"]) == 0
    assert "Say whether a boot was quiet" in capsys.readouterr().out


def test_what_cannot_be_loaded_is_a_warning_and_keeps_nothing_else_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert "quiet-console" in [study.name for study in studies()]
    said = capsys.readouterr().err
    assert said.startswith("warning: example_study.no_such:STUDY: the plugin `broken-study` cannot be loaded: ")
    assert "hint: update the package `example_study`" in said
    assert run(["--help"]) == 0
    assert "the plugin `broken` cannot be loaded" in capsys.readouterr().err


def test_a_mistake_in_a_plan_is_named_to_its_author(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["study", "new", "my-mistake", str(tmp_path / "own")]) == 0
    plan = tmp_path / "own" / "my_mistake" / "plan.toml"
    plan.write_text(plan.read_text().replace('append = "quiet"', 'apend = "quiet"'))
    metadata = tmp_path / "own" / "my_mistake-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-mistake\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text("[firstlight.studies]\nmy-mistake = my_mistake:STUDY\n")
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    capsys.readouterr()
    assert run(["study", "my-mistake"]) == 1
    said = capsys.readouterr().err
    assert "error: my_mistake/plan.toml: `my-mistake` cannot be loaded: unknown key `arm.quiet.apend`" in said
    assert "hint: did you mean `append`?" in said
    assert "pip uninstall" not in said


def test_a_study_that_is_offered_under_another_name_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["study", "new", "two-names", str(tmp_path / "own")]) == 0
    metadata = tmp_path / "own" / "two_names-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: two-names\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text("[firstlight.studies]\nother-name = two_names:STUDY\n")
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    capsys.readouterr()
    assert run(["study", "other-name"]) == 1
    assert "the study `two-names` is offered under the name `other-name`" in capsys.readouterr().err


def test_a_new_study_does_not_take_the_name_of_one_that_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", "new", "tree-walk", str(tmp_path / "own")]) == 2
    assert "there is a study `tree-walk` already" in capsys.readouterr().err
    assert not (tmp_path / "own").exists()


def test_asking_for_what_cannot_be_loaded_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "broken-study"]) == 1
    assert "error: example_study.no_such:STUDY: the plugin `broken-study` cannot" in capsys.readouterr().err
    assert run(["broken"]) == 2
    assert "no such command" in capsys.readouterr().err
    assert find_study("quiet-console").module == "example_study.run"


def test_the_version_loads_no_plugin() -> None:
    script = "import sys; from firstlight.cli import main; main(); assert 'example_study' not in sys.modules; " \
        "assert 'typer' not in sys.modules"  # fmt: skip
    paths = ":".join([str(PACKAGE), *filter(None, sys.path)])
    said = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": paths})  # fmt: skip
    assert said.stdout.startswith("firstlight ")
