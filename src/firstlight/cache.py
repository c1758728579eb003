"""What was made once is kept: directories named by the digest of what they were made from."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from firstlight.errors import LabError, is_full
from firstlight.seal import damage, write_seal

_READ_BYTES = 1 << 20
#: Whether what is not in the cache may be made.
_MAY_MAKE = ContextVar("may_make", default=True)


class NotCachedError(Exception):
    """What is wanted is not in the cache, and nothing may be made now."""


@contextmanager
def only_cached() -> Iterator[None]:
    """Make nothing in this context: an entry that is not in the cache is a :class:`NotCachedError`."""
    token = _MAY_MAKE.set(False)
    try:
        yield
    finally:
        _MAY_MAKE.reset(token)


def require_making(what: str) -> None:
    """Check that something may be made or downloaded now.

    :raises NotCachedError: within :func:`only_cached`.
    """
    if not _MAY_MAKE.get():
        raise NotCachedError(what)


def cache_dir() -> Path:
    """The user's cache of Firstlight, made when it is not there, readable by the user alone.

    ``$XDG_CACHE_HOME/firstlight``, else ``~/.cache/firstlight``.

    :raises LabError: when it cannot be made.
    """
    # By the specification of the base directories a relative path is to be ignored.
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path.home() / ".cache"
    path = base / "firstlight"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            f"cannot make the cache: {error.strerror}", where=str(path), hint="set XDG_CACHE_HOME to a writable place"
        ) from error
    return path


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's content, in hexadecimal.

    :raises LabError: when it cannot be read.
    """
    try:
        digest = hashlib.sha256()
        # `hashlib.file_digest` takes twice as long for files of a few kilobytes, which most tables are.
        # No object of a file either: a fleet looks at four small files of each boot.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while part := os.read(descriptor, _READ_BYTES):
                digest.update(part)
        finally:
            os.close(descriptor)
        return digest.hexdigest()
    except OSError as error:
        raise LabError(f"cannot read: {error.strerror}", where=str(path)) from error


def digest_of(*parts: str | bytes) -> str:
    """SHA-256 of several parts, in hexadecimal; where one part ends and the next begins counts.

    >>> digest_of("ab", "c") == digest_of("a", "bc")
    False
    """
    total = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(len(content).to_bytes(8, "little"))
        total.update(content)
    return total.hexdigest()


def place(kind: str, digest: str) -> Path:
    """Where an entry of the cache is, or would be."""
    return cache_dir() / kind / digest


def entry_damage(kind: str, digest: str) -> str | None:
    """What is wrong with an entry of the cache, in words; `None` when it is what was made. Nothing is changed."""
    path = place(kind, digest)
    return damage(path, _seal(path)) if path.is_dir() else "it is not there"


def check_cached(path: Path) -> None:
    """Make sure that a file that the user names is not a damaged part of the cache; any other is not looked at.

    :raises LabError: saying what is wrong with the entry that it belongs to.
    """
    cache = cache_dir().resolve()
    parts = path.resolve().relative_to(cache).parts if path.resolve().is_relative_to(cache) else ()
    if len(parts) < 3:
        return
    found = cache / parts[0] / parts[1]
    if _seal(found).exists() and (what := damage(found, _seal(found))) is not None:
        raise LabError(
            f"this is a damaged part of the cache: {what}",
            where=str(path),
            hint=f"remove it, and what made it makes it again: `rm -r {found}`",
        )


def entry(kind: str, digest: str, make: Callable[[Path], None], *, adopt: bool = False) -> Path:
    """Find an entry of the cache, or make it.

    An entry is whole or not there: it is made under another name and renamed. Of two that want the same entry at the
    same time one makes it while the other waits. What was made is sealed: size and digest of each of its files are
    compared at every use. An entry that is damaged is made again, and a note on standard error says so.

    :param kind: the folder of the cache, such as ``kernels``.
    :param digest: the entry's name; what decides its content decides its digest.
    :param make: fills the empty directory that it is given.
    :param adopt: an entry without a seal was put there by the user and counts as it is; else it is made again.
    :returns: the entry's directory.
    :raises LabError: when there is no space, or no right to write; and whatever *make* raises.
    :raises NotCachedError: within :func:`only_cached`, when it would have to be made.
    """
    path = place(kind, digest)
    folder = path.parent
    if entry_damage(kind, digest) is None:
        return path
    require_making(f"{kind}/{digest[:12]}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        with _locked(folder / f".{digest}.lock"):
            if adopt and path.is_dir() and not _seal(path).exists():
                write_seal(path, _seal(path))
            # Another may have made it while this one waited.
            what = entry_damage(kind, digest)
            if what is not None:
                if path.is_dir():
                    _tell(f"the entry {kind}/{digest[:12]} of the cache is made again, because {what}")
                _make(folder / f".making-{digest}", path, make)
    except OSError as error:
        if is_full(error):
            hint = f"free some space, or set XDG_CACHE_HOME; `rm -r {cache_dir()}` empties the cache"
            raise LabError("no space left for the cache", where=str(folder), hint=hint) from error
        what = f"{error.strerror}: `{error.filename}`" if error.filename else str(error.strerror or error)
        raise LabError(f"cannot fill the cache: {what}", where=str(folder)) from error
    return path


def _seal(path: Path) -> Path:
    return path.with_name(f".{path.name}.seal")


def _tell(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _make(temporary: Path, path: Path, make: Callable[[Path], None]) -> None:
    # One that was killed while making left this; the lock says that nobody is at it now.
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    damaged = temporary.with_name(f"{temporary.name}.damaged")
    try:
        make(temporary)
        write_seal(temporary, _seal(path))
        if path.is_dir():
            # A file of it that somebody has open stays readable for him.
            shutil.rmtree(damaged, ignore_errors=True)
            path.rename(damaged)
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(damaged, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # The file stays: removing it would let a third one lock a file that is no longer the lock.
        os.close(descriptor)
