"""The public Python interface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import firstlight
from bundles import make_bundle
from firstlight import api
from firstlight.errors import BundleError, FirstlightError, UsageError


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("polars", "pydantic", "typer", "rich", "numpy", "importlib.metadata", "firstlight._core")
    script = f"import firstlight, sys; dir(firstlight); print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True,
                            env={"PYTHONPATH": str(Path(firstlight.__file__).parents[1])})  # fmt: skip
    assert loaded.stdout == "[]\n"


def test_the_package_lists_what_the_interface_offers() -> None:
    assert set(dir(firstlight)) == {"__version__", *api.__all__}
    assert all(getattr(firstlight, name) is getattr(api, name) for name in api.__all__)


def test_a_submodule_does_not_hide_a_function_of_the_same_name(invented_boot: Path) -> None:
    firstlight.compare(invented_boot, invented_boot)
    assert callable(firstlight.compare)
    assert callable(firstlight.export)


def test_every_level_of_a_comparison_adds_up_to_the_total(invented_boot: Path, tmp_path: Path) -> None:
    other = make_bundle(tmp_path, name="b.boot", more=("initcalls_device", 5_000_000))
    found = firstlight.open(invented_boot).compare(other)
    assert found.total.change_ns > 0
    assert {"phases", "functions", "initcalls"} <= set(found.tables)
    for table in found.tables.values():
        assert table["change_ns"].sum() == found.total.change_ns
        assert table["b_ns"].sum() == found.total.b_ns
    with pytest.raises(BundleError, match="phasse"):
        found.table("phasse")


def test_a_notebook_gets_names_that_are_escaped(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path, name="<script>x.boot"))
    assert "<script>" not in boot._repr_html_()
    assert "&lt;script&gt;x.boot" in boot._repr_html_()
    compared = boot.compare(boot)._repr_html_()
    assert "<script>" not in compared
    assert "exact, +0 ns" in compared


def test_what_is_there_is_not_replaced_unless_asked(invented_boot: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    with pytest.raises(FirstlightError, match="already exists"):
        firstlight.report(invented_boot, page)
    assert firstlight.report(invented_boot, page, force=True).read_text().startswith("<!doctype html>")


def test_an_export_says_what_it_wrote(invented_boot: Path, tmp_path: Path) -> None:
    written = firstlight.open(invented_boot).export("json", tmp_path / "a.json")
    assert written.size == written.path.stat().st_size
    assert json.loads(written.path.read_text())["manifest"]["mode"] == "exact"
    with pytest.raises(UsageError, match="jsonn"):
        firstlight.export(invented_boot, "jsonn", tmp_path / "b.json")


def test_an_unknown_level_of_initcalls_gives_the_nearest(invented_boot: Path) -> None:
    with pytest.raises(BundleError) as caught:
        firstlight.open(invented_boot).initcalls(level="devcie")
    assert caught.value.hint is not None
    assert "`device`" in caught.value.hint


def test_an_import_loads_no_frames(tmp_path: Path) -> None:
    record = tmp_path / "dmesg.txt"
    record.write_text("[    0.000000] Linux version 6.12\n[    1.500000] Kernel panic - not syncing: no root\n")
    words = ["import", str(record), "-o", str(tmp_path / "a.boot")]
    script = f"import sys; from firstlight.cli.main import run; run({words}); print('polars' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.endswith("False\n")
    failure = firstlight.open(tmp_path / "a.boot").manifest.failure
    assert failure is not None
    assert (failure.detail, len(failure.console_tail)) == ("Kernel panic - not syncing: no root", 2)
