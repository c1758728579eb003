"""A file that an option of QEMU names is an input of the recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.errors import FirstlightError
from firstlight.lab.qemu.option_files import with_inputs

NAMED = [
    ("-fw_cfg", "name=opt/a,file={}"),
    ("-fw_cfg", "opt/a,file={}"),
    ("-acpitable", "file={}"),
    ("-acpitable", "sig=TEST,data={}"),
    ("-smbios", "file={}"),
    ("-smbios", "type=11,path={}"),
    ("-bios", "{}"),
    ("-dtb", "{}"),
    ("-option-rom", "{},bootindex=1"),
    ("-device", "loader,file={},addr=0x1000"),
    ("-device", "addr=0x1000,driver=loader,file={}"),
    ("-device", "vmxnet3,romfile={}"),
    ("-object", "memory-backend-file,id=m,size=4K,mem-path={}"),
    ("-boot", "splash={}"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given").write_bytes(b"one")
    return tmp_path


@pytest.mark.parametrize(("option", "value"), NAMED)
def test_its_content_counts_and_its_path_is_whole(here: Path, option: str, value: str) -> None:
    words, first = with_inputs([option, value.format("given")])
    assert words == (option, value.format(here / "given"))
    (here / "given").write_bytes(b"two")
    # The words that QEMU got name the same input from every other directory.
    again, second = with_inputs(words)
    assert again == words
    assert len(first) == 1
    assert first.keys() == second.keys()
    assert first != second


@pytest.mark.parametrize(("option", "value"), NAMED)
def test_what_is_missing_or_no_file_is_refused_by_name(here: Path, option: str, value: str) -> None:
    (here / "given").unlink()
    with pytest.raises(FirstlightError, match="there is no such file") as error:
        with_inputs([option, value.format("given")])
    assert "given" in str(error.value)
    with pytest.raises(FirstlightError, match="not a regular file"):
        with_inputs([option, value.format("/dev/null")])


def test_a_comma_in_a_name_stays_one(here: Path) -> None:
    (here / "a,b").write_bytes(b"x")
    words, digests = with_inputs(["-device", "loader,file=a,,b"])
    assert words == ("-device", f"loader,file={here}/a,,b")
    assert len(digests) == 1


def test_several_tables_are_each_an_input(here: Path) -> None:
    (here / "other").write_bytes(b"x")
    words, digests = with_inputs(["-acpitable", "file=given:other"])
    assert words == ("-acpitable", f"file={here}/given:{here}/other")
    (here / "other").write_bytes(b"y")
    assert with_inputs(words)[1] != digests


def test_firmware_is_found_where_qemu_looks_and_in_directories_that_are_given(here: Path) -> None:
    own, shipped = here / "own", here / "shipped"
    for directory in (own, shipped):
        directory.mkdir()
        (directory / "seabios.bin").write_text(directory.name)
    assert with_inputs(["-bios", "seabios.bin"], [shipped])[0] == ("-bios", str(shipped / "seabios.bin"))
    words, digests = with_inputs(["-L", "own", "-bios", "seabios.bin"], [shipped])
    assert words == ("-L", str(own), "-bios", str(own / "seabios.bin"))
    assert len(digests) == 2
    (own / "kvmvapic.bin").write_text("another")
    assert with_inputs(words)[1] != digests


def test_options_without_files_stay_as_they_are() -> None:
    words = (
        "-usb",
        "-smbios",
        "type=1,serial=7",
        "-fw_cfg",
        "name=opt/a,string=b,,c",
        "-device",
        "isa-debugcon,iobase=0x402",
    )
    assert with_inputs(words) == (words, {})
