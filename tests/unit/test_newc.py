"""The initramfs archive: deterministic, and what the kernel and `cpio` expect."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from firstlight.lab.rootfs.newc import Archive

needs_cpio = pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")


def sample() -> Archive:
    archive = Archive()
    archive.file("init", b"program", 0o755)
    archive.file("lib/modules/a.ko", b"odd")
    archive.directory("proc")
    archive.link("bin/sh", "busybox")
    archive.character_device("dev/console", 5, 1)
    return archive


def header(archive: bytes, position: int) -> list[int]:
    return [int(archive[start : start + 8], 16) for start in range(position + 6, position + 110, 8)]


def test_the_order_of_adding_does_not_matter() -> None:
    other = Archive()
    other.character_device("dev/console", 5, 1)
    other.link("bin/sh", "busybox")
    other.directory("proc")
    other.file("lib/modules/a.ko", b"odd")
    other.file("init", b"program", 0o755)
    assert other.bytes() == sample().bytes()


def test_a_directory_comes_before_what_is_in_it() -> None:
    archive = Archive()
    archive.file("a-b", b"")
    archive.file("a/c/d", b"")
    assert archive.paths() == ["a", "a/c", "a/c/d", "a-b"]


def test_another_order_has_the_same_members_and_directories_still_come_first() -> None:
    archive = Archive()
    for path in ("etc/hostname", "bin/busybox", "bin/sh", "init", "etc/deep/er"):
        archive.file(path, path.encode())
    orders = {tuple(archive.paths(order)) for order in range(20)}
    assert len(orders) > 5
    for paths in orders:
        assert sorted(paths) == sorted(archive.paths())
        assert paths.index("etc") < paths.index("etc/deep") < paths.index("etc/deep/er")
    assert archive.bytes(3) == archive.bytes(3) != archive.bytes()
    assert len(archive.bytes(3)) == len(archive.bytes())


def test_the_first_header_has_the_documented_fields() -> None:
    archive = Archive()
    archive.file("init", b"x" * 5, 0o755)
    content = archive.bytes()
    inode, mode, uid, gid, links, time, size, *devices, name_size, check = header(content, 0)
    assert (inode, mode, uid, gid, links, time, size) == (1, stat.S_IFREG | 0o755, 0, 0, 1, 0, 5)
    assert (devices, name_size, check) == ([0, 0, 0, 0], 5, 0)
    # Name and content each start at and are padded to a multiple of four.
    assert content[110:116] == b"init\0\0"
    assert content[116:124] == b"xxxxx\0\0\0"
    assert content[124:130] == b"070701"
    assert b"TRAILER!!!\0" in content
    assert len(content) % 512 == 0


@needs_cpio
def test_cpio_lists_and_unpacks_it(tmp_path: Path) -> None:
    archive = sample()
    content = archive.bytes()
    listed = subprocess.run(["cpio", "-it", "--quiet"], input=content, capture_output=True, check=True)
    assert listed.stdout.decode().split() == archive.paths()
    assert listed.stderr == b""
    unpack = ["cpio", "-id", "--quiet", "--no-absolute-filenames", "--nonmatching", "dev/*"]
    subprocess.run(unpack, input=content, cwd=tmp_path, check=True)
    assert (tmp_path / "init").read_bytes() == b"program"
    assert stat.S_IMODE((tmp_path / "init").stat().st_mode) == 0o755
    assert (tmp_path / "lib/modules/a.ko").read_bytes() == b"odd"
    assert (tmp_path / "bin/sh").readlink() == Path("busybox")
    assert (tmp_path / "proc").is_dir()


@needs_cpio
def test_cpio_shows_the_console_as_a_device_of_root() -> None:
    shown = subprocess.run(["cpio", "-itvn", "--quiet"], input=sample().bytes(), capture_output=True, check=True)
    line = next(line for line in shown.stdout.decode().splitlines() if line.endswith("dev/console"))
    assert line.split()[:3] == ["crw-------", "1", "0"]
    assert "5,   1" in line


@pytest.mark.parametrize("path", ["/init", "../init", "a/../b", ".", "a//b", "a/", "", "TRAILER!!!"])
def test_a_path_that_is_not_within_the_archive_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="not a path within an archive"):
        Archive().file(path, b"")


def test_nothing_is_overwritten() -> None:
    archive = sample()
    with pytest.raises(ValueError, match="already"):
        archive.file("init", b"other")
    with pytest.raises(ValueError, match="`init` is not a directory"):
        archive.file("init/below", b"")
