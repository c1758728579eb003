"""Large records: a kernel log and a function graph, scaled up from real ones; calls, also invented."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from firstlight.lab.run.record import record
from firstlight.recipe.options import RecordOptions

MB = 1_000_000
_STAMP = re.compile(rb"^\[ *(\d+)\.(\d{6})\]")
_GRAPH_STAMP = re.compile(rb"^ *(\d+)\.(\d{6}) \|")
#: So much of a real graph is repeated.
_SEED_BYTES = 20 * MB
#: Calls in a KFT log are nested no deeper than this.
_KFT_DEPTH = 40


@dataclass(frozen=True)
class Large:
    """A record that was written."""

    path: Path
    what: str
    size: int
    lines: int


def kernel_log(directory: Path, size: int, initcalls: bool = True) -> Large:
    """The console of a boot recorded here, its middle repeated with moved stamps.

    :param size: bytes at least.
    :param initcalls: whether the kernel prints each initcall's begin and end (`initcall_debug`).
    """
    name = "initcalls" if initcalls else "plain"
    boot = directory / f"{name}.boot"
    append = "loglevel=8" + (" initcall_debug" if initcalls else "")
    record(RecordOptions(output=boot, append=append, profile=False))
    seed = (boot / "raw" / "console.log").read_bytes().replace(b"\r", b"")
    what = "kernel log " + ("with initcall_debug" if initcalls else "without initcalls")
    return _written(directory / f"{name}.log", what, _scaled(seed, _STAMP, b"[%5d.%06d]"), size)


def function_graph(directory: Path, size: int, real: Path | None = None) -> Large:
    """A function graph of a boot, its middle repeated with moved stamps: *real*, or one that is recorded here."""
    trace = real or _recorded_graph(directory)
    with trace.open("rb") as file:
        parts = _scaled(file.read(_SEED_BYTES), _GRAPH_STAMP, b"%5d.%06d |")
    return _written(directory / "graph.txt", f"function graph, {trace.name} repeated", parts, size)


def scattered_graph(directory: Path, size: int) -> Large:
    """An invented function graph of the worst shape: by chance, so that nearly every call is a context of its own."""
    return _written(directory / "scattered.txt", "function graph, calls by chance", _invented_graph(), size)


def kft_log(directory: Path, rows: int) -> Large:
    """A KFT log of so many rows: invented calls within one another, some of which have no end."""
    return _written(directory / "kft.log", f"KFT log of {rows:,} rows", _invented_kft(rows), None)


def _recorded_graph(directory: Path) -> Path:
    boot = directory / "graph.boot"
    commands = (
        "mkdir -p /t /run/firstlight/export",
        "mount -t tracefs t /t",
        "echo 0 >/t/tracing_on",
        "for each in abstime proc; do echo 1 >/t/options/funcgraph-$each; done",
        f"head -c {_SEED_BYTES} /t/trace >/run/firstlight/export/graph-of-a-boot",
        "umount /t",
    )
    append = f"ftrace=function_graph trace_buf_size={_SEED_BYTES}"
    record(RecordOptions(output=boot, append=append, profile=False, memory="1G", guest_commands=commands))
    return boot / "raw" / "guest-files" / "graph-of-a-boot"


def _written(path: Path, what: str, parts: Iterator[bytes], least: int | None) -> Large:
    size = lines = 0
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
            size, lines = size + len(part), lines + part.count(b"\n")
            if least is not None and size >= least:
                break
    return Large(path, what, size, lines)


def _scaled(text: bytes, stamp: re.Pattern[bytes], form: bytes) -> Iterator[bytes]:
    """The text, then its middle over and over, each time later by what it takes."""
    lines = text.splitlines(keepends=True)
    yield b"".join(lines[: len(lines) // 10])
    middle = []
    for each in lines[len(lines) // 10 : len(lines) * 9 // 10]:
        found = stamp.match(each)
        if found:
            middle.append((int(found[1]) * 10**6 + int(found[2]), each[found.end() :]))
    length = max(at for at, _ in middle) - min(at for at, _ in middle) + 1
    for turn in count():
        moved = ((at + turn * length, rest) for at, rest in middle)
        yield b"".join(form % divmod(at, 10**6) + rest for at, rest in moved)


def _invented_graph() -> Iterator[bytes]:
    """A function graph of a few tasks, call by call; depth and lengths as in a boot."""
    chance = random.Random(1)
    names = [f"{word}_{number}" for number in range(400) for word in ("lock", "alloc", "probe", "find", "init", "set")]
    yield (
        b"# tracer: function_graph\n#\n"
        b"#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n"
        b"#      |          |     |    |           |   |                     |   |   |   |\n"
    )
    now = 1_000_000
    stack: list[tuple[str, int]] = []
    while True:
        part = []
        for _ in range(20_000):
            now += chance.randint(0, 2)
            at = b"%5d.%06d |   0)   swapper-1    |" % divmod(now, 10**6)
            depth = b"  " * (len(stack) + 1)
            if stack and (chance.random() < 0.25 or len(stack) > 30):
                name, began = stack.pop()
                took = b"%10.3f us" % ((now - began) + chance.random())
                part.append(at + took[-12:] + b"   |" + b"  " * (len(stack) + 1) + b"} /* " + name.encode() + b" */\n")
            elif chance.random() < 0.34:
                name = chance.choice(names)
                stack.append((name, now))
                part.append(at + b"               |" + depth + name.encode() + b"() {\n")
            else:
                name = chance.choice(names)
                part.append(at + b"   0.412 us    |" + depth + name.encode() + b"();\n")
        yield b"".join(part)


def _invented_kft(rows: int) -> Iterator[bytes]:
    """A KFT log, row by row: 5000 functions, recursion, interrupts, calls without an end, offsets and arguments."""
    chance = random.Random(1)
    names = [f"fn_{number}" for number in range(5_000)]
    yield (
        b"Logging started at 100 usec by entry to function start_kernel\nEntries not found = 2\n"
        b" Entry      Delta      PID            Function              Called At\n"
        b"--------   --------   -----   --------------------   -------------------\n"
    )
    now = 0
    open_calls = [("start_kernel", 10**12)]
    for number in range(rows):
        now += chance.randint(0, 20)
        while len(open_calls) > 1 and open_calls[-1][1] < now:
            open_calls.pop()
        caller, until = open_calls[-1]
        function = caller if chance.random() < 0.02 else chance.choice(names)
        delta = chance.randint(0, max(0, min(4_000, until - now)))
        kind = chance.random()
        shown = str(delta) if kind > 0.03 else "-1" if kind > 0.01 else "-2"
        pid = chance.choice(("0", "0", "0", "7", "12", "-1i"))
        came = caller if chance.random() < 0.9 else chance.choice(names)
        yield f"{now:8} {shown:>8} {pid:>7} {function:>25}   {came}+0x{number % 256:x}\n".encode()
        if len(open_calls) < _KFT_DEPTH:
            open_calls.append((function, now + delta))
