"""Writing a bundle: whole, or not there."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from firstlight import _core
from firstlight.bundle.manifest import Manifest, Table
from firstlight.bundle.provenance import PROVENANCE, digest_of_files, split, text_of
from firstlight.cache import file_digest
from firstlight.errors import FirstlightError, LabError, is_full
from firstlight.quantities import size_text

MANIFEST = "manifest.json"
_LEAST_FREE = 64 << 20
"""Bytes; a small recording takes a tenth of it."""
#: As `tempfile.mkdtemp` names them for :func:`_own_directory`.
_LEFT = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.(?P<kind>partial|former)")
#: The names of what stands in a bundle that is being made.
_OWN = re.compile(r"raw|.+\.json|.+\.parquet")
_FULL = 64 << 10
"""Bytes: where less is free after a recording, something of it may be missing."""


@contextmanager
def new_bundle(output: Path, *, force: bool) -> Iterator[Path]:
    """A directory to fill, beside its destination; at the end it is renamed to it, after an error it is removed.

    :param output: the bundle's path.
    :param force: replace a bundle that is already there. Anything but a bundle is never replaced.
    :raises LabError: when the destination is taken or cannot be written, or its disk is full.
    """
    output = output.absolute()
    sweep(output)
    check_destination(output, force=force)
    try:
        partial, lock = _own_directory(output, ".partial")
    except OSError as error:
        raise LabError(
            f"a bundle cannot be written here: {error.strerror}",
            where=str(output.parent),
            hint="choose another place with `-o`",
        ) from error
    try:
        yield partial
        _publish(partial, output, force=force)
    except (OSError, FirstlightError) as error:
        if is_full(error):
            raise no_space(output) from error
        if isinstance(error, FirstlightError):
            raise
        raise LabError(f"the bundle cannot be written: {error.strerror or error}", where=str(output)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(lock)


def _own_directory(output: Path, suffix: str) -> tuple[Path, int]:
    """Make a directory beside the destination that is ours while the descriptor is open: the kernel gives up the lock
    when we end, however that happens.
    """
    while True:
        directory = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=suffix, dir=output.parent))
        try:
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            # Another recording beside it has swept it before it was locked.
            if output.parent.is_dir():
                continue
            raise
        # A file system without locks has no sweeping either.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Between making and locking somebody may have swept it.
        if directory.is_dir():
            return directory, lock
        os.close(lock)


def sweep(output: Path) -> None:
    """Remove what recordings into the same directory left that were killed, whatever their names: directories that
    nobody owns any more.

    A recording that lives holds a lock on its own; the kernel gives it up when the recording ends. What only looks
    like such a directory, but holds other things than a recording makes, stays.

    :param output: a bundle that is about to be written.
    """
    with suppress(OSError):
        for left in sorted(output.parent.iterdir()):
            found = _LEFT.fullmatch(left.name)
            if found is not None and not left.is_symlink() and left.is_dir():
                with suppress(OSError):
                    _sweep_one(left, output.parent / found["name"], former=found["kind"] == "former")


def _sweep_one(left: Path, output: Path, *, former: bool) -> None:
    lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        names = {path.name for path in left.iterdir()}
        if not (names <= {output.name} if former else all(map(_OWN.fullmatch, names))):
            return
        kept = left / output.name
        if former and kept.is_dir() and not os.path.lexists(output):
            # Killed between the two renames: what was there before is put back.
            kept.rename(output)
        shutil.rmtree(left, ignore_errors=True)
    finally:
        os.close(lock)


def check_destination(output: Path, *, force: bool) -> None:
    """Make sure that a bundle can be written, before anything is booted for it.

    :raises LabError: naming what is in the way.
    """
    where = str(output)
    if os.path.lexists(output):
        if output.is_symlink() or not (output / MANIFEST).is_file():
            what = "this is already there, and is not a bundle: it is not replaced"
            raise LabError(what, where=where, hint="choose another name with `-o`")
        if not force:
            raise LabError("this is already there", where=where, hint="give `--force` to replace it")
    if not output.parent.is_dir():
        raise LabError("there is no such directory", where=str(output.parent), hint="make it first")
    usage = shutil.disk_usage(output.parent)
    elsewhere = "choose another place with `-o`"
    if usage.total == 0:
        raise LabError("this file system takes no files", where=str(output.parent), hint=elsewhere)
    if not os.access(output.parent, os.W_OK | os.X_OK):
        raise LabError("you may not write in this directory", where=str(output.parent), hint=elsewhere)
    if usage.free < _LEAST_FREE:
        raise no_space(output)


def check_space(output: Path, said: str = "") -> None:
    """Make sure that a recording did not fill its file system: what QEMU could not write is missing from the evidence.

    :param said: what the recording said of how it ended.
    :raises LabError: when the file system is full.
    """
    if is_full(OSError(said)) or shutil.disk_usage(output.parent).free < _FULL:
        raise no_space(output)


def no_space(output: Path) -> LabError:
    """The error of a full file system, which it names."""
    parent = output.absolute().parent
    place = next(path for path in (parent, *parent.parents) if path.is_mount())
    return LabError(
        f"no space left on the file system that is mounted at `{place}`: "
        f"{size_text(shutil.disk_usage(output.parent).free)} are free",
        where=str(output.parent),
        hint=f"a recording takes some {_LEAST_FREE >> 20} MiB: free some space, or choose another place with `-o`",
    )


def _publish(partial: Path, output: Path, *, force: bool) -> None:
    mask = os.umask(0)
    os.umask(mask)
    # Private while the guest ran; from now on like anything else that the person makes.
    for directory in (partial, *(each for each in partial.iterdir() if each.is_dir())):
        directory.chmod(0o777 & ~mask)
    if force and output.is_dir():
        former, lock = _own_directory(output, ".former")
        output.rename(former / output.name)
        partial.rename(output)
        shutil.rmtree(former, ignore_errors=True)
        os.close(lock)
    elif os.path.lexists(output):
        raise LabError("this appeared while the boot was recorded", where=str(output), hint="give `--force`")
    else:
        partial.rename(output)


def write_table(table: str, rows: Mapping[str, list[object]], bundle: Path) -> None:
    """Write one table of a bundle, checked against its schema.

    :raises FirstlightError: when the rows do not fit the schema.
    :raises OSError: when it cannot be written.
    """
    _core.write_table(table, dict(rows), str(bundle))


def describe_tables(bundle: Path) -> dict[str, Table]:
    """Rows and digest of every table of a bundle."""
    rows = _core.table_rows(str(bundle))
    return {name: Table(rows=rows[name], sha256=file_digest(bundle / f"{name}.parquet")) for name in sorted(rows)}


def write_manifest(bundle: Path, manifest: Manifest) -> str:
    """Write `provenance.json` and the manifest, the last file of a bundle; returns their digest."""
    texts = [text_of(part) for part in split(manifest.model_dump(mode="json"))]
    for name, text in ((PROVENANCE, texts[1]), (MANIFEST, texts[0])):
        (bundle / name).write_bytes(text)
    return digest_of_files(*texts)
