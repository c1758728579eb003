"""What each executable made the processor do: the runs of all threads, divided where a process ran another one."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.processes.processes import service_of
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns

SCHEMA = columns("process:int thread:int image service start_ns:int end_ns:int instructions:int")


def work(boot: Boot) -> pl.DataFrame:
    """Every stretch of time in which a thread had the processor and ran one executable, in order of time.

    Columns: `process`, `thread`, `image` (null: the kernel's own thread), `service`, `start_ns`, `end_ns`,
    `instructions` (all of them: in user mode, in the kernel and in interrupts that came meanwhile). They sum up to the
    instructions of all runs. Before its first return to user mode a process counts for what it ran first; the kernel
    until then for itself, where the first process is concerned.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> work(firstlight.open(bundle)).height
    0
    """
    runs, images = boot.table("runs"), boot.table("images")
    if runs.is_empty() or images.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    threads = boot.table("threads").select("thread", "process", "pid")
    runs = runs.select("thread", "start_ns", "end_ns", "instructions", "idle_ns").with_row_index("run")
    began = images.select("thread", "image", service_of("cgroup"), from_ns=pl.col("start_ns")).sort("from_ns")
    within = began.select("thread", pl.col("from_ns").alias("at")).join_asof(
        runs.select("thread", "run", run_start=pl.col("start_ns"), run_end=pl.col("end_ns")).sort("run_start"),
        left_on="at", right_on="run_start", by="thread", check_sortedness=False,
    )  # fmt: skip
    # A run with idle time is not divided: its instructions are not known by its time.
    whole = runs.filter(pl.col("idle_ns") > 0)["run"].implode()
    cuts = within.filter((pl.col("at") > pl.col("run_start")) & (pl.col("at") < pl.col("run_end")))
    cuts = cuts.filter(~pl.col("run").is_in(whole)).select("run", "thread", start_ns="at")
    starts = pl.concat([runs.select("run", "thread", "start_ns"), cuts]).sort("run", "start_ns")
    parts = starts.join(runs.select("run", "instructions", run_end="end_ns"), on="run", maintain_order="left")
    following = pl.col("start_ns").shift(-1).over("run")
    parts = parts.with_columns(end_ns=following.fill_null(pl.col("run_end")), last=following.is_null())
    by_time = (pl.col("end_ns") - pl.col("start_ns")) // step
    before = pl.when("last").then(0).otherwise(by_time).sum().over("run")
    parts = parts.with_columns(
        instructions=pl.when("last").then(pl.col("instructions") - before).otherwise(by_time)
    ).sort("start_ns", maintain_order=True)
    known = parts.join_asof(began, left_on="start_ns", right_on="from_ns", by="thread", check_sortedness=False)
    first = began.unique("thread", keep="first", maintain_order=True).select(
        "thread", first_image="image", first_service="service"
    )
    known = known.join(threads, on="thread", how="left", maintain_order="left")
    known = known.join(first, on="thread", how="left", maintain_order="left")
    early = pl.col("image").is_null() & (pl.col("pid") != 1)
    return known.with_columns(
        image=pl.when(early).then("first_image").otherwise("image"),
        service=pl.when(early).then("first_service").otherwise("service"),
    ).select(*SCHEMA)
