"""A writer of newc archives, the kernel's format for an initramfs: the same content gives the same bytes."""

from __future__ import annotations

import random
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath

_MAGIC = b"070701"
_TRAILER = "TRAILER!!!"
_BLOCK = 512
_LARGEST = 0xFFFF_FFFF


@dataclass(frozen=True)
class _Member:
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


class Archive:
    """Members by path; written sorted, with time 0, owner 0 and inodes in order.

    >>> archive = Archive()
    >>> archive.file("etc/hostname", b"guest\\n")
    >>> archive.paths()
    ['etc', 'etc/hostname']
    >>> archive.bytes()[:6], len(archive.bytes()) % 512
    (b'070701', 0)
    """

    def __init__(self) -> None:
        self._members: dict[str, _Member] = {}

    def file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Add a regular file.

        :param path: relative to the archive's root; its directories are added when they are missing.
        :raises ValueError: for a path that is absolute, climbs, or is there already, or a content of 4 GiB or more.
        """
        if len(content) > _LARGEST:
            raise ValueError(f"`{path}` is too large for a newc archive")
        self._add(path, _Member(stat.S_IFREG | mode, content))

    def directory(self, path: str, mode: int = 0o755) -> None:
        """Add a directory. :raises ValueError: as for :meth:`file`."""
        self._add(path, _Member(stat.S_IFDIR | mode))

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link. :raises ValueError: as for :meth:`file`."""
        self._add(path, _Member(stat.S_IFLNK | 0o777, target.encode()))

    def character_device(self, path: str, major: int, minor: int, mode: int = 0o600) -> None:
        """Add a character device; writing it into an archive needs no privilege. :raises ValueError: as for
        :meth:`file`."""
        self._add(path, _Member(stat.S_IFCHR | mode, device=(major, minor)))

    def paths(self, order: int | None = None) -> list[str]:
        """Every path, in the order of the archive: a directory comes before what is in it.

        :param order: the members of each directory in an order that is drawn with this number, instead of sorted.
        """
        if order is None:
            return sorted(self._members, key=lambda path: PurePosixPath(path).parts)
        source = random.Random(order)
        places = {path: source.random() for path in sorted(self._members)}
        return sorted(self._members, key=lambda path: [places[str(above)] for above in _chain(path)])

    def bytes(self, order: int | None = None) -> bytes:
        """The archive, padded to whole blocks of 512 bytes.

        :param order: as of :meth:`paths`.
        """
        parts = bytearray()
        for inode, path in enumerate(self.paths(order), start=1):
            _append(parts, path, inode, self._members[path])
        _append(parts, _TRAILER, 0, _Member(0))
        parts += bytes(-len(parts) % _BLOCK)
        return bytes(parts)

    def _add(self, path: str, member: _Member) -> None:
        pure = PurePosixPath(path)
        if str(pure) != path or pure.is_absolute() or ".." in pure.parts or path in (".", _TRAILER):
            raise ValueError(f"`{path}` is not a path within an archive")
        if path in self._members:
            raise ValueError(f"`{path}` is in the archive already")
        for parent in reversed(pure.parents[:-1]):
            above = self._members.setdefault(str(parent), _Member(stat.S_IFDIR | 0o755))
            if not stat.S_ISDIR(above.mode):
                raise ValueError(f"`{parent}` is not a directory")
        self._members[path] = member


def _chain(path: str) -> list[PurePosixPath]:
    """The directories that lead to a path, outermost first, and the path itself."""
    pure = PurePosixPath(path)
    return [*reversed(pure.parents[:-1]), pure]


def _append(archive: bytearray, path: str, inode: int, member: _Member) -> None:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(member.mode) else 1
    major, minor = member.device
    # inode, mode, uid, gid, links, time, size, device of the file system, device of the node, name's size, check
    fields = (inode, member.mode, 0, 0, links, 0, len(member.content), 0, 0, major, minor, len(name), 0)
    archive += _MAGIC + b"".join(b"%08X" % field for field in fields) + name
    archive += bytes(-len(archive) % 4)
    archive += member.content
    archive += bytes(-len(archive) % 4)
