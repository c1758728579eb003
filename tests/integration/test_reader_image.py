"""The image of the reader copies what was checked, runs nothing while it is built, and reads boots without QEMU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from imported_bundle import make_imported

ROOT = Path(__file__).parents[2]


def test_nothing_runs_while_the_image_is_built_and_its_base_is_named_by_the_caller() -> None:
    lines = (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    steps = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert "RUN" not in steps
    assert lines[[line.startswith("FROM") for line in lines].index(True)] == "FROM ${BASE}"
    assert "ARG BASE" in lines
    assert any(re.fullmatch(r"USER [1-9]\d*:[1-9]\d*", line) for line in lines)


def test_its_requirements_are_those_of_the_lock() -> None:
    def pins(name: str) -> dict[str, str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))

    reader, every = pins("requirements-reader.txt"), pins("requirements.txt")
    assert {"polars", "pydantic", "rich", "typer"} <= reader.keys()
    # For `ui`, and for comparisons of boots that vary.
    assert {"duckdb", "numpy", "scipy", "starlette", "uvicorn"} <= reader.keys()
    assert reader.items() <= every.items()


@pytest.mark.parametrize("verb", ["import", "show", "report", "compare"])
def test_the_reader_needs_no_other_program(verb: str, tmp_path: Path) -> None:
    bundle = str(make_imported(tmp_path))
    log, page = tmp_path / "log.txt", tmp_path / "page.html"
    log.write_text("[    0.000000] Linux version 6.1.0 (builder) #1 SMP\n", encoding="utf-8")
    arguments = {
        "import": [str(log), "-o", str(tmp_path / "read.boot")],
        "show": [bundle],
        "report": [bundle, "-o", str(page)],
        "compare": [bundle, bundle],
    }[verb]
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "XDG_CACHE_HOME")}
    command = [sys.executable, "-m", "firstlight", verb, *arguments]
    # Without a search path: neither QEMU nor anything else is found.
    done = subprocess.run(command, env=kept | {"PATH": str(tmp_path)}, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
