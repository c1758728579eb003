"""ext4 images, made and read without mounting and without root, by the tools of e2fsprogs."""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from firstlight.errors import LabError
from firstlight.lab.host.package_manager import install_hint
from firstlight.lab.host.tools import failure_text, run_tool

#: Every time that the image's maker would take from the clock: 2024-01-01T00:00:00 UTC, as the guest's own clock.
EPOCH = 1_704_067_200

_UUID = "4c460000-0000-4000-8000-000000000001"
_HASH_SEED = "4c460000-0000-4000-8000-000000000002"
_MIB = 1 << 20
_BLOCK = 4096
_PAGE = 4096
_BYTES_PER_INODE = 16384
_SUPERBLOCK = 1024
_MAGIC = 0xEF53
_INCOMPAT_64BIT = 0x80
_ROOT_INODE = 2
_FIRST_INODE = 11
_LINKS_AT_MOST = 16
_PLAIN_PATH = re.compile(r"[\w@%+:,./-]+")
_PLAIN_NAME = re.compile(r"[\w+:-][\w@%+:,.~-]*", re.ASCII)


@dataclass(frozen=True)
class Content:
    """How much a tree holds: ``blocks`` of 4 KiB in ``entries`` files and directories."""

    blocks: int
    entries: int

    @property
    def image_size(self) -> int:
        """Bytes of an image that holds it and leaves the guest room to write, in whole steps of 2 MiB."""
        size = int(self.blocks * _BLOCK * 1.3) + self.entries * 320 + 64 * _MIB
        return -(-size // (2 * _MIB)) * (2 * _MIB)


def measure(tree: Path) -> Content:
    """Measure a tree; a sparse file counts with what it holds, generously."""
    blocks = entries = 0
    for info in _walk(tree):
        entries += 1
        held = min(info.st_size, max(info.st_blocks * 512 * 4, _BLOCK)) if stat.S_ISREG(info.st_mode) else _BLOCK
        blocks += -(-held // _BLOCK)
    return Content(blocks, entries)


def make_image(
    tree: Path,
    image: Path,
    prefix: Sequence[str] = (),
    kind: str = "ext4",
    size: int | None = None,
    more: Sequence[str] = (),
) -> None:
    """Make an image of a tree: the same tree gives the same bytes.

    :param tree: what becomes the root directory, with its owners, rights and times of change.
    :param image: the file to write.
    :param prefix: what stands before the command, such as ``fakeroot`` with its state.
    :param kind: ``ext2``, ``ext3`` or ``ext4``.
    :param size: bytes of the image; else as :attr:`Content.image_size` has it.
    :param more: further options of ``mke2fs``, which knows no defaults of the host's here.
    :raises LabError: when e2fsprogs is missing or fails.
    """
    content = measure(tree)
    size = size or content.image_size
    with image.open("xb") as file:
        file.truncate(size)
    inodes = max(size // _BYTES_PER_INODE, content.entries * 5 // 4 + 1024)
    extended = f"hash_seed={_HASH_SEED},lazy_itable_init=0,root_owner=0:0"
    extended += ",lazy_journal_init=0" if kind != "ext2" else ""
    options = ["-q", "-F", "-t", kind, "-b", str(_BLOCK), "-N", str(inodes), "-U", _UUID, "-E", extended]
    _run([*prefix, tool("mke2fs"), *options, *more, "-d", str(tree), str(image)])
    _settle_times(image)


def _settle_times(image: Path) -> None:
    """The times of access and of change of state come from the host's files, where nobody can set them."""
    # The tool gives out inodes one after another, so that those in use are the first ones.
    total, free = _superblock_inodes(image)
    inodes = [_ROOT_INODE, *range(_FIRST_INODE, total - free + 1)]
    lines = [f"sif <{inode}> {field} @{EPOCH}\n" for inode in inodes for field in ("atime", "ctime")]
    commands = image.with_name(f"{image.name}.times")
    commands.write_text("".join(lines))
    _run([tool("debugfs"), "-w", "-f", str(commands), str(image)])
    commands.unlink()


def _superblock_inodes(image: Path) -> tuple[int, int]:
    with image.open("rb") as file:
        file.seek(_SUPERBLOCK)
        superblock = file.read(1024)
    return struct.unpack_from("<I", superblock, 0)[0], struct.unpack_from("<I", superblock, 16)[0]


def check_image(image: Path) -> int:
    """Check that a file is a whole ext2, ext3 or ext4 file system that can be seen as persistent memory.

    :returns: its size in bytes.
    :raises LabError: with what it is instead.
    """
    where = str(image)
    try:
        with image.open("rb") as file:
            head = file.read(_SUPERBLOCK + 1024)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise LabError(f"cannot read the image: {error.strerror}", where=where) from error
    superblock = head[_SUPERBLOCK:]
    if len(superblock) < 1024 or struct.unpack_from("<H", superblock, 56)[0] != _MAGIC:
        raise LabError(
            f"{_what(head)}, not an ext4 image", where=where, hint="give a directory, a tar or an ext4 image"
        )
    blocks = struct.unpack_from("<I", superblock, 4)[0]
    if struct.unpack_from("<I", superblock, 96)[0] & _INCOMPAT_64BIT:
        blocks |= struct.unpack_from("<I", superblock, 0x150)[0] << 32
    expected = blocks << (10 + min(struct.unpack_from("<I", superblock, 24)[0], 6))
    if size < expected:
        raise LabError(f"a truncated image: {size} bytes of {expected}", where=where, hint="copy it again")
    if size % _PAGE:
        hint = f"round it up: `truncate -s %{_PAGE} {image}`"
        raise LabError("the image's size is not a multiple of a page, 4096 bytes", where=where, hint=hint)
    return size


def _what(head: bytes) -> str:
    known = {b"QFI\xfb": "a qcow2 image", b"hsqs": "a squashfs image", b"XFSB": "an XFS image"}
    if head[:4] in known:
        return known[head[:4]]
    if head[510:512] == b"\x55\xaa":
        return "a disk with partitions"
    return "a file of another kind"


def resolve(image: Path, path: str) -> str | None:
    """Follow a path of an image to the file that it leads to.

    :returns: the path of that file, or None when there is none.
    :raises LabError: when e2fsprogs is missing or cannot read the image.
    """
    current = PurePosixPath(path)
    for _ in range(_LINKS_AT_MOST):
        text = str(current)
        if not _PLAIN_PATH.fullmatch(text):
            return None
        answer = _run([tool("debugfs"), "-R", f'stat "{text}"', str(image)])
        if (kind := re.search(r"^Inode: \d+ +Type: (\w+)", answer, re.MULTILINE)) is None:
            return None
        if kind[1] != "symlink":
            return text if kind[1] == "regular" else None
        if (link := re.search(r'^Fast link dest: "(.*)"$', answer, re.MULTILINE)) is None:
            return None
        current = PurePosixPath(os.path.normpath(current.parent / link[1]))
    return None


def copy_files(image: Path, folder: str, to: Path, depth: int = 1) -> int:
    """Copy the regular files of a folder out of an image, without mounting it.

    Only plain names are copied, so that an image of unknown origin writes nothing anywhere else, and no links.

    :param folder: a path of the image.
    :param to: a directory; what is copied has the same names below it.
    :param depth: how many levels of folders below it are read.
    :returns: how many files were copied; 0 where there is no such folder.
    :raises LabError: when e2fsprogs is missing.
    """
    copied = 0
    level = [(f'"{folder}"', to)]
    for _ in range(depth):
        commands, below = [], []
        for place, target in level:
            for inode, mode, name in _listed(image, place):
                if stat.S_ISREG(mode):
                    target.mkdir(parents=True, exist_ok=True)
                    commands.append(f'dump <{inode}> "{target / name}"\n')
                elif stat.S_ISDIR(mode):
                    below.append((f"<{inode}>", target / name))
        if commands:
            script = to / ".debugfs"
            script.write_text("".join(commands), encoding="utf-8")
            _run([tool("debugfs"), "-f", str(script), str(image)])
            script.unlink()
            copied += len(commands)
        level = below
    return copied


def _listed(image: Path, place: str) -> Iterator[tuple[int, int, str]]:
    """Inode, mode and name of what is in a folder, of plain names."""
    for line in _run([tool("debugfs"), "-R", f"ls -p {place}", str(image)]).splitlines():
        fields = line.split("/")
        if len(fields) == 8 and fields[1].isdecimal() and _PLAIN_NAME.fullmatch(fields[5]):
            yield int(fields[1]), int(fields[2], 8), fields[5]


def is_ext(image: Path) -> bool:
    """Whether a file is an ext2, ext3 or ext4 file system."""
    with image.open("rb") as file:
        head = file.read(_SUPERBLOCK + 1024)
    return len(head) == _SUPERBLOCK + 1024 and struct.unpack_from("<H", head, _SUPERBLOCK + 56)[0] == _MAGIC


def copy_out(image: Path, paths: Sequence[str], folder: Path) -> dict[str, Path]:
    """Copy files of an image into a folder.

    :param paths: absolute, as the kernel has them: through no symbolic link. Others than plain ones are left out.
    :returns: where each file is that there was.
    :raises LabError: when e2fsprogs is missing or cannot read the image.
    """
    copies = {path: folder / str(number) for number, path in enumerate(paths) if _PLAIN_PATH.fullmatch(path)}
    commands = folder / "commands"
    commands.write_text("".join(f'dump "{path}" "{copy}"\n' for path, copy in copies.items()))
    _run([tool("debugfs"), "-f", str(commands), str(image)])
    commands.unlink()
    return {path: copy for path, copy in copies.items() if copy.is_file()}


def tool(name: str) -> str:
    """Find a tool of e2fsprogs, which stands where only root looks.

    :raises LabError: when it is missing.
    """
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if path is None:
        raise LabError(f"`{name}` is missing", hint=install_hint("e2fsprogs"))
    return path


def _run(command: Sequence[str]) -> str:
    # E2FSPROGS_FAKE_TIME is what e2fsprogs reads as its clock; SOURCE_DATE_EPOCH only from 1.47.1 on.
    times = {"E2FSPROGS_FAKE_TIME": str(EPOCH), "SOURCE_DATE_EPOCH": str(EPOCH)}
    run = run_tool(command, {**times, "DEBUGFS_PAGER": "cat", "MKE2FS_CONFIG": "/dev/null"})
    if run.returncode != 0:
        raise LabError(f"`{Path(command[0]).name}` failed: {failure_text(run)}")
    return run.stdout


def _walk(tree: Path) -> Iterator[os.stat_result]:
    for folder, directories, files in os.walk(tree):
        for name in (*directories, *files):
            yield os.lstat(os.path.join(folder, name))  # noqa: PTH118  a Path per file costs more than the call
