"""Archives and packed files that are damaged: what is sound in them is read, and what is missing is told."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import firstlight
from answers import data_of_answer
from firstlight import zstd
from firstlight.bundle.manifest import Completeness
from firstlight.cli.main import run
from firstlight.ingest.collect import Gatherer
from firstlight.ingest.files.limits import IngestError, InputLimits
from invented_records import InventedBoot

BOOT = InventedBoot()
DMESG = BOOT.dmesg().encode()
PLOT = BOOT.plot().encode()
LONG = DMESG + b"".join(b"[%12.6f] filler number %d\n" % (50 + n / 1000, n * 7919 % 10007) for n in range(12000))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tar_of(*members: tuple[str, bytes], format: int = tarfile.PAX_FORMAT) -> bytearray:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=format) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return bytearray(packed.getvalue())


def zip_of(*members: tuple[str, bytes], packing: int = zipfile.ZIP_DEFLATED, piped: bool = False) -> bytearray:
    packed = io.BytesIO()
    if piped:
        # A zip that cannot go back has the lengths of its members behind them.
        packed.seekable = lambda: False  # type: ignore[method-assign]
    with zipfile.ZipFile(packed, "w", packing) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return bytearray(packed.getvalue())


def imported(name: str, content: bytes | bytearray) -> tuple[dict[str, str | None], Completeness]:
    """The formats of the records in an archive, by their names in it, and what is missing."""
    Path(name).write_bytes(content)
    assert run(["import", name, "-o", "a.boot"]) == 0
    manifest = firstlight.open("a.boot").manifest
    return {source.file.removeprefix(f"{name}/"): source.format for source in manifest.sources}, manifest.completeness


@pytest.mark.parametrize("number", [0, 1, 2], ids=["first", "middle", "last"])
@pytest.mark.parametrize("spoilt", [148, 126, 3], ids=["its sum", "its size", "its name"])
def test_members_before_and_behind_a_damaged_header_of_a_tar_are_read(here: Path, number: int, spoilt: int) -> None:
    members = [("a.log", DMESG), ("plot.json", PLOT), ("c.log", DMESG)]
    packed = tar_of(*members)
    begin = [place for place in range(0, len(packed), 512) if packed[place + 257 : place + 262] == b"ustar"][number]
    packed[begin + spoilt] ^= 3
    found, told = imported("boot.tar", packed)
    assert set(found) == {name for name, _ in members} - {members[number][0]}
    assert not told.complete
    assert any("boot.tar" in reason and "a header in it is damaged" in reason for reason in told.missing)


def test_a_header_of_a_tar_that_was_lost_as_a_block_of_zeros_is_damage(here: Path) -> None:
    packed = tar_of(("a.log", DMESG), ("b.log", PLOT), ("plot.json", PLOT))
    begin = packed.find(b"b.log")
    packed[begin : begin + 512] = bytes(512)
    found, told = imported("boot.tar", packed)
    assert set(found) == {"a.log", "plot.json"}
    assert not told.complete


def test_a_damaged_long_name_loses_the_name_and_not_what_follows(here: Path) -> None:
    packed = tar_of(("a.log", DMESG), ("x" * 300, PLOT), ("plot.json", PLOT), format=tarfile.GNU_FORMAT)
    packed[packed.find(b"././@LongLink") + 150] ^= 1
    found, told = imported("boot.tar", packed)
    assert {"a.log", "plot.json"} < set(found)
    assert not told.complete


def test_a_tar_that_one_program_ends_with_a_single_empty_block_and_junk_is_whole(here: Path) -> None:
    packed = bytes(tar_of(("a.log", DMESG))).rstrip(b"\0")
    packed += bytes(-len(packed) % 512 + 512) + b"junk" * 128
    assert imported("boot.tar", packed)[1].complete


def test_a_tar_of_nothing_but_marks_of_headers_ends_early(here: Path) -> None:
    false = (bytes(257) + b"ustar").ljust(512, b"\1")
    (here / "marks.tar").write_bytes(
        tar_of(("a.log", DMESG))[:-1024].rstrip(b"\0").ljust(32768, b"\1") + false * 30_000
    )
    with pytest.raises(IngestError, match="more than 20,000 files"):
        Gatherer(here / "raw", here / "scratch").gather(["marks.tar"])


def test_of_many_damaged_places_in_a_tar_the_first_hundred_are_got_over(here: Path) -> None:
    packed = tar_of(*((f"{number}.log", b"x") for number in range(600)))
    for begin in range(1024, len(packed) - 10240, 2048):
        packed[begin + 150] ^= 1
    (here / "sick.tar").write_bytes(packed)
    found = Gatherer(here / "raw", here / "scratch").gather(["sick.tar"])
    assert len(found.items) == 100
    assert "100 places: nothing after them is read" in found.damaged["sick.tar"]


def test_a_zip_without_its_directory_is_read_on_behind_what_is_left_out(here: Path) -> None:
    packed = zip_of(("a.log", DMESG), ("../up.log", DMESG), ("/abs.log", DMESG), ("plot.json", PLOT))
    found, told = imported("boot.zip", packed[: packed.find(b"PK\x01\x02") + 9])
    assert set(found) == {"a.log", "plot.json"}
    for name in ("../up.log", "/abs.log"):
        assert f"boot.zip: `{name}` was left out: it points outside of the archive" in told.missing
    assert any("directory at its end cannot be read" in reason for reason in told.missing)


@pytest.mark.parametrize("piped", [False, True])
def test_a_zip_without_its_directory_is_read_on_behind_damaged_members(here: Path, piped: bool) -> None:
    packed = zip_of(("a.log", LONG), ("b/plot.json", PLOT), ("../c.log", DMESG), ("d.log", DMESG), piped=piped)
    packed[20_000:20_016] = b"\xff" * 16
    found, told = imported("boot.zip", packed[: packed.find(b"PK\x01\x02")])
    assert set(found) == {"a.log", "b/plot.json", "d.log"}
    assert any(reason.startswith("boot.zip/a.log: only part") for reason in told.missing)


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda content: zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1}),
}


@pytest.mark.parametrize("content", [DMESG, LONG], ids=["short", "long"])
@pytest.mark.parametrize("suffix", PACK)
def test_a_wrong_sum_costs_no_line(here: Path, suffix: str, content: bytes) -> None:
    packed = bytearray(PACK[suffix](content))
    # The sum: before the length, before index and footer, in the block's head, or last.
    place = {"gz": -5, "bz2": 10, "zst": -1, "xz": -12 - 4 * (packed[-8] + 1) - 1}[suffix]
    packed[place] ^= 0xFF
    name = f"dmesg.log.{suffix}"
    _, told = imported(name, packed)
    lines = firstlight.open("a.boot").log().height
    assert lines == content.count(b"\n")
    assert not told.complete
    assert told.share is None
    assert told.missing[-1].startswith(f"{name}: only part of the content could be unpacked: ")


def test_a_tar_in_a_gz_with_a_wrong_sum_gives_every_member(here: Path) -> None:
    packed = bytearray(gzip.compress(tar_of(("a.log", LONG), ("plot.json", PLOT))))
    packed[-5] ^= 1
    found, told = imported("boot.tgz", packed)
    assert found == {"a.log": "printk", "plot.json": "systemd-plot-json"}
    assert not told.complete


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_of_a_zip_with_a_wrong_sum_is_read_and_those_behind_it_too(here: Path, packing: int) -> None:
    packed = zip_of(("dmesg", DMESG), ("plot.json", PLOT), packing=packing)
    packed[packed.find(b"PK\x01\x02") + 16] ^= 1
    found, told = imported("two.zip", packed)
    assert found == {"dmesg": "printk", "plot.json": "systemd-plot-json"}
    assert firstlight.open("a.boot").log().height == len(BOOT.lines)
    assert told.missing == ["two.zip/dmesg: only part of the content could be unpacked: its check sum is wrong"]


def test_of_a_damaged_member_of_a_zip_all_up_to_the_damage_is_read(here: Path) -> None:
    packed = zip_of(("dmesg", LONG), ("none", DMESG), ("plot.json", PLOT))
    struct.pack_into("<I", packed, packed.find(b"PK\x01\x02") + 20, 20_000)
    packed[packed.find(b"PK\x03\x04", 1)] = 0
    found, told = imported("three.zip", packed)
    assert found == {"dmesg": "printk", "plot.json": "systemd-plot-json"}
    assert len(BOOT.lines) < firstlight.open("a.boot").log().height < LONG.count(b"\n")
    assert {reason.split(": ")[0] for reason in told.missing} == {"three.zip", "three.zip/dmesg"}
    assert any("`none` was left out: it is damaged" in reason for reason in told.missing)


def test_members_that_are_left_out_and_may_hold_evidence_are_missing(here: Path) -> None:
    _, told = imported("up.tar", tar_of(("ok/dmesg", DMESG), ("../up.log", DMESG), ("/abs.log", DMESG)))
    assert not told.complete
    assert told.share is None
    assert told.missing == [
        f"up.tar: `{name}` was left out: it points outside of the archive" for name in ("../up.log", "/abs.log")
    ]


def test_an_encrypted_member_is_missing_and_one_that_holds_nothing_is_not(here: Path) -> None:
    packed = io.BytesIO(zip_of(("d", DMESG), ("plot.json", PLOT)))
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("folder/", b"")
        archive.writestr(link, "d")
    found, told = imported("plain.zip", packed.getvalue())
    assert told.complete
    assert found == {"d": "printk", "plot.json": "systemd-plot-json"}
    locked = bytearray(packed.getvalue())
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    (here / "locked.zip").write_bytes(locked)
    assert run(["import", "locked.zip", "-o", "b.boot"]) == 0
    assert firstlight.open("b.boot").manifest.completeness.missing == ["locked.zip: `d` was left out: it is encrypted"]


def test_a_member_of_a_zip_without_a_name_is_left_out(here: Path) -> None:
    # A name ends with its first zero.
    packed = zip_of(("dmesg", DMESG), ("none", DMESG)).replace(b"none", b"\0one")
    found, told = imported("boot.zip", packed)
    assert found == {"dmesg": "printk"}
    assert not told.complete


def test_an_archive_of_which_nothing_can_be_read_is_refused_alone_and_missing_beside_others(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = zip_of(("d", DMESG))
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    (here / "locked.zip").write_bytes(locked)
    assert run(["import", "locked.zip"]) == 1
    assert "`d` was left out: it is encrypted" in capsys.readouterr().err
    (here / "dmesg.log").write_bytes(DMESG)
    assert run(["import", "dmesg.log", "locked.zip", "-o", "b.boot", "--json"]) == 0
    (told,) = data_of_answer(capsys.readouterr().out)
    assert told["completeness"]["missing"] == ["locked.zip: `d` was left out: it is encrypted"]


def test_too_many_members_are_reported_of_the_file_that_was_given(here: Path) -> None:
    for name, content in (
        ("e.tar", bytes(tar_of(*((f"{number}", b"") for number in range(6))))),
        ("e.zip", bytes(zip_of(*((f"{number}", b"") for number in range(6))))),
        ("e.tgz", gzip.compress(tar_of(*((f"{number}", b"") for number in range(6))))),
    ):
        (here / name).write_bytes(content)
        gatherer = Gatherer(here / f"raw {name}", here / f"scratch {name}", InputLimits(files=5))
        with pytest.raises(IngestError, match=f"^{name}: there are more than 5 files"):
            gatherer.gather([name])
