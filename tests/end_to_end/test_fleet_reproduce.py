"""From a slow initcall of a fleet to the functions that take its time, in one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import firstlight
from firstlight.cli.main import run

pytestmark = pytest.mark.boot


def test_a_slow_initcall_is_booted_and_its_functions_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = firstlight.record("seen.boot")
    firstlight.init_fleet("fleet")
    firstlight.add_to_fleet("fleet", ["seen.boot"], {"model": "A"})
    arguments = ["fleet", "reproduce", "fleet", "--initcall", "acpi_init", "-o", "again.boot", "--json"]
    assert run(arguments) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    initcalls = seen.initcalls()
    took = initcalls.filter(initcalls["function"] == "acpi_init")["duration_ns"].item()
    # The kernel is the one that was seen, so the boot is the same.
    assert data["exact_ns"] == took == data["p50_ns"]
    functions = {row["function"]: row["self_ns"] for row in data["functions"]}
    below = seen.functions(under="acpi_init")
    assert functions == dict(below.select("function", "self_ns").iter_rows())
    assert "acpi_ns_evaluate" in functions
    assert run(["fleet", "reproduce", "fleet", "--initcall", "acpi_inti"]) == 2
    assert "did you mean `acpi_init`?" in capsys.readouterr().err
