"""Figures of user mode in experiments, scaling, gates and histories: by program, unit, system call and file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from bundles import write_table
from firstlight.analysis.processes.sums import UserspaceKind, userspace_sums
from firstlight.cli.main import run
from firstlight.experiment.plan import Stage
from firstlight.experiment.scaling.costs import parts_of
from invented_processes import TURNS, make_processes

MORE = 40_000_000
LONGER = [(thread, name, ns + MORE * (name == "udevadm"), *rest) for thread, name, ns, *rest in TURNS]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a boot `a.boot`, saved as the baseline, and `b.boot`, whose `udevadm` executes more."""
    monkeypatch.chdir(tmp_path)
    make_processes(tmp_path, name="a.boot")
    make_processes(tmp_path, name="b.boot", turns=LONGER, more=("user", MORE))
    assert run(["baseline", "set", "a.boot", "--because", "the first one"]) == 0
    return tmp_path


def _gate(capsys: pytest.CaptureFixture[str], rules: str) -> tuple[int, dict[str, Any]]:
    Path("gate.toml").write_text(rules, encoding="utf-8")
    capsys.readouterr()
    code = run(["gate", "b.boot", "--rules", "gate.toml", "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out).get("data", {"error": said.err})


def test_programs_and_what_belongs_to_none_sum_to_the_boot(tmp_path: Path) -> None:
    boot = firstlight.open(make_processes(tmp_path))
    sums = userspace_sums(boot, UserspaceKind.PROCESS)
    rows = boot.processes()
    own = rows.select(pl.sum_horizontal("user_instructions", "kernel_instructions")).to_series()
    assert sum(sums.values()) == own.sum()
    assert {"init", "udevadm", "svc"} <= set(sums)
    assert userspace_sums(boot, UserspaceKind.SYSTEM_CALL)["openat"] == 3_500
    assert userspace_sums(boot, UserspaceKind.FILE)["/etc/hosts"] == 2_000 + 6_000 + 500 + 1_500 + 400
    assert set(userspace_sums(boot, UserspaceKind.SERVICE)) == {"udev-settle.service", "svc.service"}


@pytest.mark.parametrize("kind", ["processes", "services", "system_calls", "files", "packages", "user_functions"])
def test_a_scaling_plan_splits_its_cost_into_them(tmp_path: Path, kind: str) -> None:
    boot = firstlight.open(make_processes(tmp_path))
    assert parts_of(boot, kind) == userspace_sums(boot, UserspaceKind(kind.removesuffix("s").replace("sse", "ss")))


def test_packages_and_functions_sum_to_what_was_executed(tmp_path: Path) -> None:
    boot = firstlight.open(make_processes(tmp_path))
    packages = userspace_sums(boot, UserspaceKind.PACKAGE)
    assert sum(packages.values()) == boot.processes()["instructions"].sum()
    assert {"udev", "[kernel]", "[no package]"} <= set(packages)
    plain = firstlight.open(make_processes(tmp_path, name="plain.boot", user_code=False))
    assert userspace_sums(plain, UserspaceKind.PACKAGE) == packages
    functions = userspace_sums(boot, UserspaceKind.USER_FUNCTION)
    assert sum(functions.values()) == boot.processes()["user_instructions"].sum()
    assert functions["malloc"] == 40_000


def test_a_gate_has_rules_about_packages(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[every_package]\nsoft = "1 %"\n')
    failed = [check["what"] for check in data["checks"] if check["outcome"] == "regression"]
    assert (code, failed) == (3, ["package udev"])


def test_a_boot_without_user_functions_is_not_judged_by_them(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[user_function.malloc]\nsoft = "1 %"\n')
    (check,) = [check for check in data["checks"] if check["what"] == "user function malloc"]
    assert (check["outcome"], code) == ("inconclusive", 0)
    assert "no user functions" in str(check)


def test_a_gate_fails_and_names_the_process(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[process.udevadm]\nsoft = "1 %"\n')
    assert code == 3
    checks = {check["name"]: check["outcome"] for check in data["checks"]}
    assert checks["process udevadm: soft limit"] == "regression"
    *parts, whole = data["processes"]
    assert parts[0]["name"] == "udevadm"
    assert sum(part["change_ns"] for part in parts) == whole["change_ns"] == MORE


def test_a_rule_for_every_service_finds_the_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[every_service]\nsoft = "1 %"\n')
    failed = [check["what"] for check in data["checks"] if check["outcome"] == "regression"]
    assert (code, failed) == (3, ["service udev-settle.service"])


@pytest.mark.parametrize("limit", ['soft = "1 %"', 'hard = "40 ms"'])
@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ("process.udevadn", "udevadm"),
        ('service."svx.service"', "svc.service"),
        ("system_call.openatt", "openat"),
        ("package.udec", "udev"),
    ],
)
def test_a_rule_about_what_never_ran_names_the_nearest(
    place: Path, rule: str, meant: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, data = _gate(capsys, f"[{rule}]\n{limit}\n")
    assert code == 2
    assert f"did you mean `{meant}`" in str(data["error"])


def test_a_rule_without_limits_exempts_what_did_not_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[every_process]\nhard = "9 s"\n[process.seldom]\n')
    assert code == 0
    assert "process seldom" not in str(data["checks"])


def test_a_hard_limit_on_what_a_boot_does_not_know_is_inconclusive(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[user_function.malloc]\nhard = "1 ms"\n')
    assert (code, data["verdict"]) == (0, "inconclusive")
    (check,) = [check for check in data["checks"] if check["what"] == "user function malloc"]
    assert (check["name"], check["outcome"]) == ("user function malloc: hard limit", "inconclusive")
    path = place / "baselines" / "baseline.json"
    older = json.loads(path.read_text(encoding="utf-8"))
    for sample in older["samples"]:
        del sample["userspace"]
    path.write_text(json.dumps(older), encoding="utf-8")
    rules = '[total]\nsoft = "50 %"\n[service."typo.service"]\nhard = "40 ms"\n[process.udevadm]\nhard = "9 s"\n'
    code, data = _gate(capsys, rules)
    outcomes = {check["name"]: check["outcome"] for check in data["checks"]}
    assert outcomes["service typo.service: hard limit"] == "inconclusive"
    assert outcomes["process udevadm: hard limit"] == "pass"


def test_a_boot_without_processes_is_not_judged_by_them(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for table in ("processes", "images", "wakeups", "system_calls"):
        write_table(place / "b.boot", table, pl.read_parquet(place / "b.boot" / f"{table}.parquet").clear())
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n[process.udevadm]\nsoft = "1 %"\n')
    (check,) = [check for check in data["checks"] if check["what"] == "process udevadm"]
    assert (check["outcome"], code) == ("inconclusive", 0)


def test_a_baseline_of_an_earlier_version_has_no_processes_and_still_serves(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place / "baselines" / "baseline.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    for sample in data["samples"]:
        del sample["userspace"]
    path.write_text(json.dumps(data), encoding="utf-8")
    code, data = _gate(capsys, '[total]\nsoft = "50 %"\n')
    assert (code, data["processes"]) == (0, [])


def test_a_history_finds_the_process_that_grew(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(6):
        more: dict[str, Any] = {} if number < 3 else {"turns": LONGER, "more": ("user", MORE)}
        copy = make_processes(place, name=f"c{number}.boot", append=f"n={number}", **more)
        assert run(["history", "add", "h.duckdb", str(copy), "--at", f"v{number}"]) == 0
    capsys.readouterr()
    assert run(["history", "regressions", "h.duckdb", "--json"]) == 0
    found = {(row["kind"], row["name"]) for row in json.loads(capsys.readouterr().out)["data"]["regressions"]}
    assert {("process", "udevadm"), ("service", "udev-settle.service")} <= found
    series = firstlight.read_history("h.duckdb", "process", "udevadm").series
    assert [point.level for point in series.points][-1] - series.points[0].level == MORE


def test_a_stage_is_of_one_thing() -> None:
    stage = Stage.model_validate({"name": "udev", "process": "systemd-udevd"})
    assert stage.of_userspace == (UserspaceKind.PROCESS, "systemd-udevd")
    with pytest.raises(ValueError, match="give one of"):
        Stage.model_validate({"name": "udev", "process": "systemd-udevd", "service": "systemd-udevd.service"})
