"""What others make of the exported figures: KernelCI, Prometheus, Influx, a shell."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import kcidb_io
import pytest
from line_protocol_parser import parse_line
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import firstlight
from bundles import make_bundle
from export_boots import make_imported
from firstlight.exporters.figures import Figures, figures_of
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export

SORTS = ["exact", "hostile", "failed", "live", "imported"]


@pytest.fixture(params=SORTS)
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    sort = request.param
    if sort == "imported":
        return make_imported(tmp_path)
    return make_bundle(tmp_path, hostile=sort == "hostile", failed=sort == "failed", live=sort == "live")


def written(bundle: Path, to: To) -> tuple[Figures, str]:
    out = bundle.with_suffix(".out")
    write_export(bundle, to, out)
    return figures_of(firstlight.open(bundle)), out.read_text()


def test_a_submission_follows_the_schema_of_kernelci(bundle: Path) -> None:
    figures, text = written(bundle, To.kcidb)
    document = json.loads(text)
    schema = kcidb_io.schema.V5_3
    assert document["version"] == {"major": schema.major, "minor": schema.minor}
    assert schema.is_valid_exactly(document)
    tests = {test["path"]: test for test in document["tests"]}
    assert len(tests) == len({test["id"] for test in document["tests"]}) == len(document["tests"])
    assert tests["boot"]["status"] == ("PASS" if figures.came_up else "FAIL")
    assert ("number" in tests["boot"]) is figures.came_up
    phases = [test["number"]["value"] for path, test in tests.items() if path.startswith("boot.phase.")]
    assert sum(phases) == pytest.approx(figures.total_ns / 1e9)


def test_prometheus_reads_the_gauges(bundle: Path) -> None:
    figures, text = written(bundle, To.openmetrics)
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}  # type: ignore[no-untyped-call]
    assert [sample.value for sample in families["boot_seconds"]] == pytest.approx(
        [figures.total_ns / 1e9] if figures.came_up else []
    )
    assert sum(each.value for each in families["boot_phase_seconds"]) == pytest.approx(figures.total_ns / 1e9)
    assert len(families["boot_mark_seconds"]) == len(figures.marks)
    assert families["boot_up"][0].value == figures.came_up


def test_influx_reads_the_lines(bundle: Path) -> None:
    figures, text = written(bundle, To.influx)
    lines = [parse_line(line) for line in text.splitlines()]
    assert len(lines) == 1 + len(figures.phases) + len(figures.marks)
    assert lines[0]["measurement"] == "boot"
    assert lines[0]["tags"]["boot"] == figures.name
    assert ("seconds" in lines[0]["fields"]) is figures.came_up
    assert figures.recorded_at is not None
    assert {line["time"] for line in lines} == {round(figures.recorded_at.timestamp()) * 10**9}
    phases = [line["fields"]["seconds"] for line in lines if line["measurement"] == "boot_phase"]
    assert sum(phases) == pytest.approx(figures.total_ns / 1e9)


def test_a_shell_runs_the_test_cases_of_lava(bundle: Path, tmp_path: Path) -> None:
    figures, text = written(bundle, To.lava)
    tools = tmp_path / "bin"
    tools.mkdir()
    stand_in = tools / "lava-test-case"
    stand_in.write_text('#!/bin/sh\nprintf "%s|" "$@"\necho\n')
    stand_in.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-eu"], input=text, capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == ""
    cases = [line.split("|")[:-1] for line in done.stdout.splitlines()]
    assert len({case[0] for case in cases}) == len(cases)
    assert cases[0][:3] == ["boot", "--result", "pass" if figures.came_up else "fail"]
    phases = [float(case[4]) for case in cases if case[0].startswith("phase-")]
    assert sum(phases) == pytest.approx(figures.total_ns / 1e9)
    assert all(case[6] == "seconds" for case in cases if case[0].startswith(("phase-", "mark-")))
