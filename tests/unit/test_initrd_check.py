"""An initramfs of somebody's own is checked before it boots."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from firstlight import zstd
from firstlight.errors import LabError
from firstlight.lab.rootfs.initrd_check import check_initrd

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lambda data: lzma.compress(data, check=lzma.CHECK_CRC32),
    "bzip2": bz2.compress,
    "zstd": zstd.compress,
}


def member(name: str, content: bytes) -> bytes:
    """One member of a newc archive, written from its specification."""
    fields = [1, 0o100644, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name.encode() + b"\0"
    head += bytes(-len(head) % 4)
    return head + content + bytes(-len(content) % 4)


ARCHIVE = member("init", b"#!/bin/sh\n" * 99) + member("data", bytes(range(256)) * 64) + member("TRAILER!!!", b"")


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "initrd"
    path.write_bytes(content)
    return path


def test_a_plain_archive_is_taken(tmp_path: Path) -> None:
    check_initrd(written(tmp_path, ARCHIVE))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_compression_of_the_kernel_is_taken(tmp_path: Path, compression: str) -> None:
    check_initrd(written(tmp_path, COMPRESSIONS[compression](ARCHIVE)))


def test_microcode_before_a_compressed_archive_is_taken(tmp_path: Path) -> None:
    check_initrd(written(tmp_path, ARCHIVE + bytes(512) + gzip.compress(ARCHIVE) + bytes(100)))


@pytest.mark.parametrize("cut", [50, 1000, len(ARCHIVE) // 2, len(ARCHIVE) - 100])
def test_a_truncated_archive_is_refused(tmp_path: Path, cut: int) -> None:
    with pytest.raises(LabError, match="truncated"):
        check_initrd(written(tmp_path, ARCHIVE[:cut]))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_truncated_compressed_archive_is_refused(tmp_path: Path, compression: str) -> None:
    with pytest.raises(LabError, match="truncated"):
        check_initrd(written(tmp_path, COMPRESSIONS[compression](ARCHIVE)[:-9]))


def test_a_damaged_compressed_archive_is_refused(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(ARCHIVE))
    content[-6] ^= 0xFF
    with pytest.raises(LabError, match="damaged"):
        check_initrd(written(tmp_path, bytes(content)))


@pytest.mark.parametrize("content", [b"", bytes(4096), b"\x7fELF" + bytes(100), b"hello"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(LabError):
        check_initrd(written(tmp_path, content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError) as error:
        check_initrd(tmp_path / "none")
    assert error.value.where == str(tmp_path / "none")


def test_what_never_ends_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(LabError, match="not a regular file"):
            check_initrd(path)
