"""Files and directories that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstlight.errors import FirstlightError


@contextmanager
def whole(out: Path, *, directory: bool = False, force: bool = False) -> Iterator[Path]:
    """A temporary path beside *out* that takes its place when the block ends well.

    :param directory: it is a directory, which is made; else a file, which is empty.
    :param force: replace what is there, but never a directory by a file, nor one that holds something else than files.
    :raises FirstlightError: when it cannot be written, or something else is there.
    """
    if out.is_dir() and not out.is_symlink():
        _check_replaceable(out, directory=directory, force=force)
    made: Path | None = None
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        written = made / out.name
        if directory:
            written.mkdir()
        yield written
        written.chmod(0o755 if directory else 0o644)
        if out.is_dir() and not out.is_symlink():
            out.rename(made / "replaced")
        elif directory and (out.exists() or out.is_symlink()):
            out.unlink()
        written.rename(out)
    except OSError as error:
        where = (
            str(out) if made is None or error.filename is None or str(made) in str(error.filename) else error.filename
        )
        raise FirstlightError(f"cannot be written: {error.strerror or error}", where=os.fsdecode(where)) from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _check_replaceable(out: Path, *, directory: bool, force: bool) -> None:
    """Whatever stands in a directory that is replaced, is lost: only what looks like an export may be."""
    if not directory:
        raise FirstlightError("it is a directory", where=str(out), hint="name another file with `-o`")
    if force and any(entry.is_dir() or entry.is_symlink() for entry in out.iterdir()):
        hint = "remove it, or name another directory with `-o`"
        raise FirstlightError("it holds more than an export and is not replaced", where=str(out), hint=hint)
