"""Opens a history: a DuckDB file, or a folder of bundles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import BootState, Concern
from firstlight.bundle.reliability import unreliable_text
from firstlight.comparison.open_many import open_all
from firstlight.comparison.sides.recording_time import recording_time
from firstlight.errors import MISSING_INPUT, FirstlightError, UnhealthyBootError, UsageError
from firstlight.history.history import FORMAT, SCHEMA, History, duckdb_errors
from firstlight.recipe.mode import RecordMode

#: What a history that is read may do: no other file, no network, no extension.
_READ_ONLY = (
    "temp_directory = ''",
    "python_enable_replacements = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_external_access = false",
    "lock_configuration = true",
)

_FIRST = datetime.min.replace(tzinfo=UTC)


@contextmanager
def open_history(path: Path, *, write: bool = False) -> Iterator[History]:
    """Open a history: a DuckDB file, or a folder of bundles, which is read only.

    :param write: make it when it is not there.
    :raises UsageError: when there is none, or a folder is to be written.
    :raises FirstlightError: when it is damaged, or another process writes it.
    """
    where = str(path)
    if path.is_dir():
        if write:
            hint = "copy the bundle into it; or name a file, such as `boots.duckdb`"
            raise UsageError("a folder of bundles is its own history", where=where, hint=hint)
        with open_memory(path) as history:
            yield history
        return
    new = not path.exists()
    if new and not write:
        hint = f"`firstlight history add {where} BOOT --at LABEL` makes one"
        raise UsageError("there is no such history", where=where, hint=hint, exit_code=MISSING_INPUT)
    if new and not path.absolute().parent.is_dir():
        raise UsageError("there is no such directory", where=str(path.parent), hint="make it first")
    with duckdb_errors(where):
        connection = duckdb.connect(where, read_only=not write)
    made = False
    try:
        with duckdb_errors(where):
            if not write:
                # A file that somebody sends may have views in it: they read this file and nothing else.
                for setting in _READ_ONLY:
                    connection.execute(f"SET {setting}")
            if new:
                connection.begin()
                connection.execute(SCHEMA)
                connection.commit()
                made = True
            found = connection.execute("SELECT format FROM about").fetchone()
        if found is None or found[0] != FORMAT:
            raise FirstlightError("this is not a history, or one of a newer Firstlight", where=where)
        if write:
            with duckdb_errors(where):
                # Columns that the first histories did not have.
                for column in ("missing", "recipe_key"):
                    connection.execute(f"ALTER TABLE boots ADD COLUMN IF NOT EXISTS {column} VARCHAR")
        yield History(connection, where)
    except BaseException:
        if made:
            # A history without boots is none.
            with duckdb_errors(where):
                is_empty = connection.execute("SELECT count(*) FROM boots").fetchone() == (0,)
            if is_empty:
                connection.close()
                path.unlink(missing_ok=True)
        raise
    finally:
        connection.close()


@contextmanager
def open_memory(folder: Path) -> Iterator[History]:
    """The history of a folder of bundles, in the order in which they were recorded; a label is a bundle's name.

    Imported boots whose records do not show their order are in the order of their names, before all others. Boots that
    failed are left out and named.

    :raises UsageError: when there are none.
    :raises BundleError: when one is damaged.
    :raises UnhealthyBootError: when all of them failed.
    """
    every = open_all([folder])
    failures = {boot.directory: reason for boot in every if (reason := _why_no_time(boot)) is not None}
    boots = [boot for boot in every if boot.directory not in failures]
    if failures and not boots:
        raise UnhealthyBootError("no boot of this folder has a time to store", where=str(folder))
    times = {boot.directory: recording_time(boot) for boot in every}
    imported = [boot.directory for boot in boots if boot.manifest.mode == RecordMode.IMPORTED]
    known = {time for directory in imported if (time := times[directory]) is not None}
    unordered = set() if len(known) == len(imported) else set(imported)

    def place(boot: Boot) -> tuple[datetime, str]:
        time = None if boot.directory in unordered else times[boot.directory]
        return time or _FIRST, boot.directory.name

    connection = duckdb.connect(":memory:")
    try:
        connection.execute(SCHEMA)
        history = History(connection, str(folder))
        for boot in sorted(boots, key=place):
            history.add([boot], boot.directory.name.removesuffix(".boot"))
        if len(unordered) > 1:
            missing = any(times[directory] is None for directory in imported)
            reason = "not all of them state when they were recorded" if missing else "some state one time of recording"
            history.unordered = f"{len(unordered)} imported boots are in the order of their names: {reason}"
        history.failed = tuple(f"{boot.directory.name}: {failures[boot.directory]}" for boot in every
                               if boot.directory in failures)  # fmt: skip
        history.newest_failed = bool(failures) and max(every, key=place).directory in failures
        yield history
    finally:
        connection.close()


def _why_no_time(boot: Boot) -> str | None:
    """Why a boot has no time that a history could store; none if it has one."""
    manifest = boot.manifest
    if (unreliable := unreliable_text(manifest, Concern.EVERYTHING)) is not None:
        return f"its recording is not reliable: {unreliable}"
    if manifest.status == BootState.COMPLETE:
        return None
    failure = manifest.failure
    return "evidence of it is missing" if failure is None else f"{failure.reason}: {failure.detail}"
