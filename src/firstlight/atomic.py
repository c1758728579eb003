"""Files and directories that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstlight.errors import FirstlightError


@contextmanager
def atomic_write(out: Path, *, directory: bool = False, force: bool = False) -> Iterator[Path]:
    """A temporary path beside *out* that takes its place when the block ends well.

    A symbolic link stays one, and what it leads to is replaced. Into a device or a pipe the file is written through,
    after the block: it is nobody's to replace.

    :param directory: it is a directory, which is made; else a file, which is empty.
    :param force: replace what is there, but never a directory by a file, nor one that holds something else than files.
    :raises FirstlightError: when it cannot be written, or something else is there.
    """
    through = _is_stream(out)
    target = out if through else out.resolve() if out.is_symlink() else out
    if target.is_dir():
        _check_replaceable(target, directory=directory, force=force)
    if through and directory:
        raise FirstlightError("it is not a directory", where=str(out), hint="name another")
    made: Path | None = None
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=None if through else target.parent))
        written = made / target.name
        if directory:
            written.mkdir()
        yield written
        if through:
            with written.open("rb") as source, out.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            return
        written.chmod(0o755 if directory else 0o644)
        if target.is_dir():
            target.rename(made / "replaced")
        elif directory and target.exists():
            target.unlink()
        written.rename(target)
    except OSError as error:
        where = (
            str(out) if made is None or error.filename is None or str(made) in str(error.filename) else error.filename
        )
        raise FirstlightError(f"cannot be written: {error.strerror or error}", where=os.fsdecode(where)) from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _is_stream(out: Path) -> bool:
    """Whether something is a device, a pipe or a socket, or leads to one."""
    try:
        mode = out.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _check_replaceable(out: Path, *, directory: bool, force: bool) -> None:
    """Whatever stands in a directory that is replaced, is lost: only what looks like an export may be."""
    if not directory:
        raise FirstlightError("it is a directory", where=str(out), hint="name another file")
    if force and any(entry.is_dir() or entry.is_symlink() for entry in out.iterdir()):
        hint = "remove it, or name another directory"
        raise FirstlightError("it holds more than an export and is not replaced", where=str(out), hint=hint)
