"""What a whole import takes, CPU time and peak memory, beside the reading alone: a kernel log and a function graph.

The inputs are those of `read_rate.py`, larger; `--graph FILE` names a function graph to be repeated. Beside it stands a
graph of the worst shape for memory, whose calls are drawn by chance.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measuring.figures import line, title
from measuring.records import MB, Large, function_graph, kernel_log, scattered_graph

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
    parser.add_argument("--graph", type=Path, help="repeat this function graph of a boot")
    chosen = parser.parse_args()
    log_mb, graph_mb = (30, 100) if chosen.quick else (300, 2_000)
    idle = _run([sys.executable, "-c", "from firstlight import _core"])
    inputs: tuple[tuple[Callable[[Path], Large], str], ...] = (
        (lambda directory: kernel_log(directory, log_mb * MB), ""),
        (lambda directory: function_graph(directory, graph_mb * MB, chosen.graph), "< 400 MB of 2 GB"),
        (lambda directory: scattered_graph(directory, graph_mb * MB), "< 400 MB of 2 GB"),
    )
    for make, wanted in inputs:
        with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name:
            _measure(make(Path(name)), idle, wanted)


def _measure(large: Large, idle: Cost, wanted: str) -> None:
    title(f"{large.what}: {large.size / MB:,.0f} MB, {large.lines / 1e6:.1f} million lines")
    read = _run([sys.executable, "-c", _READ, str(large.path)])
    output = str(large.path.with_suffix(".out.boot"))
    whole = _run([sys.executable, "-m", "firstlight", "import", str(large.path), "-o", output, "--force", "--json"])
    rate = max(read.cpu_s - idle.cpu_s, 1e-3)
    line("reading from the file, MB per CPU second", f"{large.size / MB / rate:,.0f}")
    line("reading from the file, million lines per CPU second", f"{large.lines / 1e6 / rate:.2f}")
    line("whole import, MB per CPU second", f"{large.size / MB / whole.cpu_s:,.0f}")
    line("whole import, million lines per CPU second", f"{large.lines / 1e6 / whole.cpu_s:.2f}")
    line("peak memory of reading", f"{read.peak_mb:,.0f} MB")
    line("peak memory of the whole import", f"{whole.peak_mb:,.0f} MB", wanted)


def _run(words: list[str]) -> Cost:
    """CPU time and peak memory of a process of its own."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{words[1:4]} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MB)


if __name__ == "__main__":
    main()
