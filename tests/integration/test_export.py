"""`firstlight export`: names, what is said, what is refused; the same bundle gives the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

from answers import data_of_answer
from bundles import HOSTILE, make_bundle
from export_boots import make_imported
from firstlight.bundle.tables import SCHEMAS
from firstlight.cli.main import run
from firstlight.exporters.formats import FORMATS, To
from firstlight.exporters.write import write_export
from imported_bundle import MS, Spans, write_bundle

ROOT = Path(__file__).parents[2]


def content(path: Path) -> dict[str, bytes]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# A bootchart is of processes alone: `test_export_bootchart.py`.
@pytest.mark.parametrize("to", [each for each in To if each is not To.bootchart])
@pytest.mark.parametrize("sort", ["exact", "hostile", "failed", "live", "imported"])
def test_every_boot_goes_into_every_format_and_always_the_same(here: Path, to: To, sort: str) -> None:
    if sort == "imported":
        bundle = make_imported(here, name="a.boot")
    else:
        bundle = make_bundle(here, hostile=sort == "hostile", failed=sort == "failed", live=sort == "live")
    assert run(["export", str(bundle), "--to", to]) == 0
    made = here / f"a{FORMATS[to].suffix}"
    first = content(made)
    assert all(name in {"1.dat"} or data for name, data in first.items())
    assert run(["export", str(bundle), "--to", to, "--force"]) == 0
    assert content(made) == first


def test_what_cannot_be_drawn_is_counted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_imported(here, name="a.boot")
    assert run(["export", "a.boot", "--to", "perfetto", "--json"]) == 0
    said = data_of_answer(capsys.readouterr().out)
    assert said["counts"]["spans"] == 6
    assert "2 spans left out: nothing says when they began" in said["notes"]
    assert "1 span left out: it ends before it begins" in said["notes"]


def test_nothing_is_replaced_unless_forced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(here)
    (here / "a.folded").write_text("mine")
    assert run(["export", "a.boot", "--to", "folded"]) == 1
    assert "this path already exists" in capsys.readouterr().err
    assert (here / "a.folded").read_text() == "mine"
    (here / "mine").mkdir()
    (here / "mine" / "sub").mkdir()
    assert run(["export", "a.boot", "--to", "uftrace", "-o", "mine", "--force"]) == 1
    assert "holds more than an export" in capsys.readouterr().err
    assert run(["export", "a.boot", "--to", "svg", "-o", "mine", "--force"]) == 1
    assert "it is a directory" in capsys.readouterr().err


def test_a_failed_export_leaves_nothing(here: Path) -> None:
    bundle = make_bundle(here)
    (bundle / "calls.parquet").write_bytes(b"no table")
    for to in (To.folded, To.json, To.uftrace):
        assert run(["export", "a.boot", "--to", to]) == 1
    assert [path.name for path in here.iterdir()] == ["a.boot"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--to", "uftrace", "-o", "-"], "a directory"),
        (["--to", "svg", "--unit", "time"], "has no `--unit`"),
        (["--to", "json", "--table", "marks"], "no `--table`"),
        (["--to", "folded", "-o", "-", "--json"], "cannot be combined with `--json`"),
        (["--to", "pdf"], "pdf"),
    ],
)
def test_options_that_do_not_go_together(
    here: Path, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_bundle(here)
    assert run(["export", "a.boot", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_binary_data_does_not_go_to_a_terminal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bundle(here)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert run(["export", "a.boot", "--to", "perfetto", "-o", "-"]) == 2


def test_data_goes_to_standard_output_and_notes_do_not(here: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    make_bundle(here, live=True)
    assert run(["export", "a.boot", "--to", "folded", "-o", "-"]) == 0
    said = capfdbinary.readouterr()
    assert all(line.rpartition(b" ")[2].isdigit() for line in said.out.splitlines())
    assert b"no profile" in said.err


def test_a_boot_without_the_unit_is_told_apart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_bundle(here, live=True)
    assert run(["export", "a.boot", "--to", "folded", "--unit", "instructions"]) == 1
    assert "counts no instructions" in capsys.readouterr().err


def test_csv_holds_every_table_and_comes_back_as_it_was(here: Path) -> None:
    bundle = make_bundle(here, hostile=True)
    assert run(["export", "a.boot", "--to", "csv", "--exact"]) == 0
    with zipfile.ZipFile(here / "a.csv.zip") as archive:
        assert archive.namelist() == [f"{table}.csv" for table in SCHEMAS]
        for table, schema in SCHEMAS.items():
            text = archive.read(f"{table}.csv")
            assert b"\n" not in text.replace(b"\r\n", b"").replace(b"two\nlines", b"")
            back = pl.read_csv(io.BytesIO(text), schema=schema)
            assert back.equals(pl.read_parquet(bundle / f"{table}.parquet")), table


def test_csv_gives_a_spreadsheet_nothing_to_compute(here: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    make_bundle(here, hostile=True)
    formula = next(name for name in HOSTILE if name.startswith("="))
    assert run(["export", "a.boot", "--to", "csv", "--table", "calls", "-o", "-"]) == 0
    functions = pl.read_csv(io.BytesIO(capfdbinary.readouterr().out))["function"].to_list()
    assert f"'{formula}" in functions
    assert formula not in functions


def test_csv_goes_into_a_directory_when_its_name_is_no_archive(here: Path) -> None:
    make_bundle(here)
    assert run(["export", "a.boot", "--to", "csv", "-o", "tables"]) == 0
    assert sorted(path.stem for path in (here / "tables").iterdir()) == sorted(SCHEMAS)
    assert run(["export", "a.boot", "--to", "csv", "--table", "fables"]) == 1


def test_a_traced_call_is_drawn_once_in_a_uftrace_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["# tracer: function_graph",
             "#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS",
             "    1.000000 |   0)   swapper-1    |               |  outer() {",
             "    1.000010 |   0)   swapper-1    | + 50.000 us   |    inner();",
             "    1.000100 |   0)   swapper-1    | ! 100.000 us  |  }"]  # fmt: skip
    Path("graph.txt").write_text("\n".join([*lines, ""]))
    assert run(["import", "graph.txt"]) == 0
    assert run(["export", "graph.boot", "--to", "uftrace", "-o", "out"]) == 0
    tracks = [line.split("\t")[1] for line in Path("out", "tracks.tsv").read_text().splitlines()]
    assert tracks == ["calls", "Boot: boot"]


def test_a_unit_that_is_up_and_a_stage_beside_phases_are_no_calls_for_uftrace(tmp_path: Path) -> None:
    spans = Spans()
    phase = spans.add("phase", "userspace", (0, 4800), track="boot")
    stage = spans.add("stage", "userspace", (0, 4800), parent=phase)
    spans.add("stage", "generators", (10, 50), parent=stage)
    spans.add("unit", "a.service", (100, 1100), track="systemd")
    spans.add("unit_active", "a.service", (1100, 4800), track="systemd")
    bundle = write_bundle(tmp_path, "up.boot", spans=spans)
    (tmp_path / "out").mkdir()
    exported = write_export(bundle, To.uftrace, tmp_path / "out")
    symbols = [line.split()[-1] for line in (tmp_path / "out" / "boot.sym").read_text().splitlines()]
    assert symbols == ["userspace", "generators_[stage]", "a.service", "__sym_end"]
    assert any(note.startswith("2 spans left out") for note in exported.notes)
    write_export(bundle, To.speedscope, tmp_path / "out.json")
    frames = json.loads((tmp_path / "out.json").read_text())["shared"]["frames"]
    assert {"a.service", "a.service [unit_active]"} < {frame["name"] for frame in frames}


def test_speedscope_draws_what_has_no_end_to_the_end_of_the_boot_and_not_of_the_record(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("unit", "a.service", (100, 1100), track="systemd")
    spans.add("unit_active", "a.service", (1100, None), track="systemd")
    spans.add("unit", "late.service", (6000, 7000), track="systemd")
    spans.add("unit_active", "late.service", (7000, None), track="systemd")
    spans.add("unit", "timer.service", (8000, 9000), track="systemd")
    bundle = write_bundle(tmp_path, "up.boot", spans=spans, marks={"kernel_start": 0, "ready": 4800})
    exported = write_export(bundle, To.speedscope, tmp_path / "out.json")
    data = json.loads((tmp_path / "out.json").read_text())
    names = [frame["name"] for frame in data["shared"]["frames"]]
    events = [event for profile in data["profiles"] for event in profile["events"]]
    closed = {names[event["frame"]]: event["at"] // MS for event in events if event["type"] == "C"}
    assert closed["a.service [unit_active]"] == 4800
    assert closed["late.service [unit_active]"] == 9000
    note = "2 spans without an end: drawn to the end of the boot, or of the record where they begin after it"
    assert note in exported.notes
