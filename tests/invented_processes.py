"""Processes, system calls and files of an invented boot: its last phase is divided among three processes more.

What there is of each kind: a process that runs two executables one after the other, one with two threads of a service,
and one that never ran.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import polars as pl

from bundles import HOSTILE, make_bundle, thread_tables, write_table
from firstlight.bundle.tables import SCHEMAS

#: What each thread executes of the last phase: thread, name, instructions, of those in user mode, in interrupts.
TURNS = [
    (1, "init", 1_000_000, 400_000, 0),
    (2, "sh", 200_000, 50_000, 1_000),
    (2, "udevadm", 300_000, 100_000, 0),
    (3, "svc", 400_000, 100_000, 2_000),
    (4, "worker", 100_000, 0, 0),
]
PIDS = {0: (0, 0), 1: (1, 1), 2: (10, 2), 3: (20, 3), 4: (21, 3)}
"""The number that the kernel gave each thread, and its process."""
LIBC = ("/usr/lib/libc.so.6", "0c0ffee0")
UDEVADM = ("/usr/bin/udevadm", "0ddba11")
USER_FUNCTIONS = [
    (1, 1, "/init", "file", "/init", "beef01", "main", "symbol_table", 0x1100, 0x401100, 300_000),
    (1, 1, "/init", "file", "/init", "beef01", None, "frame_table", 0x1900, 0x401900, 100_000),
    (2, 2, "/bin/sh", "file", *LIBC, "malloc", "dynamic_symbols", 0x9000, 0x9000, 30_000),
    (2, 2, "/bin/sh", "deleted", "/tmp/gone", None, None, "none", 0x40, None, 20_000),
    (2, 2, "/usr/bin/udevadm", "file", *LIBC, "malloc", "dynamic_symbols", 0x9000, 0x9000, 10_000),
    (2, 2, "/usr/bin/udevadm", "file", *UDEVADM, None, "frame_table", 0x2000, 0x2000, 70_000),
    (2, 2, "/usr/bin/udevadm", "file", *UDEVADM, ".plt", "linkage_table", 0x1000, 0x1000, 20_000),
    (3, 3, "/usr/lib/svc", "anonymous", None, None, None, "none", None, None, 60_000),
    (3, 3, "/usr/lib/svc", "memfd", "memfd:jit", None, None, "none", 0x10, None, 30_000),
    (3, 3, "/usr/lib/svc", "vdso", None, None, None, "none", 0x6C0, None, 10_000),
]
"""Process, thread, executable, kind, file, build id, function, source, offset, address, instructions."""
_CALLERS = {"clone": 2, "execve": 2, "openat": 4, "read": 5}
"""By the name of a call the row of the function that made it."""


def make_processes(
    directory: Path,
    *,
    name: str = "processes.boot",
    hostile: bool = False,
    turns: Sequence[tuple[Any, ...]] = TURNS,
    user_code: bool = True,
    **made: Any,
) -> Path:
    """Write a bundle of an invented boot with processes; returns its path.

    :param hostile: paths, names, arguments and services that attack whatever shows them.
    :param turns: what each thread executes of the last phase, as :data:`TURNS`.
    :param user_code: user code was followed; only of the turns that are given by default.
    :param made: as for :func:`bundles.make_bundle`.
    """
    bundle = make_bundle(directory, name=name, **made)
    followed = user_code and turns is TURNS
    runs = pl.read_parquet(bundle / "runs.parquet").select("thread", "start_ns", "end_ns", "instructions", "idle_ns")
    whole = runs.rows()
    place = max(number for number, row in enumerate(whole) if row[0] == 1)
    _, begin, end, executed, _ = whole[place]
    rows_of_runs = [(thread, "init" if thread else "swapper/0", *rest) for thread, *rest in whole[:place]]
    spent = [(0, 0)] * place
    starts, now = [], begin
    for thread, comm, instructions, user, interrupts in turns:
        starts.append(now)
        rows_of_runs.append((thread, comm, now, now + instructions, instructions, 0))
        spent.append((user, interrupts))
        now, executed = now + instructions, executed - instructions
    rows_of_runs.append((1, "init", now, end, executed, 0))
    rows_of_runs += [(thread, "swapper/0", *rest) for thread, *rest in whole[place + 1 :]]
    spent += [(0, 0)] * (len(rows_of_runs) - len(spent))
    tasks = thread_tables(rows_of_runs)
    rows: dict[str, list[tuple[Any, ...]]] = {
        **tasks,
        "images": _images(starts),
        "wakeups": [(starts[1], 1, 2, 0), (starts[3], 2, 3, 1), (starts[3], 2, None, 0)],
        "system_calls": _calls(starts),
        "user_functions": [(number, *row) for number, row in enumerate(USER_FUNCTIONS if followed else ())],
        "packages": [
            ("/bin/sh", "dash", "0.5.12-2"),
            ("/etc/hosts", "netbase", None),
            ("/usr/bin/udevadm", "udev", "252.39-1"),
        ],
    }
    rows["runs"] = [(*row[:5], *figures, 0, None, 0) for row, figures in zip(tasks["runs"], spent, strict=True)]
    of_thread = {
        thread: tuple(sum(row[column] for row in rows["runs"] if row[0] == thread) for column in (5, 6))
        for thread in PIDS
    }
    rows["threads"] = [(*row[:11], *PIDS[row[0]], *of_thread[row[0]]) for row in tasks["threads"]]
    rows["processes"] = _processes(rows["threads"], starts, now)
    if not pl.read_parquet(bundle / "slices.parquet").is_empty():
        # One edge lies in the middle of a system call.
        edges = [start + 70_000 for start in starts[1:]] + [start + 9_000 for start in starts[2:3]]
        _split_slices(bundle, edges)
        rows |= slice_tables(bundle, rows)
    for table, values in rows.items():
        types = {column: pl.Int64 if type_ == pl.Int64 else pl.String for column, type_ in SCHEMAS[table].items()}
        frame = pl.DataFrame(values, schema=types, orient="row")
        write_table(bundle, table, _hostile(frame) if hostile else frame)
    _add_invariants(bundle, rows, followed=followed)
    return bundle


def _split_slices(bundle: Path, edges: list[int]) -> None:
    """Let slices end at further instants; what the nodes did in a slice is divided in their order."""
    slices, calls = (pl.read_parquet(bundle / f"{name}.parquet").rows() for name in ("slices", "slice_calls"))
    parts: list[tuple[int, ...]] = []
    rows: list[tuple[int, ...]] = []
    for number, start, end, executed, idle in slices:
        inside = sorted(edge for edge in edges if start < edge < end - idle)
        ends = [*(edge - start for edge in inside), executed]
        own = [row for row in calls if row[0] == number]
        first = len(parts)
        for begin, stop in zip([0, *ends], ends, strict=False):
            last = stop == executed
            parts.append((len(parts), start + begin, end if last else start + stop, stop - begin, idle if last else 0))
        done = 0
        for _, node, entries, instructions in own:
            for part, (begin, stop) in enumerate(zip([0, *ends], ends, strict=False)):
                there = overlap(done, done + instructions, begin, stop)
                counted = entries if begin <= done < stop or (last_empty(instructions, stop, done)) else 0
                if there or counted:
                    rows.append((first + part, node, counted, there))
                entries -= counted
            done += instructions
    rows.sort()
    for table, values in (("slices", parts), ("slice_calls", rows)):
        write_table(bundle, table, pl.DataFrame(values, schema=SCHEMAS[table], orient="row"))


def last_empty(instructions: int, stop: int, done: int) -> bool:
    """Whether a node that executes nothing stands at the end of a slice."""
    return instructions == 0 and stop == done


def overlap(start: int, end: int, first: int, last: int) -> int:
    """The length of what two intervals share."""
    return max(0, min(end, last) - max(start, first))


def slice_tables(bundle: Path, rows: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """What threads, calls and functions did in each slice: a run's user mode, interrupts and kernel are spread evenly
    over it, and the functions of user mode come one after the other.
    """
    slices = pl.read_parquet(bundle / "slices.parquet").select("slice", "start_ns", "end_ns").rows()
    threads: dict[tuple[int, int], list[int]] = {}
    code: dict[tuple[int, int], int] = {}
    work: dict[int, list[tuple[int, int, int]]] = {}
    used: dict[int, int] = {}
    for thread, start, end, instructions, idle, user, interrupts, *_ in rows["runs"]:
        for number, begin, stop in slices:
            a, b = max(begin, start), min(stop, end)
            if a >= b:
                continue
            if idle:
                threads.setdefault((number, thread), [0, 0, 0, 0])[3] += b - a
                continue
            spent = [figure * (b - start) // instructions - figure * (a - start) // instructions
                     for figure in (user, interrupts)]  # fmt: skip
            own = threads.setdefault((number, thread), [0, 0, 0, 0])
            for place, figure in enumerate((spent[0], b - a - sum(spent), spent[1])):
                own[place] += figure
            at = used.get(thread, 0)
            used[thread] = at + spent[0]
            done = 0
            for row in rows["user_functions"]:
                if row[2] == thread:
                    there = overlap(done, done + row[11], at, used[thread])
                    if there:
                        code[number, row[0]] = code.get((number, row[0]), 0) + there
                    done += row[11]
    for (number, thread), own in sorted(threads.items()):
        before = work.get(thread, [(0, 0, 0)])[-1][2]
        work.setdefault(thread, []).append((number, before, before + own[1]))
    calls = []
    for call, thread, _, start, end, kernel, *_ in rows["system_calls"]:
        if end is None:
            continue
        first = next(number for number, begin, stop in slices if begin <= start < stop)
        last = next(number for number, begin, stop in slices if begin <= end < stop)
        parts = [number for number, *_ in work[thread] if first <= number <= last]
        for place, number in enumerate(parts):
            there = kernel * (place + 1) // len(parts) - kernel * place // len(parts)
            if there:
                calls.append((number, call, there))
    return {
        "slice_threads": [(*key, *own) for key, own in sorted(threads.items())],
        "slice_system_calls": sorted(calls),
        "slice_user_functions": [(*key, own) for key, own in sorted(code.items())],
    }


def _images(starts: list[int]) -> list[tuple[Any, ...]]:
    return [
        (1, 1, starts[0], "/init", "/init\0", "/"),
        (2, 2, starts[1], "/bin/sh", "sh\0-c\0udevadm\0", "/"),
        (2, 2, starts[2], "/usr/bin/udevadm", "udevadm\0settle\0", "/system.slice/udev-settle.service"),
        (3, 3, starts[3], "/usr/lib/svc", "/usr/lib/svc\0", "/system.slice/svc.service/inner"),
        (3, 4, starts[4], "/usr/lib/svc", "/usr/lib/svc\0", "/system.slice/svc.service/inner"),
    ]


def _calls(starts: list[int]) -> list[tuple[Any, ...]]:
    """Number, thread, name, start, end, kernel and interrupt instructions, result, path, three arguments, caller."""
    _, sh, udevadm, svc, worker = starts
    rows: list[tuple[Any, ...]] = [
        (2, "clone", sh + 10, sh + 5_010, 5_000, 0, 20, None),
        (2, "execve", sh + 150_000, udevadm + 100, 50_000, 0, 0, "/usr/bin/udevadm"),
        (2, "openat", udevadm + 1_000, udevadm + 3_000, 2_000, 0, 3, "/etc/hosts"),
        (2, "read", udevadm + 4_000, udevadm + 14_000, 6_000, 1_000, 100, "/etc/hosts"),
        (2, "read", udevadm + 15_000, udevadm + 15_500, 500, 0, 0, "/etc/hosts"),
        (2, "newfstatat", udevadm + 20_000, udevadm + 21_000, 1_000, 0, -2, "/no/such"),
        (2, "exit_group", udevadm + 290_000, None, None, None, None, None),
        (3, "openat", svc + 1_000, svc + 2_500, 1_500, 0, 3, "/etc/hosts"),
        (3, "read", svc + 3_000, svc + 3_400, 400, 0, -4, "/etc/hosts"),
        (4, "faccessat", worker + 100, worker + 900, 800, 0, -2, "/no/such"),
        (4, "futex", worker + 2_000, worker + 9_000, 300, 0, -11, None),
    ]
    caller = [_CALLERS.get(name) if thread == 2 else None for thread, name, *_ in rows]
    return [(number, *row, 0, 1, 2, called) for (number, row), called in zip(enumerate(rows), caller, strict=True)]


def _processes(threads: list[tuple[Any, ...]], starts: list[int], end: int) -> list[tuple[Any, ...]]:
    svc = ("svc", "/usr/lib/svc", "/usr/lib/svc\0", "/system.slice/svc.service/inner", starts[3] - 500, None, None)
    known = [
        (0, 0, None, "swapper/0", None, None, None, threads[0][4], None, None),
        (1, 1, 0, "init", "/init", "/init\0", "/", threads[1][4], None, None),
        (2, 10, 1, "udevadm", "/usr/bin/udevadm", "udevadm\0settle\0", "/system.slice/udev-settle.service",
         starts[1] - 1_000, starts[3], 256),
        (3, 20, 2, *svc),
        (4, 22, 2, "never", None, None, "/", end - 50, None, None),
    ]  # fmt: skip
    sums = []
    for process, *_ in known:
        own = [row for row in threads if row[12] == process]
        instructions, user, interrupts, idle = (sum(row[column] for row in own) for column in (9, 13, 14, 8))
        sums.append((len(own), user, instructions - user - interrupts, interrupts, idle))
    return [(*row, *figures) for row, figures in zip(known, sums, strict=True)]


def _hostile(frame: pl.DataFrame) -> pl.DataFrame:
    """Every text but the names of calls and the kinds of threads ends with an attack, the same in each table; services
    keep their endings.
    """
    for column, type_ in frame.schema.items():
        if (
            type_ == pl.String
            and column not in ("kind", "source")
            and not ("call" in frame.columns and column == "name")
        ):
            texts = [text or "" for text in frame[column]]
            attacks = pl.Series(column, [HOSTILE[crc32(text.encode()) % len(HOSTILE)] for text in texts])
            own = pl.col(column)
            joined = own + attacks.str.replace_all("/", "|") + ".service" if column == "cgroup" else own + attacks
            frame = frame.with_columns(joined.alias(column))
    return frame


def _add_invariants(bundle: Path, rows: dict[str, list[tuple[Any, ...]]], *, followed: bool) -> None:
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    user, interrupts = (sum(row[column] for row in rows["runs"]) for column in (5, 6))
    executed = sum(row[3] for row in rows["runs"])
    invariants = manifest["invariants"]
    invariants["runs_partition_the_kernel"] |= {"runs": len(rows["runs"]), "switches": len(rows["runs"]) - 1}
    concerned = {"holds": True, "concerns": "processes"}
    invariants["modes_partition_the_runs"] = {
        **concerned, "value": user, "user_in_the_tree": user, "kernel": executed - user - interrupts,
        "interrupts": interrupts, "interrupts_in_the_tree": interrupts, "executed": executed,
    }  # fmt: skip
    invariants["registers_confirmed"] = {**concerned, "value": 0, "confirmed": 12}
    if followed:
        invariants["user_functions_partition_user_mode"] = {
            **concerned, "value": 0, "limit": 0, "instructions": user, "user_instructions": user, "wrong_threads": 0,
            "outside_blocks": 0, "blocks": 12,
        }  # fmt: skip
    path.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
