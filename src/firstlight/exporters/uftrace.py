"""uftrace: a data directory that `uftrace report`, `graph`, `replay` and `tui` read.

Layout and records are those of uftrace's `libmcount` at version 4 of the format: `info`, `task.txt`, a map and its
symbols, and for each task its records of 16 bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.escape import printable
from firstlight.exporters.engine import Lanes, WeightedStacks, frame_names, span_lanes, weighted_stacks
from firstlight.exporters.result import Exported
from firstlight.quantities import counted
from firstlight.schema.spans import SpanKind

#: uftrace keeps ten bits for the depth of a call.
MAX_DEPTH = 1023

_PID = 1
_SESSION = "0000000000000001"
_PROGRAM = "boot"
_BASE = 0x400000
_SYMBOL_BYTES = 16
_ENTRY, _EXIT = 0, 1
_RECORD_MAGIC = 5
_TASK_SESSION, _SYMBOLS_RELATIVE, _MAX_STACK = 1 << 1, 1 << 5, 1 << 6
_EXE_NAME, _TASK_INFO = 1 << 0, 1 << 7
_NAME = 300

#: A step of a task: when, whether it begins, how deep, and the name.
Step = tuple[int, bool, int, str]


class _Symbols:
    """Names as functions of an invented program: each has an address."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def address(self, name: str) -> int:
        return _BASE + _SYMBOL_BYTES * self._numbers.setdefault(_symbol(name), len(self._numbers))

    def text(self) -> str:
        lines = [f"{_SYMBOL_BYTES * number:016x} T {name}" for name, number in self._numbers.items()]
        return "\n".join([*lines, f"{self.size():016x} ? __sym_end", ""])

    def size(self) -> int:
        return _SYMBOL_BYTES * len(self._numbers)


def _symbol(name: str) -> str:
    """A name without blanks, which end a name in uftrace."""
    return printable(name, _NAME).replace(" ", "_") or "[nameless]"


def write_uftrace(boot: Boot, out: Path) -> Exported:
    """Write *boot* into the existing directory *out*: a task for every lane of spans, and one for the calls.

    The calling-context tree knows no order: each of its nodes is one call, laid out after its elder sister, its own
    time after what it called.

    :raises BundleError: when a table cannot be read, or there is nothing to draw.
    """
    exported = Exported()
    symbols = _Symbols()
    tasks: list[tuple[str, bytes]] = []
    lanes = span_lanes(boot.directory)
    exported.leave_out(lanes.left_out)
    names = frame_names(boot)
    counted_twice = _counted_twice(boot)
    times = [time for column in (lanes.start, lanes.end) for time in column if time is not None]
    # A span without an end is drawn to the end of the boot, not to a later one.
    last = boot.manifest.totals.virtual_ns or max([0, *times])
    shift = -min([0, *times])
    too_deep = 0
    if not boot.calls().is_empty():
        stacks = weighted_stacks(boot.directory, "time")
        exported.weigh(stacks.summary, "time")
        records, deep = _records(_tree_steps(stacks), symbols, 0)
        tasks.append(("calls", records))
        too_deep += deep
    functions = set(boot.spans().with_row_index("row").filter(kind="function")["row"].to_list())
    for lane in lanes.lanes:
        # The tree has the calls of a traced function already: its spans are only the longest calls.
        if tasks and functions and all(step in functions for step in lane.steps if step >= 0):
            exported.notes.append(f"the long calls of {printable(lane.track)} are in the tree, and not drawn again")
            continue
        steps = [step for step in lane.steps if (step if step >= 0 else ~step) not in counted_twice]
        if not steps:
            continue
        records, deep = _records(_lane_steps(steps, lanes, names, last), symbols, shift)
        tasks.append((f"{lane.group}: {lane.track}", records))
        too_deep += deep
    if not tasks:
        raise BundleError("nothing to export: the boot has neither a profile nor spans", where=str(boot.directory))
    if counted_twice:
        what = f"{counted(len(counted_twice), 'span')} left out, of units that are up and stages that are also phases"
        exported.notes.append(f"{what}: uftrace adds up all spans")
    if too_deep:
        exported.notes.append(f"{counted(too_deep, 'call')} left out: deeper than {MAX_DEPTH}, which uftrace can hold")
    if shift:
        exported.notes.append(f"every time is {shift:,} ns later than in the bundle: some are negative")
    exported.counts["tasks"] = len(tasks)
    _write_files(out, tasks, symbols)
    return exported


def _counted_twice(boot: Boot) -> set[int]:
    """The rows of spans that are not work: units that are up, and stages that repeat the time of phases."""
    spans = boot.spans().with_row_index("row")
    twice = set(spans.filter(kind=SpanKind.UNIT_ACTIVE)["row"].to_list())
    if spans.filter(kind="phase").is_empty():
        return twice
    stages = spans.filter(kind="stage")
    parts = stages.filter(pl.col("parent").is_in(stages["span"].to_list()))["row"].to_list()
    return twice | set(stages["row"].to_list()) - set(parts)


def _lane_steps(steps: list[int], lanes: Lanes, names: list[str], last: int) -> Iterator[Step]:
    """Spans that never ended end with the boot."""
    open_rows: list[int] = []
    now = 0
    for step in steps:
        row = step if step >= 0 else ~step
        now = max(now, (lanes.start if step >= 0 else lanes.end)[row] or 0)
        if step >= 0:
            yield lanes.start[row] or 0, True, len(open_rows), names[row]
            open_rows.append(row)
        else:
            open_rows.pop()
            yield lanes.end[row] or 0, False, len(open_rows), names[row]
    while open_rows:
        row = open_rows.pop()
        # The records of a task are in order of time.
        yield max(now, last), False, len(open_rows), names[row]


def _tree_steps(stacks: WeightedStacks) -> Iterator[Step]:
    """The tree as a sequence of calls; without recursion, because it may be deep."""
    parent, name, weight = stacks.parent, stacks.name, stacks.weight
    total = list(weight)
    children: list[list[int]] = [[] for _ in parent]
    for node in range(len(parent) - 1, -1, -1):
        if (caller := parent[node]) is not None:
            total[caller] += total[node]
            children[caller].append(node)
    now = 0
    waiting = [(node, 0, True) for node in range(len(parent) - 1, -1, -1) if parent[node] is None]
    while waiting:
        node, depth, begins = waiting.pop()
        if begins and not total[node]:
            continue
        if not begins:
            now += weight[node]
        yield now, begins, depth, name[node]
        if begins:
            waiting.append((node, depth, False))
            waiting += [(child, depth + 1, True) for child in children[node]]


def _records(steps: Iterator[Step], symbols: _Symbols, shift: int) -> tuple[bytes, int]:
    """The records of a task, and the number of calls that are too deep for the format."""
    out = bytearray()
    too_deep = 0
    for time, begins, depth, name in steps:
        if depth >= MAX_DEPTH:
            too_deep += begins
            continue
        word = (_ENTRY if begins else _EXIT) | _RECORD_MAGIC << 3 | depth << 6 | symbols.address(name) << 16
        out += struct.pack("<QQ", time + shift, word)
    return bytes(out), too_deep


def _write_files(out: Path, tasks: list[tuple[str, bytes]], symbols: _Symbols) -> None:
    tids = range(_PID, _PID + len(tasks))
    lines = [f'SESS timestamp=0.000000000 pid={_PID} sid={_SESSION} exename="/{_PROGRAM}"']
    lines += [f"TASK timestamp=0.000000000 tid={tid} pid={_PID}" for tid in tids]
    (out / "task.txt").write_text("\n".join([*lines, ""]), encoding="ascii", newline="\n")
    end = _BASE + max(symbols.size(), 4096) + 4096 & ~0xFFF
    mapped = f"{_BASE:012x}-{end:012x} r-xp 00000000 00:00 0                          /{_PROGRAM}\n"
    # uftrace distinguishes kernel from user by what lies above the stack.
    mapped += "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n"
    (out / f"sid-{_SESSION}.map").write_text(mapped, encoding="ascii", newline="\n")
    (out / f"{_PROGRAM}.sym").write_text(symbols.text(), encoding="utf-8", newline="\n")
    for tid, (_, records) in zip(tids, tasks, strict=True):
        (out / f"{tid}.dat").write_bytes(records)
    names = "".join(f"{tid}\t{printable(name)}\n" for tid, (name, _) in zip(tids, tasks, strict=True))
    (out / "tracks.tsv").write_text(names, encoding="utf-8", newline="\n")
    numbers = ",".join(map(str, tids))
    info = f"exename:/{_PROGRAM}\ntaskinfo:lines=2\ntaskinfo:nr_tid={len(tasks)}\ntaskinfo:tids={numbers}\n"
    features = _TASK_SESSION | _SYMBOLS_RELATIVE | _MAX_STACK
    head = struct.pack("<8sIHBBQQHHI", b"Ftrace!\0", 4, 40, 1, 2, features, _EXE_NAME | _TASK_INFO, MAX_DEPTH, 0, 0)
    (out / "info").write_bytes(head + info.encode("ascii"))
