"""One row for each process."""

from __future__ import annotations

import polars as pl

from firstlight.analysis.processes.imported import imported_processes
from firstlight.analysis.processes.imported_calls import imported_calls
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.bundle.processes_missing import processes_missing
from firstlight.bundle.tables import columns
from firstlight.recipe.mode import RecordMode

IMPORTED_HINT = (
    "import samples of bootchart, systemd-bootchart's SVG, the kernel's process accounting, a log of strace or auditd, "
    "or a trace with the events sched_process_fork, sched_process_exec and sched_process_exit"
)
"""How to get rows of an imported boot."""
HINT = (
    "processes are followed in exact recordings with a profile, of kernels that describe their types "
    "(CONFIG_DEBUG_INFO_BTF); record the boot again"
)
"""How to get rows."""


def hint_to_record(boot: Boot) -> str:
    """How to get what only a recording has: of an imported boot to record it, else :func:`hint_for`.

    >>> import firstlight
    >>> hint_to_record(firstlight.open(bundle)) == HINT
    True
    """
    return HINT if boot.manifest.mode == RecordMode.IMPORTED else hint_for(boot)


def hint_for(boot: Boot) -> str:
    """Why a boot has no processes and what to do about it, or else :data:`HINT`.

    >>> import firstlight
    >>> hint_for(firstlight.open(bundle)) == HINT
    True
    """
    if boot.manifest.mode == RecordMode.IMPORTED:
        return IMPORTED_HINT
    if boot.calls().is_empty():
        return boot.why_no_profile()[1]
    reason = processes_missing(boot.manifest)
    return HINT if reason is None else "; ".join(reason)


_SCHEMA = columns(
    "process:int pid:int parent:int name image arguments service start_ns:int end_ns:int status:int threads:int "
    "cpu_ns:int wait_ns:int instructions:int user_instructions:int kernel_instructions:int "
    "interrupt_instructions:int calls:int"
)


def service_of(cgroup: str) -> pl.Expr:
    """The unit of systemd that the control groups in a column belong to; null where they belong to none.

    The innermost group whose name is that of a unit counts: services have groups of their own making below theirs.

    :param cgroup: the name of the column.

    >>> groups = ["/system.slice/cron.service/worker", "/system.slice", "/", None]
    >>> pl.DataFrame({"cgroup": groups}).select(service_of("cgroup")).to_series().to_list()
    ['cron.service', 'system.slice', None, None]
    """
    names = pl.col(cgroup).str.extract_all(r"[^/]+\.(?:service|scope|slice|socket|mount|swap)(?:/|$)")
    return names.list.last().str.strip_suffix("/").alias("service")


def arguments_text(column: str) -> pl.Expr:
    """A command line as a shell user reads it: the arguments of a column, each of which ends in a NUL, with spaces
    between.

    >>> pl.DataFrame({"arguments": ["ls\\0-l\\0"]}).select(arguments_text("arguments")).item()
    'ls -l'
    """
    return pl.col(column).str.strip_chars_end("\0").str.replace_all("\0", " ", literal=True)


@once
def processes(boot: Boot) -> pl.DataFrame:
    """Every process of the boot, in the order of their creation.

    Columns: `process` (number), `pid`, `parent` (number), `name` (`comm`), `image` (path of the executable),
    `arguments`, `service` (unit of systemd by its control group), `start_ns`, `end_ns` (null: it did not end),
    `status`, `threads` (that ran), `cpu_ns` (it had the processor and did not idle), `wait_ns` (from its start to its
    end, or that of the boot, without a processor), `instructions` and what they are made of: `user_instructions`,
    `kernel_instructions` (on its behalf), `interrupt_instructions` (that came while it ran), `calls` (of the system).
    The instructions of all processes are those of the boot from the kernel's first instruction on.

    An imported boot has the processes that its records know. What they do not know is null, see :func:`unrecorded`.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> processes(firstlight.open(bundle)).height
    0
    """
    table = boot.table("processes")
    if table.is_empty():
        return _imported(boot)
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    threads = boot.table("threads").select("thread", "process")
    calls = boot.table("system_calls").join(threads, on="thread").group_by("process").agg(calls=pl.len().cast(pl.Int64))
    instructions = pl.sum_horizontal("user_instructions", "kernel_instructions", "interrupt_instructions")
    lasts = pl.col("end_ns").fill_null(boot.manifest.totals.virtual_ns or 0) - pl.col("start_ns")
    return (
        table.join(calls, on="process", how="left")
        .with_columns(
            service_of("cgroup"),
            arguments_text("arguments"),
            instructions=instructions,
            cpu_ns=instructions * step,
            calls=pl.col("calls").fill_null(0),
        )
        .with_columns(wait_ns=(lasts - pl.col("cpu_ns") - pl.col("idle_ns")).clip(0))
        .select(*_SCHEMA)
    )


def _imported(boot: Boot) -> pl.DataFrame:
    rows = imported_processes(boot)
    calls = imported_calls(boot).group_by("process").agg(calls=pl.len().cast(pl.Int64)).drop_nulls()
    known = rows.join(calls, on="process", how="left", maintain_order="left").with_columns(
        wait_ns=(pl.col("end_ns") - pl.col("start_ns") - pl.col("cpu_ns")).clip(0)
    )
    missing = [name for name in _SCHEMA if name not in known.columns]
    return known.with_columns(pl.lit(None, _SCHEMA[name]).alias(name) for name in missing).select(*_SCHEMA)


def unrecorded(boot: Boot, rows: pl.DataFrame) -> list[str]:
    """The columns of processes that the records of an imported boot do not have.

    :param rows: from :func:`processes`.

    >>> import firstlight
    >>> unrecorded(firstlight.open(bundle), pl.DataFrame({"pid": [1], "image": [None]}))  # an exact boot
    []
    """
    if boot.manifest.mode != RecordMode.IMPORTED or rows.is_empty():
        return []
    return [name for name in rows.columns if rows[name].null_count() == rows.height]


def in_tree_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Processes with their `depth`, each behind its parent.

    :param rows: from :func:`processes`.

    >>> rows = pl.DataFrame({"process": [0, 1, 2, 3], "parent": [None, 0, 0, 1]})
    >>> in_tree_order(rows).select("process", "depth").rows()
    [(0, 0), (1, 1), (3, 2), (2, 1)]
    """
    children: dict[int | None, list[int]] = {}
    known = set(rows["process"])
    for process, parent in rows.select("process", "parent").iter_rows():
        children.setdefault(parent if parent in known else None, []).append(process)
    order: list[tuple[int, int]] = []
    waiting = [(process, 0) for process in reversed(children.get(None, []))]
    while waiting:
        process, depth = waiting.pop()
        order.append((process, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(process, []))]
    places = pl.DataFrame(order, schema={"process": pl.Int64, "depth": pl.Int64}, orient="row")
    return places.join(rows, on="process", how="left", maintain_order="left").select(*rows.columns, "depth")
