"""The calls of a function as a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from firstlight.atomic import atomic_write
from firstlight.errors import UsageError

_FORMS = (".csv", ".json", ".parquet")


def check_answers_file(path: Path, *, force: bool) -> None:
    """Check that calls can be written to a file, before anything is booted.

    :raises UsageError: when its name has no known ending, or something is there already and *force* is not given.
    """
    if path.suffix.lower() not in _FORMS:
        hint = f"name it .{', .'.join(form[1:] for form in _FORMS)}"
        raise UsageError(f"`{path.suffix or path.name}` is not a format of a table", where=str(path), hint=hint)
    if path.exists() and not force:
        raise UsageError("something is there already", where=str(path), hint="give another name, or `--force`")
    if not path.absolute().parent.is_dir():
        raise UsageError("there is no such directory", where=str(path.absolute().parent), hint="make it first")


def write_answers(rows: pl.DataFrame, path: Path) -> None:
    """Write calls as the form that the ending of a file's name says."""
    with atomic_write(path, force=True) as temporary:
        match path.suffix.lower():
            case ".csv":
                rows.write_csv(temporary)
            case ".json":
                rows.write_json(temporary)
            case _:
                rows.write_parquet(temporary)
