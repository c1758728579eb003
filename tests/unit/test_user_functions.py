"""`functions --user` and `--process`: what processes executed, by function."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import firstlight
from answers import answer
from bundles import make_bundle, write_table
from firstlight import _core
from firstlight.api import Boot
from firstlight.cli.main import run
from firstlight.debug_files import DebugFiles
from invented_processes import USER_FUNCTIONS, make_processes


@pytest.fixture
def boot(tmp_path: Path) -> Boot:
    return firstlight.open(make_processes(tmp_path))


def test_functions_of_all_processes_add_up_and_the_largest_comes_first(boot: Boot) -> None:
    rows = boot.user_functions()
    assert rows["self_instructions"].sum() == boot.processes()["user_instructions"].sum()
    assert rows["self_instructions"].is_sorted(descending=True)
    assert rows.row(0, named=True)["name"] == "main"
    # One function of one file is one row, whoever executed it.
    assert rows.filter(pl.col("function") == "malloc")["self_instructions"].to_list() == [40_000]


def test_code_without_a_name_is_called_by_where_it_stands(boot: Boot) -> None:
    names = set(boot.user_functions()["name"])
    assert {"init+0x401900", "udevadm+0x2000", "gone+0x40", "[anonymous]", "memfd:jit+0x10", "[vdso]+0x6c0"} <= names


@pytest.mark.parametrize("process", ["10", "udevadm", "/usr/bin/udevadm", "udev-settle.service"])
def test_a_process_has_all_its_functions_from_its_creation_on(boot: Boot, process: str) -> None:
    rows = boot.user_functions(process=process)
    assert rows["self_instructions"].sum() == 150_000
    assert rows.filter(pl.col("name") == "gone+0x40").height == 1


def test_a_function_has_the_system_calls_that_it_made(boot: Boot) -> None:
    rows = boot.user_functions(process="10").filter(pl.col("calls") > 0)
    assert dict(rows.select("name", "calls").iter_rows()) == {"malloc": 3, "udevadm+0x2000": 2}
    assert rows["call_instructions"].sum() == 5_000 + 50_000 + 2_000 + 6_000 + 500


@pytest.mark.parametrize("process", [None, "10", "svc"])
def test_all_work_of_processes_adds_up_to_their_instructions(boot: Boot, process: str | None) -> None:
    work = boot.process_work(process=process)
    processes = boot.processes()
    if process is not None:
        processes = processes.filter((pl.col("pid").cast(pl.String) == process) | (pl.col("name") == process))
    assert work["self_instructions"].sum() == processes["instructions"].sum()
    assert set(work["kind"]) >= {"system_call", "kernel", "interrupts", "file" if process != "svc" else "vdso"}


def test_without_user_code_its_instructions_are_one_row(tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    table = pl.read_parquet(bundle / "user_functions.parquet")
    write_table(bundle, "user_functions", table.clear())
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["invariants"]["user_functions_partition_user_mode"]
    path.write_text(json.dumps(manifest))
    work = firstlight.open(bundle).process_work(process="10")
    assert work.filter(pl.col("kind") == "user")["self_instructions"].to_list() == [150_000]
    code, said = answer("functions", str(bundle), "--user")
    assert code == 0
    assert said["functions"] == []
    assert "--user-functions" in said["hint"]


def test_the_table_on_a_terminal_has_functions_files_and_their_sums(
    boot: Boot, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["functions", str(boot.directory), "--user", "-n", "2"]) == 0
    printed = capsys.readouterr().out
    assert "(7 more)" in printed
    assert "650,000" in printed
    assert "/usr/bin/udevadm" in printed


def test_json_has_every_row(boot: Boot) -> None:
    code, said = answer("functions", str(boot.directory), "--process", "10", "--user")
    assert code == 0
    assert (said["process"], said["user"]) == ("10", True)
    assert sum(row["self_instructions"] for row in said["functions"]) == 150_000
    code, said = answer("functions", str(boot.directory), "--process", "10")
    assert {row["kind"] for row in said["functions"]} == {"file", "deleted", "system_call", "kernel", "interrupts"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--user", "--tree"], 2, "cannot be combined with options of the kernel's calling-context tree"),
        (["--symbols", "."], 2, "is for functions of user mode"),
        (["--process", "nobody"], 1, "nobody"),
    ],
)
def test_options_that_cannot_be_are_refused(
    boot: Boot, words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["functions", str(boot.directory), *words]) == code
    assert said in capsys.readouterr().err


def test_hostile_paths_are_printed_harmlessly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = make_processes(tmp_path, hostile=True)
    assert run(["functions", str(bundle), "--user"]) == 0
    assert "\x1b[31m" not in capsys.readouterr().out


def test_a_boot_without_processes_says_how_to_get_them(tmp_path: Path) -> None:
    code, said = answer("functions", str(make_bundle(tmp_path)), "--process", "10")
    assert (code, said["functions"]) == (0, [])
    assert said["hint"]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A program with symbols, and its debug file by build id."""
    if shutil.which("cc") is None:
        pytest.skip("there is no compiler")
    source = tmp_path / "named.c"
    source.write_text(
        "__attribute__((noinline)) int named(int a) { return a * 3; } int main(int c, char **v) { return named(c); }"
    )
    program = tmp_path / "named"
    subprocess.run(["cc", "-O1", "-Wl,--build-id", "-o", str(program), str(source)], check=True)
    return program


def symbol(program: Path, name: str) -> int:
    listed = subprocess.run(["nm", str(program)], check=True, capture_output=True, text=True).stdout
    return next(int(line.split()[0], 16) for line in listed.splitlines() if line.split()[-1] == name)


def test_a_recording_is_named_later_by_build_id_and_address(tmp_path: Path, library: Path) -> None:
    build_id = _core.build_id(str(library))
    assert build_id is not None
    symbols = tmp_path / "symbols" / ".build-id" / build_id[:2]
    symbols.mkdir(parents=True)
    shutil.copy(library, symbols / f"{build_id[2:]}.debug")
    at = symbol(library, "named")
    bundle = make_processes(tmp_path)
    table = pl.read_parquet(bundle / "user_functions.parquet").with_columns(
        build_id=pl.when(pl.col("row") == 5).then(pl.lit(build_id)).otherwise("build_id"),
        address=pl.when(pl.col("row") == 5).then(at).otherwise("address"),
    )
    write_table(bundle, "user_functions", table)
    boot = firstlight.open(bundle)
    assert "named" not in boot.user_functions()["name"]
    rows = boot.user_functions(symbols=tmp_path / "symbols").filter(pl.col("name") == "named")
    assert rows.select("self_instructions", "source", "address").rows() == [(70_000, "debug_file", at)]


def test_debug_files_are_found_by_path_and_refused_with_another_build_id(tmp_path: Path, library: Path) -> None:
    build_id = _core.build_id(str(library))
    assert build_id is not None
    folder = tmp_path / "plain"
    folder.mkdir()
    shutil.copy(library, folder / "named.debug")
    assert DebugFiles(folder).find("/usr/bin/named", build_id) == folder / "named.debug"
    assert DebugFiles(folder).find("/usr/bin/named", "00ff") is None
    assert DebugFiles(folder).find("/../../etc/passwd", "00ff") is None


def test_names_are_only_taken_from_a_file_with_the_build_id(library: Path) -> None:
    at = symbol(library, "named")
    assert _core.function_names(str(library), _core.build_id(str(library)) or "", [at + 1, 0]) == [("named", at), None]
    assert _core.function_names(str(library), "00ff", [at]) is None


def test_the_invented_functions_are_those_of_the_threads() -> None:
    assert sum(row[-1] for row in USER_FUNCTIONS) == 650_000
