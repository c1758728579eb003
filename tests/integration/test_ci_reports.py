"""What a gate writes for continuous integration, read by others than us."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from bundles import HOSTILE, make_bundle, make_recorded
from firstlight.cli.main import run
from firstlight.gate.rules import read_rules
from gate_boots import change, slower

CI = Path(__file__).parents[2] / "docs" / "guides" / "ci"
PHASE = "initcalls_device"
BY = 2_000_001

FIELDS = {"command", "mean", "stddev", "median", "user", "system", "min", "max", "times", "exit_codes"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a boot blessed and every report of a slower one."""
    monkeypatch.chdir(tmp_path)
    make_bundle(tmp_path)
    slower(tmp_path, "b.boot", PHASE, BY)
    assert run(["bless", "a.boot", "--because", f"why | not @you {HOSTILE[0]} {HOSTILE[2]}"]) == 0
    (tmp_path / "gate.toml").write_text('[total]\nsoft = "0.1 %"\nhard = "2 s"\n')
    assert run(["gate", "b.boot", "--rules", "gate.toml", "--junit", "j.xml", "--openmetrics", "o.txt", "--hyperfine",
                "h.json", "--markdown", "m.md", "--custom-smaller", "c.json"]) == 3  # fmt: skip
    return tmp_path


def test_junit_has_a_case_for_each_rule(place: Path) -> None:
    root = ET.parse(place / "j.xml").getroot()
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["total: soft limit", "total: hard limit"]
    counted = {kind: sum(case.find(kind[:-1]) is not None for case in cases) for kind in ("failures", "errors")}
    for element in (root, suite):
        assert int(element.get("tests", "")) == len(cases)
        assert {kind: int(element.get(kind, "")) for kind in counted} == counted == {"failures": 1, "errors": 0}
    figures = {each.get("name"): each.get("value") for each in cases[0].iter("property")}
    assert int(figures["change_ns"] or "") == BY
    assert float(cases[0].get("time", "")) == int(figures["measured_ns"] or "") / 1e9


def test_junit_calls_an_unhealthy_boot_an_error_and_the_undecided_skipped(place: Path) -> None:
    make_bundle(place, name="f.boot", failed=True)
    assert run(["gate", "f.boot", "--junit", "j.xml"]) == 4
    assert ET.parse(place / "j.xml").getroot().find(".//error") is not None
    for number in range(2):
        slower(place, f"l{number}.boot", PHASE, number, live=True)
    assert run(["bless", "l0.boot", "--as", "board", "--because", "first"]) == 0
    assert run(["gate", "l1.boot", "--baseline", "board", "--junit", "j.xml"]) == 0
    assert ET.parse(place / "j.xml").getroot().find(".//skipped") is not None


@pytest.mark.parametrize(
    ("again", "element", "text"),
    [("b.boot", None, "the same"), ("a.boot", "skipped", "it is not exact"), (None, "skipped", "cannot be tried")],
)
def test_junit_counts_a_confirmation_as_no_failure_of_its_own(
    place: Path, again: str | None, element: str | None, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if again is not None:
        for name in ("a.boot", "b.boot"):
            make_recorded(place / name)
        assert run(["bless", "a.boot", "--because", "recorded"]) == 0
    made = [place / (again or "")]
    monkeypatch.setattr("firstlight.gate.confirm.record", lambda options, progress: made.pop())
    run(["gate", "b.boot", "--rules", "gate.toml", "--confirm", "--junit", "j.xml"])
    (suite,) = ET.parse(place / "j.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    (case,) = (case for case in suite.findall("testcase") if case.get("name") == "confirmation: health")
    found = {child.tag: child.get("message", "") for child in case if child.tag != "properties"}
    assert set(found) == ({element} if element else set())
    assert text in "".join(found.values()) or element is None


def families(place: Path) -> dict[str, Any]:
    """What the parser of Prometheus' own library makes of the text."""
    text = (place / "o.txt").read_text()
    return {family.name: family for family in text_string_to_metric_families(text)}  # type: ignore[no-untyped-call]


def test_openmetrics_is_read_by_its_own_parser(place: Path) -> None:
    found = families(place)
    assert {"boot_seconds", "boot_phase_seconds", "boot_limit_seconds", "boot_gate", "boot"} <= set(found)
    totals = {sample.labels["arm"]: sample.value for sample in found["boot_seconds"].samples}
    assert round((totals["measured"] - totals["baseline"]) * 1e9) == BY
    for arm, total in totals.items():
        phases = [each.value for each in found["boot_phase_seconds"].samples if each.labels["arm"] == arm]
        assert sum(round(value * 1e9) for value in phases) == round(total * 1e9)
    verdicts = {sample.labels["boot_gate"]: sample.value for sample in found["boot_gate"].samples}
    assert [name for name, value in verdicts.items() if value] == ["regression"]


def test_openmetrics_of_hostile_names_is_read(place: Path) -> None:
    hostile = make_bundle(place, name="x.boot", hostile=True)
    change(hostile, digests={'quo"te\n': "0" * 64})
    run(["gate", "x.boot", "--openmetrics", "o.txt"])
    assert families(place)


def test_hyperfine_has_the_fields_that_its_readers_take(place: Path) -> None:
    results = json.loads((place / "h.json").read_text())["results"]
    assert [row["command"] for row in results] == ["baseline baseline", "measured"]
    for row in results:
        assert set(row) >= FIELDS
        for name in ("mean", "median", "user", "system", "min", "max"):
            assert isinstance(row[name], float)
        assert row["min"] <= row["median"] <= row["max"]
        assert len(row["times"]) == len(row["exit_codes"])
        # Readers want numbers; nobody measured these.
        assert (row["user"], row["system"], row["parameters"]["user_and_system"]) == (0, 0, "not measured")
    assert round((results[1]["mean"] - results[0]["mean"]) * 1e9) == BY


def test_custom_smaller_is_what_github_action_benchmark_takes(place: Path) -> None:
    rows = json.loads((place / "c.json").read_text())
    assert rows[0]["name"] == "boot"
    for row in rows:
        assert isinstance(row["name"], str)
        assert row["unit"] == "ms"
        assert isinstance(row["value"], (int, float))
    assert sum(round(row["value"] * 1e6) for row in rows[1:]) == round(rows[0]["value"] * 1e6)


def test_markdown_says_it_in_one_line_and_nothing_in_it_is_markup(place: Path) -> None:
    text = (place / "m.md").read_text()
    assert "### ❌ Boot time: regression" in text
    assert f"{BY:+,} ns, exact" in text
    assert "<img" not in text
    assert "\x1b" not in text
    assert "@you" not in text
    for table in re.findall(r"(?:^\|.*\|$\n)+", text, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table


@pytest.mark.parametrize("by_ns", [0, 140])
def test_markdown_folds_the_rules_that_pass_though_a_few_nanoseconds_changed(place: Path, by_ns: int) -> None:
    (place / "every.toml").write_text('[total]\nsoft = "0.1 %"\n[every_phase]\nsoft = "1 %"\n')
    slower(place, "s.boot", PHASE, by_ns)
    assert run(["gate", "s.boot", "--rules", "every.toml", "--markdown", "f.md"]) == 0
    shown, folded, *_ = (place / "f.md").read_text().split("<details><summary>")
    rules = re.findall(r"^\| (.*): soft limit +\|", shown, re.MULTILINE)
    assert rules == ["total"]
    passing = len(re.findall(r"^\| .*: soft limit +\|", folded, re.MULTILINE))
    assert folded.startswith(f"{passing} other rules pass</summary>")
    assert passing > 5


def test_markdown_shows_the_rules_that_fail_and_the_total(place: Path) -> None:
    (place / "every.toml").write_text('[total]\nsoft = "0.1 %"\n[every_phase]\nsoft = "1 %"\n')
    assert run(["gate", "b.boot", "--rules", "every.toml", "--markdown", "f.md"]) == 3
    shown, *_ = (place / "f.md").read_text().split("<details><summary>")
    assert [line.count("regression") for line in shown.splitlines() if ": soft limit" in line].count(0) == 0


def test_the_workflows_are_yaml_and_their_rules_are_good(capsys: pytest.CaptureFixture[str]) -> None:
    github: dict[Any, Any] = yaml.safe_load((CI / "github.yml").read_text())
    # YAML takes the key `on` for a truth value.
    assert {"pull_request", "push"} == set(github[True])
    assert github["permissions"] == {"contents": "read"}
    for job in github["jobs"].values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            if "uses" in step:
                # A tag can be moved; a commit cannot.
                assert re.fullmatch(r"actions/[a-z/-]+@[0-9a-f]{40}", step["uses"])
    gitlab: dict[str, Any] = yaml.safe_load((CI / "gitlab.yml").read_text())
    assert gitlab["boot-time"]["allow_failure"] == {"exit_codes": [5]}
    assert all(isinstance(line, str) for line in gitlab["boot-time"]["script"])
    rules = read_rules(CI / "gate.toml")
    assert rules.budget is not None
    assert rules.budget.others + sum(rules.budget.phases.values()) == rules.budget.goal
    run(["gate", "--help"])
    offered = capsys.readouterr().out
    commands = [step["run"] for step in github["jobs"]["gate"]["steps"] if "run" in step] + gitlab["boot-time"][
        "script"
    ]
    history = [step["run"] for step in github["jobs"]["gate"]["steps"] if "history regressions" in step.get("run", "")]
    assert [command.split(" | ")[0] for command in history] == ["firstlight history regressions boots.duckdb --fail"]
    saves = [number for number, step in enumerate(github["jobs"]["gate"]["steps"]) if "cache/save" in str(step)]
    fails = [number for number, step in enumerate(github["jobs"]["gate"]["steps"]) if "--fail" in str(step)]
    assert saves < fails
    gates = [command for command in commands if "firstlight gate" in command]
    assert len(gates) == 2
    for option in re.findall(r"--[a-z-]+", " ".join(gates)):
        assert option in offered
