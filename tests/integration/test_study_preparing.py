"""Disks that are written by a preparing boot: how they reach a machine, and what becomes of their tables."""

import itertools
import struct
import zlib
from pathlib import Path

import pytest

from firstlight.errors import UsageError
from firstlight.lab.qemu.command_line import further_memory
from firstlight.lab.qemu.validation import validate_options
from firstlight.study.disks import attach
from firstlight_studies.lvm_activation.gpt import disk_size, write_table

MIB = 1 << 20


def blank(path: Path, size: int) -> Path:
    with path.open("xb") as file:
        file.truncate(size)
    return path


def test_disks_are_attached_in_their_order_and_never_written_to(tmp_path: Path) -> None:
    disks = [blank(tmp_path / name, 2 * MIB) for name in ("a,b", "c")]
    words = attach(disks)
    assert further_memory(words) == [2 * MIB, 2 * MIB]
    assert f"mem-path={tmp_path}/a,,b" in words[1]
    assert words[3] == "nvdimm,id=nvdimm1,memdev=disk1"
    assert "share=off" in words[1]
    validate_options(words, live=False)


def test_only_the_preparing_boot_writes_and_no_recording_may(tmp_path: Path) -> None:
    words = attach([blank(tmp_path / "a", 2 * MIB)], keep=True)
    with pytest.raises(UsageError, match="breaks exactness"):
        validate_options(words, live=False)


def test_both_copies_of_a_partition_table_say_the_same_and_have_right_checksums(tmp_path: Path) -> None:
    disk = blank(tmp_path / "disk", disk_size(250, 3))
    write_table(disk, 250, 3, disk=2)
    content = disk.read_bytes()
    first, last = content[512:1024], content[-512:]
    tables = []
    for header in (first, last):
        assert header[:8] == b"EFI PART"
        size, checksum = struct.unpack_from("<II", header, 12)
        assert zlib.crc32(header[:16] + b"\0" * 4 + header[20:size]) == checksum
        at, count, each, of_entries = struct.unpack_from("<QIII", header, 72)
        table = content[at * 512 : at * 512 + count * each]
        assert zlib.crc32(table) == of_entries
        tables.append(table)
    assert tables[0] == tables[1]
    places = [struct.unpack_from("<QQ", tables[0], number * 128 + 32) for number in range(250)]
    assert places[0][0] * 512 == MIB
    assert all((end + 1 - start) * 512 == 3 * MIB for start, end in places)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(places))
    assert (places[-1][1] + 1) * 512 + MIB <= len(content)


@pytest.mark.parametrize("partitions", [0, 256])
def test_a_disk_has_no_more_partitions_than_the_kernel_gives_it(tmp_path: Path, partitions: int) -> None:
    with pytest.raises(ValueError, match="1 to 255"):
        write_table(blank(tmp_path / "disk", 64 * MIB), partitions, 1)


def test_a_table_does_not_leave_its_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hold no 40 partitions"):
        write_table(blank(tmp_path / "disk", 64 * MIB), 40, 3)
