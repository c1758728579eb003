"""Archives of a root file system: checked, then unpacked inside one directory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from firstlight.errors import LabError
from firstlight.lab.host.package_manager import install_hint
from firstlight.zstd import ZstdError, ZstdFile

#: How a compressed archive begins, and what opens it.
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
    b"\x28\xb5\x2f\xfd": ZstdFile,
}
_DAMAGED = (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error, ZstdError, OSError)


def is_archive(path: Path) -> bool:
    """Whether a file looks like a tar, plain or compressed by gzip, xz, bzip2 or zstd."""
    with path.open("rb") as file:
        head = file.read(512)
    return head[257:262] == b"ustar" or any(head.startswith(magic) for magic in _OPENERS)


def check_archive(path: Path) -> int:
    """Read an archive through and refuse a member that points outside.

    :returns: the bytes of content that it unpacks to.
    :raises LabError: when it is damaged, truncated, empty or hostile.
    """
    where, size, members = str(path), 0, 0
    try:
        with _tar(path) as archive:
            for member in archive:
                members += 1
                size += member.size
                for name in (member.name, member.linkname if member.islnk() else ""):
                    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                        what = ascii(name)[1:-1]
                        raise LabError(f"the archive's member `{what}` points outside of it", where=where)
    except _DAMAGED as error:
        raise LabError(f"the archive is damaged: {error}", where=where, hint="copy or make it again") from error
    if members == 0:
        raise LabError("the archive is empty", where=where)
    return size


def copy_members(path: Path, below: Sequence[str], to: Path) -> None:
    """Copy the regular files below some folders out of an archive, and nothing else.

    :param below: folders of the archive, without the first slash.
    :param to: a directory; what is copied has the same paths below it.
    :raises LabError: when the archive is damaged.
    """
    folders = tuple(PurePosixPath(folder) for folder in below)
    try:
        with _tar(path) as archive:
            for member in archive:
                name = PurePosixPath(os.path.normpath(member.name))
                inside = ".." not in name.parts and any(folder in name.parents for folder in folders)
                if member.isreg() and inside and (content := archive.extractfile(member)) is not None:
                    target = to / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as file:
                        shutil.copyfileobj(content, file)
    except _DAMAGED as error:
        raise LabError(f"the archive is damaged: {error}", where=str(path), hint="copy or make it again") from error


def unpack(path: Path, folder: Path, prefix: Sequence[str] = ()) -> None:
    """Unpack a checked archive with its owners, rights, times and attributes.

    GNU tar does it: it sets the times of links, and lets no link of the archive lead a later member outside.

    :param prefix: what stands before the command, such as ``fakeroot`` with its state.
    :raises LabError: when it cannot be unpacked.
    """
    if (tar := shutil.which("tar")) is None:
        raise LabError("`tar` is missing", hint=install_hint("tar"))
    options = ["--numeric-owner", "--same-owner", "--same-permissions", "--delay-directory-restore", "--xattrs"]
    # Without the pattern only user.* is set; file capabilities live in security.*.
    options += ["--xattrs-include=*"] if os.geteuid() == 0 else []
    command = [*prefix, tar, "-x", "-f", "-", "-C", str(folder), *options]
    with (
        _plain(path) as stream,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=_environment()
        ) as process,
    ):
        pipe, errors = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stderr)
        try:
            shutil.copyfileobj(stream, pipe, 1 << 20)
            pipe.close()
        except BrokenPipeError:
            pass
        except _DAMAGED as error:
            process.kill()
            raise LabError(f"the archive is damaged: {error}", where=str(path)) from error
        lines = errors.read().decode(errors="replace").strip().splitlines()
    if process.returncode != 0:
        last = lines[-2] if len(lines) > 1 else "".join(lines)
        raise LabError(f"the archive cannot be unpacked: {last}", where=str(path))


@contextmanager
def _tar(path: Path) -> Iterator[tarfile.TarFile]:
    with _plain(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        yield archive


@contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    """The archive as a stream of what it holds, decompressed."""
    with path.open("rb") as file:
        head = file.read(8)
    opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), open)
    with opener(path, "rb") as stream:
        yield stream


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "TAR_OPTIONS": ""}
