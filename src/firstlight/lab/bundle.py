"""Writing a bundle: whole, or not there."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from firstlight import _core
from firstlight.boot.manifest import Manifest, Table
from firstlight.cache import file_digest
from firstlight.errors import FirstlightError, LabError

MANIFEST = "manifest.json"
_LEAST_FREE = 64 << 20
"""Bytes; a small recording takes a tenth of it."""


@contextmanager
def new_bundle(output: Path, *, force: bool) -> Iterator[Path]:
    """A directory to fill, beside its destination; at the end it is renamed to it, after an error it is removed.

    :param output: the bundle's path.
    :param force: replace a bundle that is already there. Anything but a bundle is never replaced.
    :raises LabError: when the destination is taken or cannot be written, or its disk is full.
    """
    output = output.absolute()
    check_destination(output, force=force)
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".partial", dir=output.parent))
    except OSError as error:
        raise LabError(f"a bundle cannot be written here: {error.strerror}", where=str(output.parent)) from error
    try:
        yield partial
        _publish(partial, output, force=force)
    except OSError as error:
        # The engine's errors have a text, and no number.
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in str(error):
            raise no_space(output) from error
        raise LabError(f"the bundle cannot be written: {error.strerror or error}", where=str(output)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_destination(output: Path, *, force: bool) -> None:
    """Make sure that a bundle can be written, before anything is booted for it.

    :raises LabError: naming what is in the way.
    """
    where = str(output)
    if os.path.lexists(output):
        if not force:
            raise LabError("this is already there", where=where, hint="give `--force` to replace it")
        if output.is_symlink() or not (output / MANIFEST).is_file():
            raise LabError("this is no bundle, and is not replaced", where=where, hint="choose another name with `-o`")
    if not output.parent.is_dir():
        raise LabError("there is no such directory", where=str(output.parent), hint="make it first")
    if shutil.disk_usage(output.parent).free < _LEAST_FREE:
        raise no_space(output)


def no_space(output: Path) -> LabError:
    """The error of a full disk."""
    return LabError(
        "no space left on this disk", where=str(output.parent), hint="free some, or choose another with `-o`"
    )


def _publish(partial: Path, output: Path, *, force: bool) -> None:
    mask = os.umask(0)
    os.umask(mask)
    # Private while the guest ran; from now on like anything else that the person makes.
    for directory in (partial, *(each for each in partial.iterdir() if each.is_dir())):
        directory.chmod(0o777 & ~mask)
    if force and output.is_dir():
        former = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".former", dir=output.parent))
        output.rename(former / output.name)
        partial.rename(output)
        shutil.rmtree(former, ignore_errors=True)
    elif os.path.lexists(output):
        raise LabError("this appeared while the boot was recorded", where=str(output), hint="give `--force`")
    else:
        partial.rename(output)


def write_table(table: str, rows: Mapping[str, list[object]], bundle: Path) -> None:
    """Write one table of a bundle, checked against its schema.

    :raises FirstlightError: when the rows do not fit the schema.
    :raises OSError: when it cannot be written.
    """
    try:
        _core.write_table(table, dict(rows), str(bundle))
    except ValueError as error:
        raise FirstlightError(f"the table `{table}` cannot be written: {error}", where=str(bundle)) from error


def describe_tables(bundle: Path) -> dict[str, Table]:
    """Rows and digest of every table of a bundle."""
    import polars as pl  # late: see `firstlight.lab.record`

    return {
        name: Table(rows=pl.scan_parquet(path, glob=False).select(pl.len()).collect().item(), sha256=file_digest(path))
        for name in sorted(_core.table_schemas())
        if (path := bundle / f"{name}.parquet").is_file()
    }


def write_manifest(bundle: Path, manifest: Manifest) -> None:
    """Write the manifest, the last file of a bundle."""
    (bundle / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")
