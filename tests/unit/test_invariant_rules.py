"""The recorder's invariants, known to Python too: no verdict in a manifest has to be believed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bundles import make_bundle
from firstlight.bundle.invariants import CHECKS, Rule
from firstlight.bundle.open import read_manifest
from firstlight.cli.main import run
from firstlight.errors import BundleError
from invented_processes import make_processes

RUST = Path(__file__).parents[2] / "crates" / "model" / "src" / "invariants"


def of_the_recorder() -> dict[str, tuple[str, int | None, str | None]]:
    """Every invariant as the Rust source has it: what it concerns, its limit in calls, and the table it needs."""
    found: dict[str, tuple[str, int | None, str | None]] = {}
    for name in ("mod.rs", "tasks.rs", "user_code.rs"):
        source = (RUST / name).read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        limits = {key: int(per.replace("_", "")) for key, per in re.findall(r"const (\w+): u64 = ([\d_]+);", source)}
        for literal in re.findall(r'name: "(\w+)",.*?concerns: Concern::(\w+)', source, re.DOTALL):
            of_tasks = "processes" if literal[1] == "Processes" else "runs"
            of_table = {"tasks.rs": of_tasks, "user_code.rs": "user_functions"}.get(name)
            found[literal[0]] = (literal[1].lower(), None, of_table)
        for called in re.findall(r'limited\(\s*"(\w+)",[^;]*?(CALLS_PER_\w+),\s*Concern::(\w+)', source):
            found[called[0]] = (called[2].lower(), limits[called[1]], None)
    return {**found, **dict.fromkeys(of_slices(), ("functions", None, "slices"))}


def of_slices() -> list[str]:
    """The invariants of slices, which have one concern and one limit."""
    source = (RUST / "slices.rs").read_text(encoding="utf-8")
    assert "limit: Some(0)" in source
    assert "concerns: Concern::Functions" in source
    return re.findall(r'invariant\("(\w+)",', source)


def test_python_and_the_recorder_have_the_same_invariants() -> None:
    here = {name: (str(check.concerns), check.calls, check.of_table) for name, check in CHECKS.items()}
    assert here == of_the_recorder()


def test_those_with_a_limit_of_0_are_the_same() -> None:
    source = "".join((RUST / name).read_text(encoding="utf-8") for name in ("mod.rs", "user_code.rs"))
    zero = {
        name
        for name, rest in re.findall(r'name: "(\w+)",(.*?)concerns:', source, re.DOTALL)
        if "limit: Some(0)" in rest
    }
    # Those of tasks and registers are compared with 0, and give no limit.
    without_limit = {"tasks_confirmed", "registers_confirmed"}
    assert {name for name, check in CHECKS.items() if check.rule is Rule.ZERO} == {*zero, *without_limit, *of_slices()}


def test_those_of_an_invented_boot_are_the_same(tmp_path: Path) -> None:
    assert list(read_manifest(make_processes(tmp_path)).invariants) == list(CHECKS)


def with_invariants(bundle: Path, change: dict[str, dict[str, Any] | None]) -> Path:
    """Further fields of invariants; none removes one."""
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for name, fields in change.items():
        if fields is None:
            del manifest["invariants"][name]
        else:
            manifest["invariants"][name] |= fields
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return bundle


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("entries_counted", {"value": 7}, "it is said to hold, but 7 were found and at most 0 hold"),
        ("entries_counted", {"value": 7, "limit": 9}, "it is said to hold, but 7 were found and at most 0 hold"),
        ("entries_counted", {"value": 7, "limit": None}, "it is said to hold, but 7 were found and at most 0 hold"),
        ("entries_counted", {"value": None}, "it is said to hold, but its value is None"),
        ("entries_counted", {"value": True}, "it is said to hold, but its value is True"),
        ("entries_counted", {"holds": False}, "it is said not to hold, but 0 were found and at most 0 hold"),
        ("entries_counted", {"concerns": "initcalls"}, "it concerns functions, and not initcalls"),
        ("returns_matched", {"value": 1 << 40}, "it is said to hold, but"),
        ("returns_matched", {"value": 1 << 40, "limit": 1 << 40}, "its limit is 1,099,511,627,776, and"),
        ("returns_matched", {"limit": None}, "its limit is none, and"),
        ("stacks_accounted", {"value": 4}, "pushed are not"),
        ("self_sums_to_executed", {"value": 4}, "it is said to hold, but 4 is not"),
        ("runs_partition_the_kernel", {"value": 4}, "it is said to hold, but the runs executed 4 of"),
        ("runs_partition_the_kernel", {"apart": 1}, "its runs are apart"),
        ("runs_partition_the_kernel", {"switches": 1}, "not one more than the switches"),
        ("tasks_confirmed", {"value": 1}, "it is said to hold, but 1 were found and at most 0 hold"),
        ("registers_confirmed", {"value": 1}, "it is said to hold, but 1 were found and at most 0 hold"),
        ("modes_partition_the_runs", {"kernel": 4}, "it is said to hold, but the modes executed 653,004 of"),
        ("modes_partition_the_runs", {"user_in_the_tree": 4}, "the tree has other figures of user mode"),
        ("modes_partition_the_runs", {"interrupts_in_the_tree": 4}, "the tree has other figures of user mode"),
    ],
)
def test_a_verdict_that_contradicts_its_figures_is_an_error(
    tmp_path: Path, name: str, fields: dict[str, Any], said: str
) -> None:
    bundle = with_invariants(make_processes(tmp_path), {name: fields})
    with pytest.raises(BundleError) as caught:
        read_manifest(bundle)
    assert caught.value.message.startswith(f"the manifest contradicts itself: `invariants.{name}`: ")
    assert said in caught.value.message
    assert caught.value.where == str(bundle / "manifest.json")


@pytest.mark.parametrize("name", CHECKS)
def test_a_boot_with_a_profile_has_them_all(tmp_path: Path, name: str) -> None:
    bundle = with_invariants(make_processes(tmp_path), {name: None})
    with pytest.raises(BundleError, match=f"`invariants.{name}`: it is missing, and the boot has a profile"):
        read_manifest(bundle)


def test_show_shows_no_profile_without_invariants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = with_invariants(make_processes(tmp_path), dict.fromkeys(CHECKS))
    assert run(["show", str(bundle)]) != 0
    assert capsys.readouterr().out == ""


def test_a_boot_of_an_older_schema_has_those_of_its_time(tmp_path: Path) -> None:
    bundle = with_invariants(make_processes(tmp_path, schema_version=1), {"entries_counted": None})
    assert len(read_manifest(bundle).invariants) == len(CHECKS) - 1


def test_a_boot_without_profile_needs_none(tmp_path: Path) -> None:
    assert read_manifest(make_bundle(tmp_path, profile=False)).invariants == {}


def test_show_names_what_a_wrong_register_affects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = with_invariants(make_processes(tmp_path), {"registers_confirmed": {"holds": False, "value": 3}})
    assert run(["show", str(bundle)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "NOT RELIABLE: 1 of 19 invariants is broken (affects processes)" in printed
    assert "registers_confirmed: found 3 (confirmed 12); concerns processes, system calls and files" in printed
