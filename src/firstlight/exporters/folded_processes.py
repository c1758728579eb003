"""Folded stacks by process: each below the one that created it, in it user mode, system calls and the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.processes import hint_for, processes
from firstlight.analysis.processes.system_calls import system_calls
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
    calls: dict[int, dict[str, int]] = {}
    for process, name, instructions in system_calls(boot).select("process", "name", "instructions").iter_rows():
        own = calls.setdefault(process, {})
        own[name] = own.get(name, 0) + (instructions or 0)
    rows = processes(boot)
    parents = dict(rows.select("process", "parent").iter_rows())
    interrupts = executed = 0
    columns = ("process", "user_instructions", "kernel_instructions", "interrupt_instructions")
    for process, user, kernel, came in rows.select(columns).iter_rows():
        stack = ("[boot]", *(names[each].text for each in _chain(process, parents)))
        within = calls.get(process, {})
        yield (*stack, "[user]"), user * step
        for name, instructions in sorted(within.items()):
            yield (*stack, "[kernel]", name), instructions * step
        yield (*stack, "[kernel]"), (kernel - sum(within.values())) * step
        interrupts += came
        executed += user + kernel + came
    yield ("[boot]", "[interrupts]"), interrupts * step
    totals = boot.manifest.totals
    idle = (totals.idle_ns or 0) if unit == "time" else 0
    whole = totals.virtual_ns if unit == "time" else totals.instructions
    yield ("[boot]", "[idle]"), idle
    yield ("[boot]", "[before the kernel]"), (whole or 0) - idle - executed * step


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
