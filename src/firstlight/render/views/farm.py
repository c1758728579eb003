"""A farm."""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.escape import printable
from firstlight.farm.status import FarmStatus
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table

_WIDE = 40


def status_report(status: FarmStatus) -> Iterator[Block]:
    """The jobs as a bar and figures, and a row for each worker."""
    yield Line(f"Jobs: {status.jobs:,}", "bold")
    if status.jobs:
        done = _WIDE * status.done // status.jobs
        running = -(-_WIDE * status.running // status.jobs)
        running = min(running, _WIDE - done)
        yield Line("█" * done + "▒" * running + "░" * (_WIDE - done - running), wrap=False)
    failed = f", {status.failed:,} failed at least once" if status.failed else ""
    yield Line(f"{status.done:,} done, {status.running:,} running, {status.waiting:,} waiting{failed}")
    if status.strays:
        one = "1 file among the jobs is not a job"
        files = one if status.strays == 1 else f"{status.strays:,} files among the jobs are not jobs"
        yield Line(f"{files}: `firstlight farm tidy STORE` removes such files", "yellow")
    yield BLANK
    if not status.workers:
        yield Line("No worker: `firstlight work STORE` starts one.", "dim")
        return
    yield table(
        "Workers",
        [
            Column("Worker", value=lambda each: printable(each.name, 80), name="worker", style="cyan", fixed=True),
            Column("State", value="state", style="bold", fixed=True),
            Column("Boots", "count", value="boots"),
            Column("Failed", "count", value="failed"),
            Column("Rejected", "count", value="refused"),
            Column("Last seen", value=lambda each: f"{each.seen_s:.0f} s ago", name="seen_s"),
            Column("Reason", value=lambda each: printable(each.reason or "", 200), name="reason", wide=60),
        ],
        status.workers,
    )
