"""What each process executed by itself, as stacks: user functions, the calls that they make, the rest of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.processes import processes
from firstlight.analysis.processes.user_functions import code_name
from firstlight.bundle.boot import Boot

#: A process of a longer chain of parents stands below the outermost ones.
_DEEPEST = 500


class Frame(NamedTuple):
    """One frame of a stack."""

    name: str
    #: What it is, in the words of the calling-context tree.
    kind: str


class Stack(NamedTuple):
    """What one place executed by itself."""

    #: The outermost first.
    frames: tuple[Frame, ...]
    #: How often the system call was made; 0 for what is not counted.
    calls: int
    instructions: int
    ns: int


_BOOT = Frame("[boot]", "root")
_USER = Frame("[user]", "user")
_KERNEL = Frame("[kernel]", "group")

_Own = dict[tuple[Frame, ...], tuple[int, int]]
"""Calls and instructions by the frames below a process."""


def process_stacks(boot: Boot) -> Iterator[Stack]:
    """The stacks of a recorded boot, each process below the one that created it; nothing for a boot without processes.

    The instructions sum to those of the boot, and so does the time: interrupts, idle time and what ran before the
    kernel have stacks of their own.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> list(process_stacks(firstlight.open(bundle)))
    []
    """
    if boot.table("processes").is_empty():
        return
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    names = process_names_of(boot)
    code, calls = _executed(boot)
    rows = processes(boot)
    parents = dict(rows.select("process", "parent").iter_rows())
    interrupts = executed = 0
    columns = ("process", "user_instructions", "kernel_instructions", "interrupt_instructions")
    for process, user, kernel, came in rows.select(columns).iter_rows():
        stack = (_BOOT, *(Frame(names[each].text, "task") for each in _chain(process, parents)))
        for within in (code.get(process, {}), calls.get(process, {})):
            for below, (count, instructions) in sorted(within.items()):
                yield Stack((*stack, *below), count, instructions, instructions * step)
        for frame, whole, seen in ((_USER, user, code.get(process, {})), (_KERNEL, kernel, calls.get(process, {}))):
            rest = whole - sum(instructions for _, instructions in seen.values())
            yield Stack((*stack, frame), 0, rest, rest * step)
        interrupts += came
        executed += user + kernel + came
    yield Stack((_BOOT, Frame("[interrupts]", "interrupt")), 0, interrupts, interrupts * step)
    totals = boot.manifest.totals
    idle = totals.idle_ns or 0
    yield Stack((_BOOT, Frame("[idle]", "idle")), 0, 0, idle)
    before = (totals.instructions or 0) - executed
    before_ns = (totals.virtual_ns or 0) - idle - executed * step
    yield Stack((_BOOT, Frame("[before the kernel]", "firmware")), 0, before, before_ns)


def _executed(boot: Boot) -> tuple[dict[int, _Own], dict[int, _Own]]:
    """By process, what its user functions executed, and what the kernel executed in their system calls."""
    code: dict[int, _Own] = {}
    makers: dict[int, tuple[Frame, ...]] = {}
    for row in boot.table("user_functions").iter_rows(named=True):
        file = PurePosixPath(row["file"]).name if row["file"] else f"[{row['kind']}]"
        stack = makers[row["row"]] = (_USER, Frame(file, "user"), Frame(code_name(row), "user"))
        _add(code, row["process"], stack, 0, row["self_instructions"])
    calls: dict[int, _Own] = {}
    for process, name, maker, count, instructions in _calls(boot).iter_rows():
        _add(calls, process, (*makers.get(maker, (_KERNEL,)), Frame(name, "syscall")), count, instructions)
    return code, calls


def _add(found: dict[int, _Own], process: int, stack: tuple[Frame, ...], count: int, instructions: int) -> None:
    own = found.setdefault(process, {})
    known = own.get(stack, (0, 0))
    own[stack] = known[0] + count, known[1] + instructions


def _calls(boot: Boot) -> pl.DataFrame:
    """The system calls: process, name, row of the function that made them, number and instructions."""
    process_of = boot.table("threads").select("thread", "process")
    keys = ["process", "name", "user_function"]
    calls = boot.table("system_calls").join(process_of, on="thread", how="left")
    sums = calls.group_by(keys).agg(calls=pl.len().cast(pl.Int64), own=pl.col("kernel_instructions").sum())
    return sums.sort(keys).select(*keys, "calls", "own")


def _chain(process: int, parents: dict[int, int | None]) -> list[int]:
    """A process and those that created it, the outermost first."""
    chain, seen = [process], {process}
    above = parents.get(process)
    while above is not None and above in parents and above not in seen:
        chain.append(above)
        seen.add(above)
        above = parents[above]
    return chain[::-1][:_DEEPEST]
