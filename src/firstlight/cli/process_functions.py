"""`firstlight functions --process` and `--user`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from firstlight import api
from firstlight.cli.rows import Form, print_rows


@dataclass(frozen=True)
class Wanted:
    """What is to be shown."""

    process: str | None
    """Of which process only."""
    user: bool
    """Only functions of user mode, without system calls and the rest."""
    symbols: Path | None
    """A directory with debug files."""
    between: tuple[int, int] | None
    """Two instants in nanoseconds."""


def process_functions(boot: api.Boot, wanted: Wanted, form: Form) -> None:
    """Print what processes executed: functions of user mode, system calls and the rest."""
    from firstlight.render.views.user_functions import user_functions_report, work_report

    process, user, symbols, between = wanted.process, wanted.user, wanted.symbols, wanted.between
    counted = None if between is None else boot.interval(*between)
    if user:
        rows = boot.user_functions(process=process, symbols=symbols, between=between)
        report = partial(user_functions_report, boot, process=process, counted=counted)
    else:
        rows = boot.process_work(process=process, symbols=symbols, between=between)
        report = partial(work_report, boot, process=process, counted=counted)
    print_rows(
        boot, rows, form, "Functions", "functions", report, lambda: _hint(boot, user), process=process, user=user
    )  # fmt: skip


def _hint(boot: api.Boot, user: bool) -> str:
    """What to do about no rows: record, or ask for others."""
    if boot.processes().is_empty():
        return boot.missing_hint("processes")
    if user and boot.table("user_functions").is_empty():
        return boot.missing_hint("user_functions")
    return "nothing in the recording matches; `firstlight processes` lists the processes"
