"""Boots without processes: the manifest has the reason, and every command prints it with what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import firstlight
from answers import answer
from bundles import SCHEMA, make_bundle
from firstlight.bundle.processes_missing import processes_missing, processes_missing_text
from firstlight.bundle.tables import SCHEMAS
from firstlight.cli.main import run
from firstlight.lab.run.tables import write_without_rows

ROOT = Path(__file__).parents[2]
CODES = re.findall(r'Missing::\w+ => "(\w+)"', (ROOT / "crates/model/src/profile_tables/processes.rs").read_text())


def without_processes(directory: Path, code: str) -> Path:
    """An invented boot whose kernel, emulator or architecture gave no processes."""
    bundle = make_bundle(directory)
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["completeness"] = {"complete": True, "missing": [processes_missing_text(code)]}
    path.write_text(json.dumps(manifest))
    return bundle


@pytest.mark.parametrize("code", CODES)
def test_every_reason_of_the_recorder_is_found_in_the_manifest_again(tmp_path: Path, code: str) -> None:
    reason = processes_missing(firstlight.open(without_processes(tmp_path, code)).manifest)
    assert reason is not None
    assert processes_missing_text(code).startswith(f"processes and system calls: {reason[0]}; ")


def test_the_recorder_has_reasons_and_they_differ() -> None:
    assert len(CODES) == len({processes_missing_text(code) for code in CODES}) == 4


@pytest.mark.parametrize("command", ["processes", "syscalls", "files"])
def test_a_kernel_without_types_is_named_with_the_option_to_set(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = str(without_processes(tmp_path, "types"))
    assert run([command, bundle]) == 0
    printed = capsys.readouterr()
    assert "Evidence: missing: processes and system calls: the kernel does not describe its types" in printed.out
    assert "hint: the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF); record a kernel" in printed.err
    code, data = answer(command, bundle)
    assert code == 0
    assert "CONFIG_DEBUG_INFO_BTF=y" in data["hint"]


def test_show_states_what_is_missing_of_a_complete_boot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(without_processes(tmp_path, "types"))]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "exact mode, complete" in printed
    assert "Evidence: missing processes and system calls: the kernel does not describe its types" in printed
    assert "functions and threads are complete" in printed


def test_a_boot_without_a_profile_is_to_be_recorded_with_one(tmp_path: Path) -> None:
    hint = firstlight.open(make_bundle(tmp_path, profile=False)).missing_hint("processes")
    assert hint == "record it again without `--no-profile`"


def test_a_recording_without_a_profile_has_every_table(tmp_path: Path) -> None:
    write_without_rows(tmp_path)
    elsewhere = {"marks", "spans", "log", "facts", "packages"}
    assert {path.stem for path in tmp_path.glob("*.parquet")} == set(SCHEMAS) - elsewhere
    assert set(SCHEMA) <= set(SCHEMAS)
