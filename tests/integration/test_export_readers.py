"""What readers that are not ours make of an export: schemas, XML, uftrace, the Firefox Profiler's own code."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import firstlight
from bundles import make_bundle
from export_boots import make_imported
from firstlight.bundle.tables import SCHEMAS
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export

ROOT = Path(__file__).parents[2]
NODE_MODULES = ROOT / "web" / "node_modules"
SORTS = ["exact", "hostile", "failed", "live", "imported"]


def boot_of(sort: str, directory: Path) -> Path:
    if sort == "imported":
        return make_imported(directory)
    return make_bundle(directory, hostile=sort == "hostile", failed=sort == "failed", live=sort == "live")


def document(bundle: Path, to: To) -> Any:
    out = bundle.with_suffix(f".{to}")
    write_export(bundle, to, out)
    data = out.read_bytes()
    return json.loads(gzip.decompress(data) if to is To.firefox else data)


@pytest.mark.parametrize("sort", SORTS)
def test_json_follows_its_schema_and_holds_every_row(tmp_path: Path, sort: str) -> None:
    bundle = boot_of(sort, tmp_path)
    written = document(bundle, To.json)
    schema = json.loads((ROOT / "docs/reference/formats/export.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(written, schema)
    for table, columns in SCHEMAS.items():
        back = pl.DataFrame(written["tables"][table], schema=columns, orient="row")
        assert back.equals(pl.read_parquet(bundle / f"{table}.parquet")), table


def test_the_schema_of_json_has_the_columns_of_the_tables() -> None:
    schema = json.loads((ROOT / "docs/reference/formats/export.schema.json").read_text())
    tables = schema["properties"]["tables"]["properties"]
    assert {table: list(tables[table]["items"]["properties"]) for table in tables} == {
        table: list(columns) for table, columns in SCHEMAS.items()
    }


@pytest.mark.parametrize("sort", SORTS)
def test_speedscope_follows_the_published_schema(tmp_path: Path, sort: str) -> None:
    file = document(boot_of(sort, tmp_path), To.speedscope)
    schema = json.loads((NODE_MODULES / "speedscope/dist/release/file-format-schema.json").read_text())
    jsonschema.validate(file, schema)
    for profile in file["profiles"]:
        assert profile["startValue"] <= profile["endValue"]
        if profile["type"] == "sampled":
            assert len(profile["samples"]) == len(profile["weights"])
            continue
        # What the schema cannot say: events are in order and nest.
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert stack == []


def test_speedscope_holds_the_whole_tree(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    calls = next(profile for profile in document(bundle, To.speedscope)["profiles"] if profile["type"] == "sampled")
    assert sum(calls["weights"]) == firstlight.open(bundle).manifest.totals.virtual_ns


@pytest.mark.parametrize("sort", SORTS)
def test_a_chart_is_xml_without_scripts_links_or_markup_of_the_boot(tmp_path: Path, sort: str) -> None:
    bundle = boot_of(sort, tmp_path)
    out = tmp_path / "chart.svg"
    write_export(bundle, To.svg, out)
    root = ET.fromstring(out.read_bytes())
    kinds = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    assert kinds <= {"svg", "title", "style", "defs", "pattern", "circle", "path", "rect", "text", "line", "g"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    for name in firstlight.open(bundle).spans().filter(pl.col("start_ns").is_not_null())["name"].to_list()[:20]:
        assert any(name in title for title in titles) or name == "torn"


@pytest.mark.skipif(shutil.which("uftrace") is None, reason="uftrace is not installed: apt-get install uftrace")
@pytest.mark.parametrize("sort", SORTS)
def test_uftrace_reports_what_is_in_the_boot(tmp_path: Path, sort: str) -> None:
    bundle = boot_of(sort, tmp_path)
    out = tmp_path / "data"
    out.mkdir()
    write_export(bundle, To.uftrace, out)
    command = ["uftrace", "report", "--no-pager", "-d", str(out), "-f", "total,self,call"]
    report = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "WARN" not in report.stderr
    found = {line.split()[-1]: " ".join(line.split()[:2]) for line in report.stdout.splitlines()[2:]}
    if sort == "exact":
        assert found["[boot]"] == "829.882 ms"
        assert found["initcalls_device"] == "543.655 ms"
    if sort == "imported":
        assert (found["acpi_init"], found["dbus.service"]) == ("4.000 us", "2.000 us")
    replay = ["uftrace", "replay", "--no-pager", "-d", str(out)]
    assert subprocess.run(replay, check=True, capture_output=True).stdout


@pytest.mark.parametrize("sort", SORTS)
def test_the_firefox_profiler_reads_the_profile(tmp_path: Path, sort: str) -> None:
    cli = NODE_MODULES / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
    if not cli.exists():
        pytest.skip("the Firefox Profiler's command line is not installed: make web")
    out = tmp_path / "a.json.gz"
    bundle = boot_of(sort, tmp_path)
    write_export(bundle, To.firefox, out)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{ROOT}/.build/node/bin:{os.environ['PATH']}"}
        return subprocess.run(["node", cli, *words], capture_output=True, text=True, env=environment, timeout=120)

    def profiler(*words: str) -> str:
        said = run(*words)
        assert said.returncode == 0, said.stderr
        return said.stdout

    try:
        # Its server has half a second to answer, which a busy machine may not give it.
        loaded = run("load", str(out))
        for _ in range(5):
            if "did not become ready" not in loaded.stderr:
                break
            run("stop", "--all")
            loaded = run("load", str(out))
        else:
            pytest.skip("the machine is too busy for the profiler's server to start in the time that it gives itself")
        assert loaded.returncode == 0, loaded.stderr
        threads = profiler("thread", "list")
        assert "Log and marks" in threads
        assert "boot" in threads
        if sort == "exact":
            functions = profiler("thread", "functions")
            assert "mpihelp_submul_1 - self: 310.56ms" in functions
    finally:
        run("stop", "--all")


def test_the_samples_of_a_firefox_profile_weigh_the_boot_and_lie_in_their_phases(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    boot = firstlight.open(bundle)
    thread = document(bundle, To.firefox)["threads"][0]["samples"]
    assert sum(thread["weight"]) == pytest.approx((boot.manifest.totals.virtual_ns or 0) / 1e6)
    assert thread["time"] == sorted(thread["time"])
    assert thread["weightType"] == "tracing-ms"
