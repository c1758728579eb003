"""Bootchart: the archive that bootchartd samples, for pybootchartgui and other readers of it.

The format: https://github.com/xrmx/bootchart, `pybootchartgui/parsing.py`; its lines are those of `/proc/PID/stat` and
`/proc/stat` (`Documentation/filesystems/proc.rst` of the kernel), in hundredths of a second.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.states import thread_states
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.escape import printable
from firstlight.exporters.result import Exported
from firstlight.version import VERSION

_TICK_NS = 10_000_000
_PIECES = ("user", "system", "interrupts", "idle")
#: The fields of `/proc/PID/stat` after `starttime`, up to `delayacct_blkio_ticks`: not recorded.
_REST = " 0" * 20


@dataclass
class _Process:
    pid: int
    parent: int
    name: str
    threads: int
    start_ns: int
    end_ns: int | None
    spent_ns: dict[int, tuple[int, int]] = field(default_factory=dict)
    """User and system time by the number of the tick in which it was spent."""
    ready: list[tuple[int, int]] = field(default_factory=list)
    """When one of its threads ran or could have run."""


def write_bootchart(boot: Boot, out: Path) -> Exported:
    """Write `header`, `proc_stat.log`, `proc_ps.log` and `proc_diskstats.log` of *boot* as `bootchart.tgz` to *out*.

    There is a sample for each hundredth of a second, the resolution of the format.

    :raises BundleError: when the bundle has no runs of processes.
    """
    processes = _processes(boot)
    runs = boot.table("runs").join(boot.table("threads").select("thread", "process", "kind"), on="thread", how="left")
    if not processes or runs.is_empty():
        raise BundleError(
            "a bootchart needs the times of processes, but this boot has none",
            where=str(boot.directory), hint="export a recorded boot with processes, or `--to svg`",
        )  # fmt: skip
    machine = _spend(runs, processes)
    for process, start, end, state in thread_states(boot).select("process", "start_ns", "end_ns", "state").iter_rows():
        if process in processes and state in ("running", "runnable"):
            processes[process].ready.append((start, end))
    first, last = min(machine), max(machine)
    ticks = range(first, last + 1)
    files = {
        "header": _header(boot),
        "proc_stat.log": "".join(_machine(machine, ticks)),
        "proc_ps.log": "".join(_samples(processes, ticks)),
        # pybootchartgui rejects an archive without it. No disk is in it, since a bundle has no samples of any.
        "proc_diskstats.log": "".join(f"{tick + 1}\n\n" for tick in ticks),
    }
    out.write_bytes(_archive(files))
    exported = Exported({"processes": len(processes), "samples": len(ticks)})
    exported.notes.append("times are rounded to hundredths of a second, the resolution of the format")
    return exported


def _processes(boot: Boot) -> dict[int, _Process]:
    names = process_names_of(boot)
    frame = boot.table("processes")
    pids = dict(frame.select("process", "pid").iter_rows())
    columns = ("process", "pid", "parent", "threads", "start_ns", "end_ns")
    found = {}
    for process, pid, parent, threads, start, end in frame.select(columns).iter_rows():
        # The idle thread of each processor is not a process: `ps` does not list it.
        if pid and start is not None:
            name = printable(names[process].program, 60).strip("[]")
            found[process] = _Process(pid, pids.get(parent) or 0, name, threads or 1, start, end)
    return found


def _spend(runs: pl.DataFrame, processes: Mapping[int, _Process]) -> dict[int, list[int]]:
    """Divide each run among the ticks that it lies in; the sums of all processors by tick, in `_PIECES`."""
    columns = (
        "process",
        "start_ns",
        "end_ns",
        "instructions",
        "idle_ns",
        "user_instructions",
        "interrupt_instructions",
    )
    machine: dict[int, list[int]] = {}
    for process, start, end, instructions, idle, user, interrupts in runs.select(columns).iter_rows():
        if end is None or end <= start:
            continue
        busy = end - start - (idle or 0)
        parts = [busy * (user or 0) // instructions if instructions else 0,
                 0, busy * (interrupts or 0) // instructions if instructions else 0, idle or 0]  # fmt: skip
        parts[1] = busy - parts[0] - parts[2]
        of = processes.get(process)
        given = [0, 0, 0, 0]
        for tick in range(start // _TICK_NS, (end - 1) // _TICK_NS + 1):
            until = min(end, (tick + 1) * _TICK_NS) - start
            sums = machine.setdefault(tick, [0, 0, 0, 0])
            here = [part * until // (end - start) - before for part, before in zip(parts, given, strict=True)]
            for number, part in enumerate(here):
                sums[number] += part
                given[number] += part
            if of is not None:
                before = of.spent_ns.get(tick, (0, 0))
                of.spent_ns[tick] = (before[0] + here[0], before[1] + here[1])
    return machine


def _header(boot: Boot) -> str:
    facts = boot.fact_values()
    lines = {
        "version": f"firstlight {VERSION}",
        "title": f"Boot chart of {boot.directory.name}",
        "system.uname": facts.get("kernel.uname") or f"Linux {facts.get('kernel.release', '')}".strip(),
        "system.cpu": f"model name : {facts.get('cpu.model', 'unknown')} ({facts.get('cpu.count', '1')})",
        "system.kernel.options": facts.get("kernel.command_line", ""),
    }
    return "".join(f"{name} = {printable(text, 2000)}\n" for name, text in lines.items())


def _machine(machine: Mapping[int, list[int]], ticks: range) -> Iterator[str]:
    sums = [0] * len(_PIECES)
    for tick in ticks:
        sums = [one + other for one, other in zip(sums, machine.get(tick, [0] * len(_PIECES)), strict=True)]
        user, system, interrupts, idle = (each // _TICK_NS for each in sums)
        yield f"{tick + 1}\ncpu  {user} 0 {system} {idle} 0 {interrupts} 0 0 0 0\n\n"


def _samples(processes: Mapping[int, _Process], ticks: range) -> Iterator[str]:
    ordered = sorted(processes.values(), key=lambda each: (each.start_ns, each.pid))
    spent = {id(each): (0, 0) for each in ordered}
    ready = {id(each): _by_tick(each.ready) for each in ordered}
    for tick in ticks:
        instant = (tick + 1) * _TICK_NS
        lines = []
        for each in ordered:
            user, system = spent[id(each)]
            more = each.spent_ns.get(tick, (0, 0))
            spent[id(each)] = user, system = user + more[0], system + more[1]
            if each.start_ns < instant and (each.end_ns is None or each.end_ns >= instant - _TICK_NS):
                state = "R" if tick in ready[id(each)] else "S"
                lines.append(
                    f"{each.pid} ({each.name}) {state} {each.parent} 0 0 0 -1 0 0 0 0 0 {user // _TICK_NS}"
                    f" {system // _TICK_NS} 0 0 20 0 {each.threads} 0 {each.start_ns // _TICK_NS}{_REST}\n"
                )
        yield f"{tick + 1}\n{''.join(lines)}\n"


def _by_tick(spans: list[tuple[int, int]]) -> set[int]:
    return {tick for start, end in spans if end > start for tick in range(start // _TICK_NS, (end - 1) // _TICK_NS + 1)}


def _archive(files: Mapping[str, str]) -> bytes:
    """The same files give the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in files.items():
            content = text.encode("utf-8", errors="replace")
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)
