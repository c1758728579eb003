"""How fast records are read and imported, and in how much memory: a kernel log and a function graph, scaled up.

The log is the console of a boot recorded here with `initcall_debug`, its middle repeated with moved stamps. The
function graph is one that `--graph FILE` names (a `trace` of the kernel), repeated in the same way; without it one is
invented, of calls as deep and as long as those of a real boot, and the figures say so.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from measuring.figures import line, title

from firstlight.lab.options import RecordOptions
from firstlight.lab.record import record

_MB = 1_000_000
_STAMP = re.compile(rb"^\[ *(\d+)\.(\d{6})\]")
_GRAPH_STAMP = re.compile(rb"^ *(\d+)\.(\d{6}) \|")

_READ = """
import sys
from firstlight import _core
outcome = _core.Records([(sys.argv[1], "record", sys.argv[1], None)]).outcomes()[0]
assert outcome["error"] is None, outcome
"""


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    cpu_s: float
    peak_mb: float


def main() -> None:
    """Make the inputs, read them, import them, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs: a first impression")
    parser.add_argument("--graph", type=Path, help="a function graph of a real boot")
    chosen = parser.parse_args()
    log_mb, graph_mb = (30, 100) if chosen.quick else (300, 2_000)
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name:
        directory = Path(name)
        idle = _run([sys.executable, "-c", "from firstlight import _core"])
        console = directory / "boot.boot"
        record(RecordOptions(output=console, append="initcall_debug loglevel=8", profile=False))
        seed = (console / "raw" / "console.log").read_bytes().replace(b"\r", b"")
        _measure("kernel log with initcall_debug", directory, _scaled(seed, _STAMP, b"[%5d.%06d]"), log_mb, idle, "300")
        if chosen.graph is None:
            graph, what = _invented_graph(), "function graph, invented"
        else:
            with chosen.graph.open("rb") as file:
                graph = _scaled(file.read(20 * _MB), _GRAPH_STAMP, b"%5d.%06d |")
            what = f"function graph, {chosen.graph.name} repeated"
        _measure(what, directory, graph, graph_mb, idle, "")


def _measure(what: str, directory: Path, parts: Iterator[bytes], size_mb: int, idle: Cost, wanted: str) -> None:
    path = directory / "record.txt"
    size = lines = 0
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
            size, lines = size + len(part), lines + part.count(b"\n")
            if size >= size_mb * _MB:
                break
    title(f"{what}: {size / _MB:,.0f} MB, {lines / 1e6:.1f} million lines")
    read = _run([sys.executable, "-c", _READ, str(path)])
    output = str(directory / "out.boot")
    whole = _run([sys.executable, "-m", "firstlight", "import", str(path), "-o", output, "--force", "--json"])
    rate = max(read.cpu_s - idle.cpu_s, 1e-3)
    line("reading, MB per CPU second", f"{size / _MB / rate:,.0f}", wanted)
    line("reading, million lines per CPU second", f"{lines / 1e6 / rate:.2f}", "5" if "graph" in what else "")
    line("whole import, MB per CPU second", f"{size / _MB / whole.cpu_s:,.0f}")
    line("whole import, million lines per CPU second", f"{lines / 1e6 / whole.cpu_s:.2f}")
    line("peak memory of reading", f"{read.peak_mb:,.0f} MB")
    line("peak memory of the whole import", f"{whole.peak_mb:,.0f} MB", "< 400 MB of 2 GB" if "graph" in what else "")


def _run(words: list[str]) -> Cost:
    """CPU time and peak memory of a process of its own."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{words[1:4]} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / _MB)


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


if __name__ == "__main__":
    main()
