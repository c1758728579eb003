"""A user's study: its skeleton written, found by its entry point, booted, and evaluated again on another kernel."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from firstlight.cli.main import run
from firstlight.errors import FirstlightError
from firstlight.lab.kernel.kernel import default_kernel
from firstlight.study.skeleton import write_skeleton


@pytest.fixture
def _written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The skeleton as an installer leaves it."""
    package = tmp_path / "own"
    sys.modules.pop("my_console", None)
    write_skeleton("my-console", package)
    metadata = package / "my_console-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-console\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text("[firstlight.studies]\nmy-console = my_console:STUDY\n")
    monkeypatch.syspath_prepend(str(package))


@pytest.mark.usefixtures("_written")
def test_without_a_machine_every_claim_says_why_it_is_not_testable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["study", "my-console", "-o", str(tmp_path / "out"), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)["data"]
    assert {finding["verdict"] for finding in data["findings"]} == {"not testable here"}
    assert run(["study", "my-console", "--sizes", "1,2", "-o", str(tmp_path / "other")]) == 2
    assert "the study `my-console` has no sizes" in capsys.readouterr().err


def test_a_skeleton_replaces_nothing_and_needs_a_name_that_a_package_can_have(tmp_path: Path) -> None:
    write_skeleton("mine", tmp_path / "mine")
    with pytest.raises(FirstlightError, match="the directory has files already"):
        write_skeleton("mine", tmp_path / "mine")
    with pytest.raises(FirstlightError, match="not a name of a study"):
        write_skeleton("My Study", tmp_path / "other")


@pytest.mark.boot
@pytest.mark.usefixtures("_written")
def test_the_skeleton_boots_and_its_claims_are_evaluated_again_on_another_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["study", "my-console", "--quick", "-o", str(out)]) == 0
    assert "Tables as CSV: findings, arms, band, then-quiet" in capsys.readouterr().out
    data = json.loads((out / "study.json").read_text())
    verdicts = {finding["id"]: finding["verdict"] for finding in data["findings"]}
    assert verdicts == {"quiet-saves": "decided by the machine here", "printing-small": "holds"}
    assert len((out / "study.md").read_text().splitlines()) < 45
    # The distribution's own kernel, given as a file, is the same kernel.
    kernel, again = str(default_kernel().path), str(tmp_path / "again")
    words = ["study", "recheck", "my-console", "--kernel", kernel, "--against", str(out), "-o", again, "--json"]
    assert run(words) == 0
    claims = json.loads(capsys.readouterr().out)["data"]["claims"]
    assert [(claim["id"], claim["flipped"]) for claim in claims] == [("quiet-saves", False), ("printing-small", False)]
    assert all(claim["now_before"] == claim["now_after"] for claim in claims)
