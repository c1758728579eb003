"""Processes, services, system calls and files of two boots, each level a partition of both."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

import polars as pl

from firstlight.analysis.processes.identity import ProcessName, process_names_of
from firstlight.analysis.processes.packages import packages_of_processes
from firstlight.analysis.processes.processes import processes
from firstlight.analysis.processes.user_functions import user_functions_of_threads
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.level import Level, LevelPart, add_part, make_level
from firstlight.comparison.exact.rows import Key, Row, RowDelta
from firstlight.recipe.mode import RecordMode
from firstlight.schema.spans import CallKind, CallRow

#: Of the level of processes: what came while they ran, and what ran while none could.
INTERRUPTS = Key(CallRow.INTERRUPTS, kind=CallKind.GROUP)
IDLE = Key(CallRow.IDLE, kind=CallKind.IDLE)
#: What each level does not attribute.
RESTS = {
    "processes": "[before the kernel]",
    "services": "[no service]",
    "system_calls": "[outside system calls]",
    "files": "[no file]",
    "packages": "[idle, and before the kernel]",
    "user_functions": "[outside user mode]",
}
_PROCESS_FILE = re.compile(r"^/proc/\d+(?=/|$)")

#: A figure of something that belongs to two things: a process and the name of a call, for instance.
Cells = dict[tuple[str, Key], int]


@dataclass
class Userspace:
    """What user mode of one boot did, under the keys by which boots are matched."""

    levels: dict[str, dict[Key, LevelPart]] = field(default_factory=lambda: {name: {} for name in RESTS})
    user: Cells = field(default_factory=lambda: defaultdict(int))
    """Nanoseconds in user mode: by the name of the thread, and process."""
    calls: Cells = field(default_factory=lambda: defaultdict(int))
    """Nanoseconds of the kernel for a system call: by its name, and process."""
    paths: Cells = field(default_factory=lambda: defaultdict(int))
    """The same by name and file."""
    functions: Cells = field(default_factory=lambda: defaultdict(int))
    """Nanoseconds in user mode: by the name of the thread, and function."""
    packages: dict[tuple[Key, Key], int] = field(default_factory=lambda: defaultdict(int))
    """Nanoseconds by process and package."""
    services: dict[tuple[Key, Key], int] = field(default_factory=lambda: defaultdict(int))
    """Nanoseconds by process and service."""
    first: dict[int, Key] = field(default_factory=dict)
    """The kernel's first processes, by their numbers."""
    programs: dict[Key, str] = field(default_factory=dict)
    """What each process ran; nothing for threads of the kernel."""


def userspace_of(a: Boot, b: Boot) -> tuple[Userspace, Userspace] | None:
    """What user mode of both boots did; none where processes of one of them were not followed.

    A process is matched by its program, its arguments, the program that started it, and its place among several of
    these. Of what that leaves, those of one program and one starter are matched in their order.
    """
    if any(boot.manifest.mode != RecordMode.EXACT or boot.calls().is_empty() for boot in (a, b)):
        return None
    if any(boot.table("processes").is_empty() for boot in (a, b)):
        return None
    one, other = process_names_of(a), process_names_of(b)
    by_code = not any(boot.table("user_functions").is_empty() for boot in (a, b))
    return _userspace(a, one, by_code), _userspace(b, matched(one, other), by_code)


def userspace_levels(sides: tuple[Userspace, Userspace], whole: Row) -> dict[str, Level]:
    """The levels of user mode by their names; without those of which no boot has anything.

    :raises AssertionError: when the sums do not hold: a fault of the program.
    """
    a, b = sides
    found = [(name, a.levels[name], b.levels[name], rest) for name, rest in RESTS.items()]
    # A level that only one of the boots knows is none: packages of a root without a database, functions on request.
    optional = ("packages", "user_functions")
    return {
        name: make_level(name, one, other, whole, rest)
        for name, one, other, rest in found
        if (one and other if name in optional else one or other)
    }


def matched(one: dict[int, ProcessName], other: dict[int, ProcessName]) -> dict[int, ProcessName]:
    """The names of the second boot's processes, those that the first lacks replaced by ones of its own.

    >>> one = {1: ProcessName("cp", "/tmp/a.1x", "sh", 1), 2: ProcessName("ls", "", "sh", 1)}
    >>> other = {1: ProcessName("cp", "/tmp/a.9z", "sh", 1), 2: ProcessName("ls", "-l", "init", 1)}
    >>> [name.text for name in matched(one, other).values()]
    ['cp /tmp/a.1x', 'ls -l']
    """
    there, here = set(one.values()), set(other.values())
    free: dict[tuple[str, str], list[ProcessName]] = {}
    for name in one.values():
        if name not in here:
            free.setdefault((name.program, name.parent), []).append(name)
    found = {}
    for process, name in other.items():
        alike = free.get((name.program, name.parent))
        found[process] = alike.pop(0) if name not in there and alike else name
    return found


def _userspace(boot: Boot, names: dict[int, ProcessName], by_code: bool) -> Userspace:
    keys = {process: Key(name.text, name.parent, "process") for process, name in names.items()}
    found = Userspace(first={number: keys[number] for number in (0, 1) if number in keys})
    found.programs = {
        keys[process]: name.program for process, name in names.items() if not name.program.startswith("[")
    }
    shift = boot.manifest.clock.icount_shift or 0
    columns = ("process", "service", "user_instructions", "kernel_instructions", "interrupt_instructions")
    by_process, by_service = found.levels["processes"], found.levels["services"]
    interrupts = 0
    for process, service, user, kernel, came in processes(boot).select(columns).iter_rows():
        own = (user or 0) + (kernel or 0)
        interrupts += came or 0
        add_part(by_process, keys[process], keys[process].name, RowDelta(own << shift, own, 0))
        if service is not None:
            key = Key(service, kind="service")
            add_part(by_service, key, service, RowDelta(own << shift, own, 0))
            found.services[keys[process], key] += own << shift
    by_process[INTERRUPTS] = LevelPart(RowDelta(interrupts << shift, interrupts, 0), INTERRUPTS.name)
    idle = boot.manifest.totals.idle_ns or 0
    by_process[IDLE] = LevelPart(RowDelta(idle, 0, idle), IDLE.name)
    threads = boot.threads().select("process", "name", "user_instructions").drop_nulls("process")
    for process, name, user in threads.iter_rows():
        found.user[name or "", keys[process]] += (user or 0) << shift
    _add_calls(boot, keys, shift, found)
    _add_packages(boot, keys, shift, found, by_code)
    _add_functions(boot, shift, found)
    return found


def _add_packages(boot: Boot, keys: dict[int, Key], shift: int, found: Userspace, by_code: bool) -> None:
    for process, name, instructions in packages_of_processes(boot, by_code=by_code).iter_rows():
        key = Key(name, kind="package")
        figures = RowDelta(instructions << shift, instructions, 0)
        add_part(found.levels["packages"], key, name, figures)
        if process in keys:
            found.packages[keys[process], key] += figures.ns


def _add_functions(boot: Boot, shift: int, found: Userspace) -> None:
    threads = boot.threads().select("thread", thread_name="name")
    rows = user_functions_of_threads(boot).join(threads, on="thread", how="left", maintain_order="left")
    columns = ("thread_name", "name", "file", "self_instructions")
    for thread, name, file, instructions in rows.select(columns).iter_rows():
        key = Key(name, file, "user_function")
        figures = RowDelta(instructions << shift, instructions, 0)
        add_part(found.levels["user_functions"], key, name, figures)
        found.functions[thread or "", key] += figures.ns


def _add_calls(boot: Boot, keys: dict[int, Key], shift: int, found: Userspace) -> None:
    threads = boot.threads().select("thread", "process")
    sums = (
        boot.table("system_calls")
        .join(threads, on="thread", how="left")
        .group_by("name", "process", "path")
        .agg(pl.len().cast(pl.Int64), pl.col("kernel_instructions").sum())
        .sort("name", "process", "path")
    )
    by_call, by_file = found.levels["system_calls"], found.levels["files"]
    for name, process, path, calls, instructions in sums.iter_rows():
        figures = RowDelta(instructions << shift, instructions, 0, calls)
        add_part(by_call, Key(name, kind="system_call"), name, figures)
        if process in keys:
            found.calls[name, keys[process]] += figures.ns
        if path is not None:
            file = Key(_PROCESS_FILE.sub("/proc/PID", path), kind="file")
            add_part(by_file, file, file.name, figures)
            found.paths[name, file] += figures.ns
