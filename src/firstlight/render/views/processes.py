"""Processes, system calls and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from firstlight.analysis.processes.processes import unrecorded
from firstlight.analysis.processes.states import ThreadState, process_states
from firstlight.analysis.processes.system_calls import GroupCalls
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.render.model.pictures import Interval, States
from firstlight.render.model.report import Block, Line
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.heading import heading
from firstlight.render.views.sums import sum_rows

_BAR = 30
#: What the columns that a record lacks are called.
_UNRECORDED = {
    "service": "services",
    "image": "executables",
    "arguments": "command lines",
    "calls": "system calls",
    "cpu_ns": "time on the processor",
    "wait_ns": "time without it",
    "start_ns": "starts",
    "end_ns": "ends",
    "user_instructions": "instructions",
    "kernel_instructions": "instructions",
    "interrupt_instructions": "instructions",
}
#: Characters of a line of the tree before its picture.
_BESIDE = 64


def program_name(row: Mapping[str, Any]) -> str:
    """What the user calls a process: its executable without the directory, or the kernel's name for it in brackets.

    >>> program_name({"image": "/usr/bin/udevadm"}), program_name({"image": None, "name": "kthreadd"})
    ('udevadm', '[kthreadd]')
    """
    if row["image"]:
        return PurePosixPath(row["image"]).name
    name = str(row.get("name") or "?")
    # A record that has no executables says nothing of which process is the kernel's.
    return f"[{name}]" if row.get("instructions", 0) is not None else name


def other_name(row: Mapping[str, Any]) -> str:
    """The kernel's name of a process, where it is not the beginning of its executable's name.

    >>> other_name({"image": "/usr/bin/udevadm", "name": "(udev-worker)"})
    '(udev-worker)'
    >>> other_name({"image": "/usr/lib/systemd/systemd-journald", "name": "systemd-journal"})
    ''
    """
    name = str(row.get("name") or "")
    return name if row["image"] and not program_name(row).startswith(name) else ""


def processes_report(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Iterator[Block]:
    """Each process at its place in the boot, and what its instructions were executed for; the sum is the boot's.

    :param rows: of :func:`~firstlight.analysis.processes.processes.processes`, also with `depth`.
    :param left_out: the rows that are not shown.
    """
    yield from heading(boot, "Processes")
    charted = "depth" in rows.columns and not boot.runs().is_empty()
    yield _tree(boot, rows, left_out) if charted else _processes(boot, rows, left_out)
    if missing := unrecorded(boot, pl.concat([rows, left_out])):
        named = dict.fromkeys(_UNRECORDED.get(name, name.replace("_", " ")) for name in missing)
        yield Line(f"Not recorded: {', '.join(named)}", "dim")


def _tree(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Table:
    """Each process below the one that created it, and what it did over time: a boot chart in the terminal's width."""
    whole = window(boot)
    ranks = {str(state): rank for rank, state in enumerate(ThreadState)}
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for process, start, end, state in process_states(boot).select("process", "start_ns", "end_ns", "state").iter_rows():
        parts.setdefault(process, []).append((ranks[state], start, end))

    return table(
        "",
        [
            Column("PID", "count", "pid", write=str),
            Column("Process", value=lambda row: "  " * min(row["depth"], 8) + program_name(row), style="cyan",
                   longest=28, name="Process"),
            Column("CPU", "time", "cpu_ns", style="bold"),
            Column("Wait", "time", "wait_ns", wide=80),
            Column("", "picture", lambda row: States(parts.get(row["process"], []), whole, beside=_BESIDE)),
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "Process", ["cpu_ns"]),
        notes=[f"From {whole.first} to {whole.last}. █ running, ▒ ready to run, · blocked; CPU includes interrupts."],
    )  # fmt: skip


def _processes(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Table:
    whole = window(boot)
    sums = ["instructions", "user_instructions", "kernel_instructions", "interrupt_instructions", "cpu_ns", "calls"]

    def name(row: Mapping[str, Any]) -> str:
        return "  " * min(row.get("depth") or 0, 8) + program_name(row)

    columns = [
        Column("PID", "count", "pid", write=str),
        Column("Process", value=name, style="cyan", longest=40),
        Column("Name", value=other_name, longest=16, wide=90, optional=True),
        Column("Service", value="service", wide=110, longest=30, optional=True),
        Column("Start", "time", "start_ns", wide=70),
        Column("End", "time", "end_ns", wide=100),
        Column("CPU", "time", "cpu_ns", style="bold"),
        Column("Wait", "time", "wait_ns", wide=80),
        Column("User", "count", "user_instructions", wide=130),
        Column("Kernel", "count", "kernel_instructions", wide=130),
        Column("Interrupts", "count", "interrupt_instructions", wide=160),
        Column("Calls", "count", "calls", wide=90),
        Column("Command line", value="arguments", wide=180, longest=60),
        Column("", "picture", lambda row: Interval(row["start_ns"], row["end_ns"], whole, _BAR), wide=46),
    ]
    missing = unrecorded(boot, pl.concat([rows, left_out]))
    explained = {
        "cpu_ns": "CPU: time with the processor, including interrupts.",
        "wait_ns": "Wait: time from its start to its end without the processor.",
    }
    notes = [" ".join(text for name, text in explained.items() if name not in missing)]
    if "instructions" not in missing:
        notes.append(
            "User, Kernel, Interrupts: instructions in user mode, in the kernel on its behalf, in interrupts that came "
            "while it ran."
        )
    return table(
        "",
        [column for column in columns if column.value not in missing],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "Process", sums),
        notes=list(filter(None, notes)),
    )


_GROUP_COLUMNS = {
    GroupCalls.PROCESS: [
        Column("PID", "count", "pid", write=str),
        Column("Process", value=program_name, style="cyan", longest=40),
        Column("Service", value="service", wide=110, longest=30, optional=True),
    ],
    GroupCalls.CALL: [Column("Call", value="name", style="cyan", fixed=True)],
    GroupCalls.PATH: [Column("Path", value="path", style="cyan", longest=80)],
}


def calls_report(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame, by: GroupCalls) -> Iterator[Block]:
    """Sums of system calls.

    :param rows: of :func:`~firstlight.analysis.processes.system_calls.sum_calls`.
    :param left_out: the rows that are not shown.
    """
    yield from heading(boot, f"System calls by {by}")
    sums = ["calls", "errors", "instructions", "duration_ns", "wait_ns", "bytes"]
    exact = _has_instructions(rows)
    first = _GROUP_COLUMNS[by][-1 if by is not GroupCalls.PROCESS else 1]

    yield table(
        "",
        [
            *_GROUP_COLUMNS[by],
            Column("Calls", "count", "calls"),
            Column("Errors", "count", "errors", wide=90),
            *_costs(exact, waited=70),
            Column("Bytes", "count", "bytes", wide=100),
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, first.title, sums),
        notes=["Kernel instructions and waiting are of calls that returned." if exact else _TOOK],
    )


#: Of system calls that records have.
_TOOK = "Took: from begin to end of the calls whose end was recorded, including waits."


def _has_instructions(rows: pl.DataFrame) -> bool:
    return rows.is_empty() or rows["instructions"].null_count() < rows.height


def _costs(exact: bool, waited: int, instructions: int = 0) -> list[Column]:
    """What calls cost: in recorded boots instructions and waiting, in imported ones the time that they took."""
    if not exact:
        return [Column("Took", "time", "duration_ns", style="bold")]
    return [
        Column("Kernel instructions", "count", "instructions", style="bold", wide=instructions),
        Column("Waited", "time", "wait_ns", wide=waited),
    ]


def files_report(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Iterator[Block]:
    """What each process did to each path.

    :param rows: of :func:`~firstlight.analysis.processes.files.files`.
    :param left_out: the rows that are not shown.
    """
    yield from heading(boot, "Files")
    sums = ["opens", "reads", "bytes", "looks", "runs", "not_found", "calls", "instructions", "duration_ns", "wait_ns"]
    exact = _has_instructions(rows)

    yield table(
        "",
        [
            Column("Path", value="path", style="cyan", longest=70),
            Column("PID", "count", "pid", write=str, wide=90),
            Column("Process", value=program_name, longest=24, wide=70),
            Column("Opened", "count", "opens"),
            Column("Read", "count", "reads", wide=110),
            Column("Bytes", "count", "bytes", wide=100),
            Column("Stat", "count", "looks"),
            Column("Run", "count", "runs", wide=120),
            Column("Not found", "count", "not_found"),
            *_costs(exact, waited=110, instructions=80),
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "path", sums),
        notes=[] if exact else [_TOOK],
    )
