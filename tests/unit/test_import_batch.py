"""Importing a directory of records, each of its entries a boot of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import firstlight
from firstlight.cli.main import run
from firstlight.ingest.batch import JOURNAL, BatchRow

BOOT = "[    0.000000] Linux version 6.12.{}\n[    1.500000] Run /init as init process\n"


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Two logs, one of two boots, a folder with a link and a pipe in it, a text, a link and a pipe."""
    directory = tmp_path / "records"
    (directory / "folder").mkdir(parents=True)
    (directory / "a.txt").write_text(BOOT.format(1))
    (directory / "a.log").write_text(BOOT.format(2))
    (directory / "two.txt").write_text(BOOT.format(3) + BOOT.format(4))
    (directory / "text.txt").write_text("nothing of a boot")
    (directory / "folder" / "dmesg.txt").write_text(BOOT.format(5))
    (tmp_path / "secret").write_text(BOOT.format(6))
    for place in (directory, directory / "folder"):
        (place / "link").symlink_to(tmp_path / "secret")
        os.mkfifo(place / "pipe")
    return directory


def outcomes(rows: list[BatchRow]) -> dict[str, str]:
    return {row.entry: str(row.outcome) for row in rows}


EXPECTED = {"a.log": "imported", "a.txt": "imported", "folder": "imported", "link": "left out", "pipe": "left out",
            "text.txt": "rejected", "two.txt": "several boots"}  # fmt: skip


def test_each_entry_is_a_boot_and_what_fails_stops_no_other(records: Path, tmp_path: Path) -> None:
    rows = firstlight.import_batch(records, output=tmp_path / "boots")
    assert outcomes(rows) == EXPECTED
    bundles = sorted(path.name for path in (tmp_path / "boots").iterdir() if path.is_dir())
    assert bundles == ["a.log.boot", "a.txt.boot", "folder.boot"]
    assert firstlight.open(tmp_path / "boots" / "a.log.boot").fact_values()["kernel.release"] == "6.12.2"
    folder = next(row for row in rows if row.entry == "folder")
    assert sorted(note.rpartition("/")[2].partition("`")[0] for note in folder.notes) == ["link", "pipe"]
    assert "6.12.6" not in {
        firstlight.open(tmp_path / "boots" / name).fact_values()["kernel.release"] for name in bundles
    }


def test_a_second_run_imports_what_is_new_or_changed(records: Path, tmp_path: Path) -> None:
    firstlight.import_batch(records, output=tmp_path / "boots")
    (records / "a.log").write_text(BOOT.format(77))
    (records / "new.txt").write_text(BOOT.format(8))
    rows = firstlight.import_batch(records, output=tmp_path / "boots")
    assert outcomes(rows) == {**EXPECTED, "new.txt": "imported"}
    assert [row.entry for row in rows if not row.earlier] == ["a.log", "link", "new.txt", "pipe"]
    assert firstlight.open(tmp_path / "boots" / "a.log.boot").fact_values()["kernel.release"] == "6.12.77"


def test_an_interrupted_run_continues(records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from firstlight.ingest import batch, importing

    import_records = importing.import_records

    def interrupted(options: importing.ImportOptions) -> list[object]:
        written = import_records(options)
        if options.output.name == "a.txt.boot":
            raise KeyboardInterrupt
        return list(written)

    monkeypatch.setattr(batch, "import_records", interrupted)
    with pytest.raises(KeyboardInterrupt):
        firstlight.import_batch(records, output=tmp_path / "boots")
    monkeypatch.undo()
    rows = firstlight.import_batch(records, output=tmp_path / "boots")
    assert outcomes(rows) == EXPECTED
    assert [row.entry for row in rows if row.earlier] == ["a.log"]


def test_split_writes_every_boot(records: Path, tmp_path: Path) -> None:
    rows = {row.entry: row for row in firstlight.import_batch(records, output=tmp_path / "boots", split=True)}
    assert list(rows["two.txt"].bundles) == ["two.txt-1.boot", "two.txt-2.boot"]


def test_a_split_after_a_run_without_one_has_no_boot_twice_and_counts_the_lines_of_all(
    records: Path, tmp_path: Path
) -> None:
    firstlight.import_batch(records, output=tmp_path / "boots")
    rows = {row.entry: row for row in firstlight.import_batch(records, output=tmp_path / "boots", split=True)}
    bundles = sorted(path.name for path in (tmp_path / "boots").iterdir() if path.is_dir())
    assert bundles == ["a.log.boot", "a.txt.boot", "folder.boot", "two.txt-1.boot", "two.txt-2.boot"]
    assert (rows["a.log"].lines, rows["two.txt"].lines) == (2, 4)


def test_the_boots_of_one_entry_do_not_take_the_name_of_another(tmp_path: Path) -> None:
    directory = tmp_path / "records"
    directory.mkdir()
    (directory / "t").write_text(BOOT.format(1) + BOOT.format(2))
    (directory / "t-1").write_text(BOOT.format(3))
    rows = firstlight.import_batch(directory, output=tmp_path / "boots", split=True)
    assert outcomes(rows) == {"t": "imported", "t-1": "imported"}
    (directory / "t-boots-2").write_text(BOOT.format(4))
    rows = firstlight.import_batch(directory, output=tmp_path / "boots", split=True)
    assert outcomes(rows) == {"t": "imported", "t-1": "imported", "t-boots-2": "imported"}
    bundles = [bundle for row in rows for bundle in row.bundles]
    assert len(set(bundles)) == len(bundles) == 4
    releases = {firstlight.open(tmp_path / "boots" / name).fact_values()["kernel.release"] for name in bundles}
    assert releases == {f"6.12.{number}" for number in range(1, 5)}


def test_a_bundle_among_the_records_is_left_out(tmp_path: Path) -> None:
    directory = tmp_path / "records"
    directory.mkdir()
    (directory / "a.log").write_text(BOOT.format(1))
    firstlight.import_(directory / "a.log", output=directory / "a.boot")
    rows = firstlight.import_batch(directory, output=tmp_path / "boots")
    assert outcomes(rows) == {"a.boot": "left out", "a.log": "imported"}
    assert "boot bundle" in (rows[0].reason or "")


def test_what_is_missing_from_an_imported_boot_is_in_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    folder = tmp_path / "records" / "folder"
    folder.mkdir(parents=True)
    lines = "".join(f"[    {place}.000000] gadget{place}: ready\n" for place in range(1, 9))
    (folder.parent / "no-head.txt").write_text(lines)
    (folder / "a.log").write_text(BOOT.format(1) + lines)
    (folder / "b.log").write_text(BOOT.format(2) + lines)
    rows = {row.entry: row for row in firstlight.import_batch(folder.parent, output=tmp_path / "boots")}
    assert "after the kernel's first line" in rows["no-head.txt"].missing[0]
    assert "b.log: left out" in rows["folder"].missing[0]
    assert rows["folder"].lines == 10
    assert run(["import", "--batch", str(folder.parent), "-o", str(tmp_path / "boots")]) == 0
    printed = capsys.readouterr().out
    assert "incomplete: " in printed
    assert "2 entries: 2 imported (2 incomplete)" in printed


def test_another_choice_about_machines_imports_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = tmp_path / "records" / "host"
    host.mkdir(parents=True)
    for name in ("web01", "web02"):
        (host / f"{name}.log").write_text(BOOT.format(1) + f"[    2.000000] systemd[1]: Hostname set to <{name}>.\n")
    words = ["import", "--batch", str(host.parent), "-o", str(tmp_path / "boots")]
    assert run(words) == 1
    assert "rejected" in capsys.readouterr().out
    assert run([*words, "--any-machine"]) == 0
    assert "earlier" not in capsys.readouterr().out


def test_the_last_boot_of_each_is_taken_after_a_run_that_left_it_open(records: Path, tmp_path: Path) -> None:
    firstlight.import_batch(records, output=tmp_path / "boots")
    rows = {row.entry: row for row in firstlight.import_batch(records, output=tmp_path / "boots", boot=-1)}
    assert {name: str(rows[name].outcome) for name in ("a.log", "two.txt")} == dict.fromkeys(
        ("a.log", "two.txt"), "imported"
    )
    assert firstlight.open(tmp_path / "boots" / "two.txt.boot").fact_values()["kernel.release"] == "6.12.4"


def test_the_command_prints_a_table_or_json_and_fails_where_a_record_was_not_imported(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    words = ["import", "--batch", str(records), "-o", str(tmp_path / "boots")]
    assert run(words) == 1
    printed = capsys.readouterr().out
    assert "7 entries: 3 imported (1 incomplete), 1 holds several boots, 1 rejected, 2 left out" in printed
    assert "it holds 2 boots" in printed
    assert "`--split` writes a bundle for each" in printed
    assert run([*words, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["counts"] == {"imported": 3, "several boots": 1, "rejected": 1, "left out": 2}
    assert [entry["earlier"] for entry in data["entries"]] == [True, True, True, False, False, True, True]
    for name in ("text.txt", "two.txt"):
        (records / name).unlink()
    assert run(words) == 0
    assert "--split" not in capsys.readouterr().out


def test_what_cannot_be_a_batch_is_reported(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boots = tmp_path / "boots"
    assert run(["import", "--batch", str(records)]) == 2
    assert "`--batch` needs `-o`" in capsys.readouterr().err
    for name in ("a.log", "a.log/below"):
        assert run(["import", "--batch", str(records), "-o", str(records / name)]) == 2
        assert "hint: choose another directory with `-o`" in capsys.readouterr().err
    assert run(["import", "a.txt", "--batch", str(records), "-o", str(boots)]) == 2
    assert run(["import", "--batch", str(tmp_path / "none"), "-o", str(boots)]) == 2
    assert run(["import", "--batch", str(records), "-o", str(boots), "--as", "nothing"]) == 2
    assert not boots.exists()
    boots.mkdir()
    (boots / JOURNAL).write_text("{")
    assert run(["import", "--batch", str(records), "-o", str(boots)]) == 1
    assert "the journal cannot be read" in capsys.readouterr().err
