"""Folded stacks by process: each below the one that created it, in it its user functions and the calls they make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import polars as pl

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.processes import hint_for, processes
from firstlight.analysis.processes.user_functions import code_name
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.escape import printable
from firstlight.exporters.engine import Unit
from firstlight.exporters.result import Exported

#: A process of a longer chain of parents stands below the outermost ones.
_DEEPEST = 500


def write_folded_processes(boot: Boot, out: Path, unit: Unit = "time") -> Exported:
    """Write what each process executed by itself to *out*; the weights add up to the boot.

    :param unit: nanoseconds of the boot's clock, with idle time; or instructions.
    :raises BundleError: when the boot has no processes.
    """
    if boot.table("processes").is_empty() or boot.manifest.mode != "exact":
        raise BundleError("this boot has no processes", where=str(boot.directory), hint=hint_for(boot))
    lines = [f"{';'.join(map(_frame, stack))} {weight}\n" for stack, weight in _stacks(boot, unit) if weight]
    out.write_text("".join(lines), encoding="utf-8", newline="\n")
    return Exported({"processes": boot.table("processes").height, "stacks": len(lines)})


def _stacks(boot: Boot, unit: Unit) -> Iterator[tuple[tuple[str, ...], int]]:
    step = 1 << (boot.manifest.clock.icount_shift or 0) if unit == "time" else 1
    names = process_names_of(boot)
    functions = _user_functions(boot)
    calls: dict[int, dict[tuple[str, ...], int]] = {}
    for process, name, function, instructions in _calls(boot).iter_rows():
        stack = (*functions[function][1], name) if function in functions else ("[kernel]", name)
        own = calls.setdefault(process, {})
        own[stack] = own.get(stack, 0) + instructions
    code: dict[int, dict[tuple[str, ...], int]] = {}
    for process, stack, instructions in functions.values():
        own = code.setdefault(process, {})
        own[stack] = own.get(stack, 0) + instructions
    rows = processes(boot)
    parents = dict(rows.select("process", "parent").iter_rows())
    interrupts = executed = 0
    columns = ("process", "user_instructions", "kernel_instructions", "interrupt_instructions")
    for process, user, kernel, came in rows.select(columns).iter_rows():
        stack = ("[boot]", *(names[each].text for each in _chain(process, parents)))
        executed_user, executed_calls = code.get(process, {}), calls.get(process, {})
        for within in (executed_user, executed_calls):
            for below, instructions in sorted(within.items()):
                yield (*stack, *below), instructions * step
        yield (*stack, "[user]"), (user - sum(executed_user.values())) * step
        yield (*stack, "[kernel]"), (kernel - sum(executed_calls.values())) * step
        interrupts += came
        executed += user + kernel + came
    yield ("[boot]", "[interrupts]"), interrupts * step
    totals = boot.manifest.totals
    idle = (totals.idle_ns or 0) if unit == "time" else 0
    whole = totals.virtual_ns if unit == "time" else totals.instructions
    yield ("[boot]", "[idle]"), idle
    yield ("[boot]", "[before the kernel]"), (whole or 0) - idle - executed * step


def _calls(boot: Boot) -> pl.DataFrame:
    """Each system call: its process, its name, the row of the function that made it, and its instructions."""
    process_of = boot.table("threads").select("thread", "process")
    calls = boot.table("system_calls").join(process_of, on="thread", how="left", maintain_order="left")
    return calls.select("process", "name", "user_function", pl.col("kernel_instructions").fill_null(0))


def _user_functions(boot: Boot) -> dict[int, tuple[int, tuple[str, ...], int]]:
    """By row, where user code was followed: the process, the file and function as frames, and the instructions."""
    found: dict[int, tuple[int, tuple[str, ...], int]] = {}
    for row in boot.table("user_functions").iter_rows(named=True):
        file = PurePosixPath(row["file"]).name if row["file"] else f"[{row['kind']}]"
        found[row["row"]] = (row["process"], ("[user]", file, code_name(row)), row["self_instructions"])
    return found


def _chain(process: int, parents: dict[int, int | None]) -> list[int]:
    """A process and those that created it, the outermost first."""
    chain, seen = [process], {process}
    above = parents.get(process)
    while above is not None and above in parents and above not in seen:
        chain.append(above)
        seen.add(above)
        above = parents[above]
    return chain[::-1][:_DEEPEST]


def _frame(name: str) -> str:
    return printable(name.strip(), 200).replace(";", "\\x3b")
