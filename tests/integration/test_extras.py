"""The base install: what works without the packages of the extras, and what the other verbs say then."""

import subprocess
import sys
from pathlib import Path

import pytest

#: A Python that has none of the extras' packages.
WITHOUT = """
import sys
for name in ("duckdb", "numpy", "pandas", "pydoe", "scipy"):
    sys.modules[name] = None
from firstlight.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def without_extras(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["functions", "--tree"],
        ["initcalls"],
        ["devices"],
        ["log"],
        ["path"],
        ["compare", "SAME"],
        ["compare", "SAME", "--json"],
        ["report", "-o", "OUT"],
        ["export", "--to", "perfetto", "-o", "OUT"],
        ["export", "--to", "speedscope", "-o", "OUT"],
    ],
    ids=" ".join,
)
def test_the_base_install_is_enough(arguments: list[str], invented_boot: Path, tmp_path: Path) -> None:
    verb, *options = arguments
    places = {"SAME": str(invented_boot), "OUT": str(tmp_path / "out")}
    done = without_extras(verb, str(invented_boot), *(places.get(option, option) for option in options))
    assert done.returncode == 0, done.stderr


def test_a_log_is_imported_by_the_base_install(tmp_path: Path) -> None:
    log = tmp_path / "dmesg.txt"
    log.write_text("[    0.000000] Linux version 6.1.0\n[    0.500000] Run /init as init process\n")
    done = without_extras("import", str(log), "-o", str(tmp_path / "a.boot"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (["history", "show", "h.duckdb"], "duckdb", "history"),
        (["scale", "TABLE"], "numpy", "statistics"),
    ],
    ids=["history", "statistics"],
)
def test_a_verb_that_needs_an_extra_names_it(arguments: list[str], package: str, extra: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("size,time_ns\n1,10\n2,20\n4,40\n8,80\n")
    done = without_extras(*(str(table) if word == "TABLE" else word for word in arguments))
    assert done.returncode == 1
    assert f"error: `{package}` is needed for this, and not installed" in done.stderr
    assert f'hint: `pip install "firstlight[{extra}]"`' in done.stderr
