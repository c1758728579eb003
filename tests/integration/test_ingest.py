"""What is given to an import: files, folders, archives; whole, damaged, hostile, or of no use."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import firstlight
from answers import data_of_answer
from firstlight import zstd
from firstlight.bundle.manifest import BootState
from firstlight.cli.main import run
from firstlight.ingest.collect import Gatherer
from firstlight.ingest.files.limits import IngestError, InputLimits
from invented_records import InventedBoot

BOOT = InventedBoot()
DMESG = BOOT.dmesg().encode()
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def tar_of(members: dict[str, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


def files(boot: Path) -> list[str | None]:
    return [source.file for source in firstlight.open(boot).manifest.sources]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_record_gives_a_bundle_of_its_name_here(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "logs").mkdir()
    (here / "logs" / "kernel.log").write_bytes(DMESG)
    assert run(["import", "logs/kernel.log"]) == 0
    said = capsys.readouterr()
    assert "60 initcall spans" in said.out
    assert "next: firstlight show kernel.boot" in said.out
    assert said.err == ""
    assert (here / "kernel.boot" / "raw" / "kernel.log").read_bytes() == DMESG
    assert run(["show", "kernel.boot"]) == 0
    assert run(["import", "logs/kernel.log"]) == 1, "it is there already"


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress), ("zst", zstd.compress)],
)
def test_what_is_compressed_is_read_and_kept_compressed(
    here: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(DMESG)
    (here / f"dmesg.txt.{suffix}").write_bytes(packed)
    assert run(["import", f"dmesg.txt.{suffix}"]) == 0
    assert (here / "dmesg.boot" / "raw" / f"dmesg.txt.{suffix}").read_bytes() == packed
    assert firstlight.open("dmesg.boot").log().height == len(BOOT.lines)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_every_file_of_a_tar_is_a_record(here: Path, mode: str) -> None:
    content = {"boot/dmesg.txt": DMESG, "boot/plot.json": BOOT.plot().encode(), "boot/notes.png": PNG}
    (here / "all.tar").write_bytes(tar_of(content, mode))
    assert run(["import", "all.tar"]) == 0
    boot = firstlight.open("all.boot")
    formats = {source.file: source.format for source in boot.manifest.sources}
    assert formats == {
        "all.tar/boot/dmesg.txt": "printk",
        "all.tar/boot/plot.json": "systemd-plot-json",
        "all.tar/boot/notes.png": None,
    }
    assert [path.name for path in (here / "all.boot" / "raw").iterdir()] == ["all.tar"]


def test_a_zip_and_an_archive_in_an_archive(here: Path) -> None:
    inner = tar_of({"dmesg.txt": DMESG, "deeper.tar": tar_of({"never.txt": DMESG})}, "w:gz")
    with zipfile.ZipFile(here / "outer.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.tgz", inner)
        archive.writestr("plot.json", BOOT.plot())
    assert run(["import", "outer.zip"]) == 0
    manifest = firstlight.open("outer.boot").manifest
    found = {source.file: source.format for source in manifest.sources}
    assert found["outer.zip/inner.tgz/dmesg.txt"] == "printk"
    assert found["outer.zip/inner.tgz/deeper.tar"] is None
    # What nothing opened may hold anything.
    assert not manifest.completeness.complete
    assert any("deeper.tar" in reason for reason in manifest.completeness.missing)


def test_a_hostile_tar_writes_nothing_outside_and_its_good_member_is_read(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = here / "outside"
    outside.mkdir()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("../escaped.log", str(outside / "absolute.log"), "a/../../up.log"):
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"bad"))
        archive.addfile(special("link", tarfile.SYMTYPE, str(outside)))
        archive.addfile(special("hard", tarfile.LNKTYPE, "/etc/passwd"))
        archive.addfile(special("pipe", tarfile.FIFOTYPE))
        archive.addfile(special("disk", tarfile.BLKTYPE))
        member = tarfile.TarInfo("link/through.log")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"bad"))
        member = tarfile.TarInfo("good/dmesg.txt")
        member.size = len(DMESG)
        archive.addfile(member, io.BytesIO(DMESG))
    (here / "evil.tar").write_bytes(packed.getvalue())
    before = set(here.rglob("*")) | set(here.parent.iterdir())
    assert run(["import", "evil.tar"]) == 0
    assert "left out" in capsys.readouterr().err
    made = (set(here.rglob("*")) | set(here.parent.iterdir())) - before
    assert {path.relative_to(here).parts[0] for path in made} == {"evil.boot"}
    assert list(outside.iterdir()) == []
    assert "evil.tar/good/dmesg.txt" in files(here / "evil.boot")


def test_a_bomb_is_refused_and_leaves_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with gzip.open(here / "bomb.gz", "wb", compresslevel=9) as packed:
        for _ in range(96):
            packed.write(bytes(1 << 20))
    assert run(["import", "bomb.gz"]) == 1
    assert "times its size" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["bomb.gz"]


def test_limits_hold_for_files_and_bytes(here: Path) -> None:
    (here / "many.tar").write_bytes(tar_of({f"{number}.log": b"x" for number in range(20)}))
    for limits, words in (
        (InputLimits(files=10), "more than 10 files"),
        (InputLimits(bytes=5), "unpacks to more than"),
    ):
        (here / words[:4]).mkdir()
        gatherer = Gatherer(here / words[:4], here / f"{words[:4]} scratch", limits)
        with pytest.raises(IngestError, match=words):
            gatherer.gather(["many.tar"])


def test_a_folder_is_walked_without_following_links(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "secret.txt").write_bytes(DMESG)
    folder = here / "boot"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "dmesg.txt").write_bytes(DMESG)
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "loop").symlink_to(".")
    os.mkfifo(folder / "pipe")
    (folder / "thing.bin").write_bytes(bytes(range(256)))
    assert run(["import", "boot"]) == 0
    assert files(here / "boot.boot") == ["boot/deep/dmesg.txt", "boot/thing.bin"]
    said = capsys.readouterr().err
    assert "link.txt` was left out" in said
    assert "boot/thing.bin: kept, but not read" in said
    assert (here / "boot.boot" / "raw" / "boot" / "thing.bin").is_file()


TWO = DMESG + BOOT.dmesg().replace("6.1.0-test", "6.2.0-test").encode()


def test_two_boots_in_a_record_are_refused_with_a_list(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "two.log").write_bytes(TWO)
    assert run(["import", "two.log"]) == 1
    said = capsys.readouterr().err
    assert "it holds 2 boots" in said
    assert "1: from line 1, Linux 6.1.0-test" in said
    assert f"2: from line {len(BOOT.lines) + 1}, Linux 6.2.0-test" in said
    assert "--split" in said
    assert [path.name for path in here.iterdir()] == ["two.log"]


@pytest.mark.parametrize(("boot", "release"), [("1", "6.1.0-test"), ("-1", "6.2.0-test"), ("2", "6.2.0-test")])
def test_one_of_two_boots_is_taken(here: Path, boot: str, release: str) -> None:
    (here / "two.log").write_bytes(TWO)
    assert run(["import", "two.log", "--boot", boot]) == 0
    facts = dict(firstlight.open("two.boot").facts().iter_rows())
    assert facts["kernel.release"] == release


def test_two_boots_are_split(here: Path) -> None:
    (here / "two.log").write_bytes(TWO)
    assert run(["import", "two.log", "--split", "-o", "x.boot"]) == 0
    for name, release in (("x-1.boot", "6.1.0-test"), ("x-2.boot", "6.2.0-test")):
        assert dict(firstlight.open(name).facts().iter_rows())["kernel.release"] == release
        assert (here / name / "raw" / "two.log").read_bytes() == TWO
    assert run(["import", "two.log", "--boot", "3"]) == 2
    assert run(["import", "two.log", "--boot", "1", "--split"]) == 2


REFUSED = {
    "empty.log": (b"", "it is empty"),
    "photo.png": (PNG, "it is a PNG picture"),
    "noise.bin": (bytes(range(256)) * 20, "binary data"),
    "poem.txt": (b"roses are red\nviolets are blue\n" * 9, "none of its lines"),
    "cut.gz": (gzip.compress(DMESG, mtime=0)[:10], "damaged"),
    "cut.tar.xz": (lzma.compress(tar_of({"a": DMESG}))[:30], "damaged"),
    "void.tar": (tar_of({"../up": b""}), "holds no file"),
    "odd.zip": (b"PK\x03\x04nonsense", "damaged"),
}


@pytest.mark.parametrize(("name", "content", "words"), [(name, *rest) for name, rest in REFUSED.items()], ids=REFUSED)
def test_what_is_no_record_is_refused_and_no_bundle_is_left(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, words: str
) -> None:
    (here / name).write_bytes(content)
    assert run(["import", name]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {name}: ")
    assert words in said
    assert "hint: " in said
    assert [path.name for path in here.iterdir()] == [name]


LONG = DMESG + b"".join(b"[%12.6f] filler number %d\n" % (50 + n / 1000, n * 7919 % 10007) for n in range(12000))
CUT = [
    ("dmesg.txt.gz", gzip.compress(LONG)),
    ("dmesg.txt.xz", lzma.compress(LONG)),
    ("dmesg.txt.bz2", bz2.compress(LONG, 1)),
    ("dmesg.txt.zst", zstd.compress(LONG)),
    ("boot.tar", tar_of({"a/dmesg.txt": LONG})),
    ("boot.tgz", gzip.compress(tar_of({"a/dmesg.txt": LONG}))),
    ("boot.zip", zip_of({"a/dmesg.txt": LONG})),
]


@pytest.mark.parametrize(("name", "packed"), CUT, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_cut_gives_what_could_be_unpacked_and_says_so(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, packed: bytes
) -> None:
    torn = packed[: len(packed) * 2 // 3]
    (here / name).write_bytes(torn)
    assert run(["import", name, "-o", "cut.boot"]) == 0
    boot = firstlight.open("cut.boot")
    assert len(BOOT.lines) // 3 < boot.log().height < LONG.count(b"\n")
    assert (here / "cut.boot" / "raw" / name).read_bytes() == torn
    told = boot.manifest.completeness
    assert not told.complete
    assert told.share is None
    assert any("could be unpacked: " in reason and "cut" in reason for reason in told.missing)
    assert f"{name}: only part" in capsys.readouterr().err


def test_a_damaged_archive_beside_a_good_record_is_kept(here: Path) -> None:
    (here / "dmesg.txt").write_bytes(DMESG)
    (here / "more.tar.xz").write_bytes(lzma.compress(tar_of({"a": DMESG}))[:30])
    assert run(["import", "dmesg.txt", "more.tar.xz", "-o", "a.boot"]) == 0
    assert (here / "a.boot" / "raw" / "more.tar.xz").is_file()
    assert [source.format for source in firstlight.open("a.boot").manifest.sources] == ["printk", None]


def test_a_folder_is_imported_without_the_bundles_in_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dmesg.txt").write_bytes(DMESG)
    for _ in range(2):
        assert run(["import", ".", "-o", "a.boot", "--force"]) == 0
        assert [file.split("/", 1)[1] for file in files(Path("a.boot")) if file] == ["dmesg.txt"]
    assert "`a.boot` was left out: it is already a boot bundle" in capsys.readouterr().err


def test_a_directory_of_nothing_a_missing_file_and_a_bundle(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "nothing").mkdir()
    (here / "pictures").mkdir()
    for number in range(3):
        (here / "pictures" / f"{number}.png").write_bytes(PNG)
    (here / "dmesg.txt").write_bytes(DMESG)
    assert run(["import", "dmesg.txt"]) == 0
    for given, words in (
        ("nothing", "the folder holds no file"),
        ("missing.log", "No such file"),
        ("dmesg.boot", "a boot bundle already"),
        ("pictures", "none of 3 files is a boot record"),
    ):
        capsys.readouterr()
        assert run(["import", given, "-o", "x.boot"]) == (2 if given == "missing.log" else 1)
        assert words in capsys.readouterr().err
        assert not (here / "x.boot").exists()


def test_as_forces_a_reader_and_an_unknown_format_is_a_usage_error(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "dmesg.txt").write_bytes(DMESG)
    assert run(["import", "dmesg.txt", "--as", "serial"]) == 0
    assert firstlight.open("dmesg.boot").manifest.sources[0].format == "serial"
    assert run(["import", "dmesg.txt", "--as", "fortran", "--force"]) == 2
    assert "no format is called `fortran`" in capsys.readouterr().err
    assert run(["import"]) == 2


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "--formats", "--json"]) == 0
    known = {entry["format"]: entry["title"] for entry in data_of_answer(capsys.readouterr().out)}
    assert known["printk"] == "a kernel log (dmesg)"


def test_json_tells_sources_fits_and_what_is_missing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "dmesg.txt").write_bytes(BOOT.dmesg(lost_head=30).encode())
    assert run(["import", "dmesg.txt", "--json"]) == 0
    (told,) = data_of_answer(capsys.readouterr().out)
    assert told["boot"] == "dmesg.boot"
    assert told["completeness"]["complete"] is False
    assert told["sources"][0]["fit"]["rate"] == 1.0
    assert told["log"]["lines"] == len(BOOT.lines) - 30
    assert sum(told["spans"]["initcall"].values()) >= 50


def test_standard_input_is_a_record(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(DMESG)

    monkeypatch.setattr("sys.stdin", Input())
    assert run(["import", "-", "-o", "a.boot"]) == 0
    assert (here / "a.boot" / "raw" / "stdin").read_bytes() == DMESG


def test_a_panic_makes_a_failed_boot(here: Path) -> None:
    panic = "[    9.000000] Kernel panic - not syncing: VFS: Unable to mount root fs\n"
    (here / "dmesg.txt").write_bytes(DMESG + panic.encode())
    assert run(["import", "dmesg.txt"]) == 0
    manifest = firstlight.open("dmesg.boot").manifest
    assert manifest.status == BootState.FAILED
    assert manifest.failure is not None
    assert manifest.failure.reason == "panic"
    assert "VFS" in manifest.failure.detail


def test_copies_are_private(here: Path) -> None:
    given = here / "dmesg.txt"
    given.write_bytes(DMESG)
    assert run(["import", "dmesg.txt"]) == 0
    with given.open("ab") as file:
        file.write(b"more")
    assert (here / "dmesg.boot" / "raw" / "dmesg.txt").read_bytes() == DMESG
