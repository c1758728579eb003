"""How fast records are read, on one core: a function graph, kernel logs, a KFT log to kd's table.

What is measured is the CPU time of the reading thread from a text in memory to its evidence (spans, lines, trees,
tables), by `crates/formats/examples/read_rate.rs`. The graph is that of a boot which is recorded first (some minutes),
or of `--graph FILE` (a `trace` of the kernel), repeated. Other work on the machine makes figures worse, never better:
the best of the runs stands beside the median.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from measuring.figures import line, title
from measuring.records import MB, Large, function_graph, kernel_log, kft_log

_ROOT = Path(__file__).resolve().parents[1]
_EXAMPLE = ["cargo", "run", "--quiet", "--release", "-p", "firstlight-formats", "--example", "read_rate", "--"]


def main() -> None:
    """Make each input, read it, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs, fewer runs: a first impression")
    parser.add_argument("--graph", type=Path, help="repeat this function graph of a boot")
    chosen = parser.parse_args()
    size, rows, runs = (20 * MB, 100_000, 3) if chosen.quick else (100 * MB, 1_000_000, 15)
    title("Reading of text in memory, CPU time of one thread")
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name:
        directory = Path(name)
        graph = function_graph(directory, size, chosen.graph)
        _rate(graph, "million lines per CPU second", graph.lines / 1e6, runs, "at least 5")
        for initcalls in (True, False):
            log = kernel_log(directory, size, initcalls)
            _rate(log, "MB per CPU second", log.size / MB, runs, "at least 300")
        kft = kft_log(directory, rows)
        seconds = _seconds(kft, runs)
        line(
            f"{kft.what} to kd's table, CPU seconds", _spread(seconds, min(seconds), 3), "less than 1 of a million rows"
        )


def _rate(large: Large, unit: str, amount: float, runs: int, wanted: str) -> None:
    line(f"{large.what}, {large.size / MB:.0f} MB", "")
    rates = [amount / seconds for seconds in _seconds(large, runs)]
    line(f"  {unit}", _spread(rates, max(rates), 2 if amount < 50 and "lines" in unit else 0), wanted)


def _spread(values: list[float], best: float, places: int) -> str:
    low, high, median = min(values), max(values), statistics.median(values)
    figures = f"median {median:.{places}f}, best {best:.{places}f}"
    return f"{figures} ({low:.{places}f} to {high:.{places}f}, {len(values)} runs)"


def _seconds(large: Large, runs: int) -> list[float]:
    """CPU seconds of each reading."""
    command = [*_EXAMPLE, str(large.path), "--times", str(runs), "--json"]
    done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE)
    return [float(seconds) for seconds in json.loads(done.stdout)["cpu_s"]]


if __name__ == "__main__":
    main()
