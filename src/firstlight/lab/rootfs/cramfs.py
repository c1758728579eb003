"""A writer of cramfs images whose programs are executed in place.

Debian's `mkfs.cramfs` writes the old layout only, in which every block is compressed. Here files that are executable
stand uncompressed, on whole pages, behind pointers to their blocks, which the kernel maps as they are; all else is
compressed as ever. Source of the layout: the kernel's `include/uapi/linux/cramfs_fs.h`, extended block pointers.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

_MAGIC = 0x28CD3D45
_PAGE = 4096
_VERSION_2 = 0x1
_SORTED_DIRECTORIES = 0x2
_EXTENDED_POINTERS = 0x800
_UNCOMPRESSED = 1 << 31
_DIRECT = 1 << 30
_SUPERBLOCK = 76
_LONGEST_NAME = 252
_LARGEST_FILE = (1 << 24) - 1


@dataclass
class _Node:
    name: bytes
    mode: int
    content: bytes = b""
    below: list[_Node] = field(default_factory=list)
    offset: int = 0
    """Of a directory its entries, of a file its pointers."""
    size: int = 0

    def entry(self) -> bytes:
        """Inode and name, as a directory holds it."""
        name = self.name + bytes(-len(self.name) % 4)
        return struct.pack("<III", self.mode, self.size, len(name) // 4 | self.offset // 4 << 6) + name


def write_cramfs(tree: Path, image: Path) -> None:
    """Write a tree as a cramfs image, with what is executable ready to be executed in place.

    Owners are root's; times and extended attributes have no place in the format. The same tree gives the same bytes.

    :raises ValueError: for what the format cannot hold: a file of 16 MiB or more, a long name, a device.
    """
    root = _read(os.fsencode(tree), b"")
    nodes = [root]
    at = _SUPERBLOCK
    for node in nodes:  # grows on the way: breadth first, as the kernel expects directories before their files
        if stat.S_ISDIR(node.mode):
            node.size = sum(len(each.entry()) for each in node.below)
            node.offset = at if node.below else 0
            at += node.size
            nodes += node.below
    body = bytearray(at)
    for node in nodes:
        if not stat.S_ISDIR(node.mode) and node.content:
            _place(node, body)
    for node in nodes:
        if stat.S_ISDIR(node.mode):
            entries = b"".join(each.entry() for each in node.below)
            body[node.offset : node.offset + len(entries)] = entries if node.below else b""
    body += bytes(-len(body) % _PAGE)
    flags = _VERSION_2 | _SORTED_DIRECTORIES | _EXTENDED_POINTERS
    blocks = sum(-(-len(node.content) // _PAGE) for node in nodes)
    head = struct.pack("<IIII16s", _MAGIC, len(body), flags, 0, b"Compressed ROMFS")
    rest = struct.pack("<III16s", 0, blocks, len(nodes), b"firstlight") + root.entry()[:12]
    body[: len(head) + 4 + len(rest)] = head + struct.pack("<I", 0) + rest
    body[32:36] = struct.pack("<I", zlib.crc32(body))
    image.write_bytes(body)


def _read(path: bytes, name: bytes) -> _Node:
    info = os.lstat(path)
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"a name of {len(name)} bytes is too long for cramfs")
    if stat.S_ISDIR(info.st_mode):
        names = sorted(os.listdir(path))  # noqa: PTH208  bytes
        return _Node(name, info.st_mode, below=[_read(path + b"/" + each, each) for each in names])
    if stat.S_ISLNK(info.st_mode):
        content = os.readlink(path)  # noqa: PTH115  bytes: a name need not be text
    elif stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read()
    else:
        raise ValueError(f"`{os.fsdecode(path)}` is not a file, directory or link")
    if len(content) > _LARGEST_FILE:
        raise ValueError(f"`{os.fsdecode(path)}` is too large for cramfs")
    return _Node(name, info.st_mode, content, size=len(content))


def _place(node: _Node, body: bytearray) -> None:
    """Append a file's pointers and blocks."""
    body += bytes(-len(body) % 4)
    node.offset = len(body)
    count = -(-len(node.content) // _PAGE)
    pointers = node.offset
    body += bytes(4 * count)
    in_place = stat.S_ISREG(node.mode) and node.mode & 0o111 != 0
    if in_place:
        body += bytes(-len(body) % _PAGE)
    for number in range(count):
        block = node.content[number * _PAGE : (number + 1) * _PAGE]
        body += bytes(-len(body) % 4)
        # A last block that fills its page reads as a hole to the kernel, when it is not compressed (6.1).
        filled = number == count - 1 and len(block) == _PAGE
        if in_place and not filled:
            # The last page is padded, so that it can be mapped too.
            pointer = len(body) >> 2 | _DIRECT | _UNCOMPRESSED
            body += block + bytes(-len(block) % _PAGE)
        else:
            packed = zlib.compress(block, 9)
            pointer = len(body) >> 2 | _DIRECT
            body += struct.pack("<H", len(packed)) + packed
        body[pointers + 4 * number : pointers + 4 * number + 4] = struct.pack("<I", pointer)
