"""Names that are not UTF-8, are too long or stand twice: each record has one that can be read, and is its own."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

import firstlight
from answers import data_of_answer
from firstlight.cli.main import run
from invented_records import InventedBoot

BOOT = InventedBoot()
DMESG = BOOT.dmesg().encode()
LATIN = os.fsdecode(b"caf\xe9.log")
SHOWN = "caf\\xe9.log"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(boot: str) -> list[str]:
    return [source.file for source in firstlight.open(boot).manifest.sources]


def test_an_argument_that_is_no_utf_8(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / LATIN).write_bytes(DMESG)
    assert run(["import", LATIN]) == 0
    assert SHOWN in capsys.readouterr().out
    bundle = here / "caf\\xe9.boot"
    assert (bundle / "raw" / SHOWN).read_bytes() == DMESG
    manifest = firstlight.open(bundle).manifest
    assert [(source.file, source.name) for source in manifest.sources] == [(SHOWN, SHOWN)]
    assert f"$'{SHOWN}'" in manifest.reproduce
    assert run(["import", LATIN, "-o", "a.boot", "--json"]) == 0
    assert data_of_answer(capsys.readouterr().out)[0]["sources"][0]["file"] == SHOWN
    assert run(["show", "a.boot"]) == 0


def test_a_folder_with_such_names_keeps_each(here: Path) -> None:
    folder = here / os.fsdecode(b"logs\xff")
    (folder / os.fsdecode(b"d\xe9")).mkdir(parents=True)
    for name in (LATIN, SHOWN, os.fsdecode(b"d\xe9/\xe9.log"), os.fsdecode(b"\xe9" * 200)):
        (folder / name).write_bytes(DMESG)
    assert run(["import", str(folder), "-o", "a.boot"]) == 0
    found = files("a.boot")
    long = next(name for name in found if "..." in name)
    assert set(found) == {f"logs\\xff/{name}" for name in (SHOWN, f"2-{SHOWN}", "d\\xe9/\\xe9.log")} | {long}
    for name in found:
        assert (here / "a.boot" / "raw" / name).read_bytes() == DMESG


def test_members_of_archives_with_such_names(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "record").write_bytes(DMESG)
    with tarfile.open(here / "latin.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        for name in (LATIN, SHOWN, f"../{LATIN}"):
            archive.add("record", name)
        link = tarfile.TarInfo(f"link-{LATIN}")
        link.type, link.linkname = tarfile.SYMTYPE, LATIN
        archive.addfile(link)
    assert run(["import", "latin.tar", "-o", "a.boot", "--json"]) == 0
    assert files("a.boot") == [f"latin.tar/{SHOWN}", f"latin.tar/2-{SHOWN}"]
    said = capsys.readouterr()
    assert f"`../{SHOWN}` was left out" in data_of_answer(said.out)[0]["notes"][0]
    assert "udce9" not in said.err


def test_records_of_one_name_in_an_archive_have_each_its_own_digest(here: Path) -> None:
    with tarfile.open(here / "twice.tar", "w") as archive:
        for content in (DMESG, BOOT.plot().encode()):
            (here / "record").write_bytes(content)
            archive.add("record", "a/record")
    assert run(["import", "twice.tar", "-o", "a.boot"]) == 0
    sources = firstlight.open("a.boot").manifest.sources
    assert {source.file: source.size_bytes for source in sources} == {
        "twice.tar/a/record": len(DMESG),
        "twice.tar/a/2-record": len(BOOT.plot()),
    }


def test_errors_name_such_files_and_a_bundle_cannot_have_such_a_name(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", LATIN]) == 2
    assert capsys.readouterr().err.startswith(f"error: {SHOWN}: cannot read: ")
    (here / LATIN).write_bytes(b"")
    assert run(["import", LATIN]) == 1
    assert capsys.readouterr().err.startswith(f"error: {SHOWN}: it is empty")
    (here / LATIN).write_bytes(DMESG)
    assert run(["import", LATIN, "-o", os.fsdecode(b"\xe9.boot")]) == 2
    assert "must be UTF-8\nhint: " in capsys.readouterr().err
