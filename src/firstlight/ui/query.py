"""SQL over the tables of a boot, in a process of its own: within limits of rows, memory and time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstlight.errors import FirstlightError, UsageError

#: A query shows so many rows, and takes so many seconds, at most.
ROWS = 1_000
CSV_ROWS = 100_000
SECONDS = 15.0
#: Characters of a statement.
LONGEST_STATEMENT = 20_000
#: So many queries run at once.
_SLOTS = threading.BoundedSemaphore(2)


@dataclass(frozen=True)
class Found:
    """What a query yields."""

    columns: tuple[tuple[str, str], ...]
    """Each with its name and its type."""
    rows: tuple[tuple[str | int | float | bool | None, ...], ...]
    more: bool
    """Whether there are more rows."""
    seconds: float
    """How long it took, with the start of its process."""


def run_query(bundle: Path, statement: str, *, rows: int = ROWS, seconds: float = SECONDS) -> Found:
    """Run one SELECT over the tables of the bundle at *bundle*.

    The statement sees the tables of the bundle and some analyses, and nothing else: no file, no network, no extension.

    :param rows: the largest number of rows that are fetched.
    :param seconds: after so long the process is ended.
    :raises UsageError: for a statement that is empty or too long.
    :raises FirstlightError: when DuckDB refuses it, it takes too long, or the bundle cannot be read.

    >>> run_query(bundle, "SELECT mark FROM marks ORDER BY time_ns LIMIT 2").rows
    (('power_on',), ('decompression_start',))
    """
    if not statement.strip():
        raise UsageError("the query is empty", where="SQL", hint="SELECT * FROM marks")
    if len(statement) > LONGEST_STATEMENT:
        raise UsageError(f"the query has more than {LONGEST_STATEMENT:,} characters", where="SQL")
    began = time.monotonic()
    if not _SLOTS.acquire(timeout=seconds):
        raise FirstlightError("other queries are running", where="SQL", hint="wait for them")
    try:
        answer = _answer({"bundle": str(bundle.resolve()), "statement": statement, "rows": rows}, seconds)
    finally:
        _SLOTS.release()
    if "error" in answer:
        raise FirstlightError(answer["error"], where=answer["where"], hint=answer["hint"])
    return Found(
        tuple((name, kind) for name, kind in answer["columns"]),
        tuple(tuple(row) for row in answer["rows"]),
        answer["more"],
        time.monotonic() - began,
    )


def _answer(job: dict[str, Any], seconds: float) -> dict[str, Any]:
    # `-P`: no module is taken from the directory that the browser was started in.
    command = [sys.executable, "-P", "-m", "firstlight.ui.query_worker"]
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    try:
        done = subprocess.run(
            command,
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=seconds,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        hint = "reduce the work: add a WHERE, or join fewer tables"
        raise FirstlightError(f"the query took longer than {seconds:g} s", where="SQL", hint=hint) from error
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        why = "the query needs too much memory" if done.returncode < 0 else "the query failed"
        hint = "ask for fewer or shorter values"
        raise FirstlightError(
            f"{why} (its process ended with code {done.returncode})", where="SQL", hint=hint
        ) from error
    return answer
