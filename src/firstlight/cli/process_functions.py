"""`firstlight functions --process` and `--user`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from firstlight import api
from firstlight.cli.processes import Form, print_rows


def process_functions(boot: api.Boot, process: str | None, user: bool, symbols: Path | None, form: Form) -> None:
    """Print what processes executed: functions of user mode, without *user* also system calls and the rest.

    :param symbols: a directory with debug files.
    """
    from firstlight.render.views.user_functions import user_functions_report, work_report

    if user:
        rows = boot.user_functions(process=process, symbols=symbols)
        report = partial(user_functions_report, boot, process=process)
    else:
        rows = boot.process_work(process=process, symbols=symbols)
        report = partial(work_report, boot, process=process)
    print_rows(
        boot, rows, form, "Functions", "functions", report, lambda: _hint(boot, user), process=process, user=user
    )  # fmt: skip


def _hint(boot: api.Boot, user: bool) -> str:
    """What to do about no rows: record, or ask for others."""
    if boot.processes().is_empty():
        return boot.missing_hint("processes")
    if user and boot.table("user_functions").is_empty():
        return boot.missing_hint("user_functions")
    return "nothing that was recorded matches; `firstlight processes` lists the processes"
