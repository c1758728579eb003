"""Single programs of a user land, with the libraries that they need: for a small guest that shall run them."""

from __future__ import annotations

import posixpath
import re
import struct
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from firstlight.errors import LabError

_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin")
_LIBRARY_FOLDERS = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib", "lib", "usr/lib64", "lib64")
_LINKS_AT_MOST = 40
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS = 1, 5


@dataclass
class Programs:
    """Programs out of a user land."""

    files: dict[str, bytes] = field(default_factory=dict)
    """By the name of a program, or by the path of a library without the first slash: the content."""
    missing: tuple[str, ...] = ()
    """Programs that the user land has not."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of every package of the user land, where dpkg knows it."""


def programs_of(tar: Path, names: Iterable[str], loaded: Iterable[bytes] = ()) -> Programs:
    """Take programs out of the tar of a user land, with every library that they need.

    :param names: of programs, as a shell would find them.
    :param loaded: libraries from elsewhere that the programs shall load; what these need is taken, too.
    :raises LabError: when the tar cannot be read, or a library is missing.
    """
    wanted = tuple(dict.fromkeys(names))
    try:
        with tarfile.open(tar) as archive:
            return _Taker(archive, tar).take(wanted, loaded)
    except (OSError, tarfile.TarError) as error:
        raise LabError(f"cannot read the user land: {error}", where=str(tar)) from error


def needs_of(elf: bytes) -> tuple[str | None, tuple[str, ...]]:
    """The interpreter of a 64-bit ELF file and the libraries that it names; nothing for what is no such file.

    Source: the ELF specification, program headers and dynamic section.

    >>> needs_of(b"#!/bin/sh")
    (None, ())
    """
    if elf[:6] != b"\x7fELF\x02\x01":
        return None, ()
    try:
        return _needs_of(elf)
    except (struct.error, ValueError, OverflowError, StopIteration):
        return None, ()


def _needs_of(elf: bytes) -> tuple[str | None, tuple[str, ...]]:
    (offset,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    # Of each: type, offset in the file, virtual address, size in the file.
    headers = []
    for index in range(count):
        kind, _, at, address, _, length, *_ = struct.unpack_from("<IIQQQQQQ", elf, offset + index * size)
        headers.append((kind, at, address, length))
    interpreter = next((_text(elf, at) for kind, at, _, _ in headers if kind == _INTERPRETER), None)
    entries = [
        struct.unpack_from("<QQ", elf, place)
        for kind, at, _, length in headers
        if kind == _DYNAMIC
        for place in range(at, at + length, 16)
    ]
    strings = next((value for tag, value in entries if tag == _STRINGS), None)
    if strings is None:
        return interpreter, ()
    base = next(
        at + strings - address
        for kind, at, address, length in headers
        if kind == _LOAD and address <= strings < address + length
    )
    return interpreter, tuple(_text(elf, base + value) for tag, value in entries if tag == _NEEDED)


def _text(elf: bytes, at: int) -> str:
    return elf[at : elf.index(b"\0", at)].decode()


class _Taker:
    def __init__(self, archive: tarfile.TarFile, where: Path) -> None:
        self._archive = archive
        self._where = where
        self._members = {posixpath.normpath(member.name): member for member in archive.getmembers()}

    def take(self, names: tuple[str, ...], loaded: Iterable[bytes]) -> Programs:
        taken: dict[str, bytes] = {}
        missing = []
        to_see = list(loaded)
        for name in names:
            content = self._first(f"{folder}/{name}" for folder in _FOLDERS)
            if content is None:
                missing.append(name)
            else:
                taken[name] = content
                to_see.append(content)
        while to_see:
            interpreter, libraries = needs_of(to_see.pop())
            for library in (*([interpreter] if interpreter else []), *libraries):
                path = library.lstrip("/") if "/" in library else f"lib/x86_64-linux-gnu/{library}"
                if path in taken:
                    continue
                content = self._first(
                    [path, *(f"{folder}/{posixpath.basename(library)}" for folder in _LIBRARY_FOLDERS)]
                )
                if content is None:
                    raise LabError(f"the user land has no `{library}`, which its programs need", where=str(self._where))
                taken[path] = content
                to_see.append(content)
        return Programs(taken, tuple(missing), self._versions())

    def _versions(self) -> dict[str, str]:
        status = (self._read("var/lib/dpkg/status") or b"").decode("utf-8", "replace")
        found = re.findall(r"^Package: (\S+)$(?:\n.+)*?\nVersion: (\S+)$", status, re.MULTILINE)
        return dict(found)

    def _first(self, paths: Iterable[str]) -> bytes | None:
        return next((content for path in paths if (content := self._read(path)) is not None), None)

    def _read(self, path: str) -> bytes | None:
        """A file's content; links are followed inside of the user land."""
        for _ in range(_LINKS_AT_MOST):
            resolved, link = self._resolve(path)
            if link is None:
                member = self._members.get(resolved)
                file = self._archive.extractfile(member) if member is not None and member.isreg() else None
                return file.read() if file is not None else None
            path = resolved
        return None

    def _resolve(self, path: str) -> tuple[str, str | None]:
        """A path with its first link replaced, and that link; without one when there is none in it."""
        done: list[str] = []
        parts = posixpath.normpath(path.lstrip("/")).split("/")
        for place, part in enumerate(parts):
            here = "/".join([*done, part])
            member = self._members.get(here)
            if member is not None and member.issym():
                base = "/".join(done)
                target = posixpath.normpath(posixpath.join("/", base, member.linkname)).lstrip("/")
                return "/".join([target, *parts[place + 1 :]]), here
            done.append(part)
        return "/".join(done), None
