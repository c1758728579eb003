"""Exports of a synthetic boot of a million spans: CPU time of the whole command, as a person runs it."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring.figures import arguments, line, spread, title

from firstlight._core import write_table
from firstlight.bundle.manifest import SCHEMA_VERSION
from firstlight.bundle.provenance import PROVENANCE, split, text_of
from firstlight.bundle.tables import SCHEMAS
from firstlight.cache import file_digest

SPANS = 1_000_000
#: What is nested in one another, four deep, on eight tasks.
_DEPTH, _TASKS, _NAMES = 4, 8, 20_000


def main() -> None:
    """Perfetto is what is bounded; the others are for comparison."""
    options = arguments(__doc__ or "")
    runs = 1 if options.quick else 3
    formats = ["perfetto"] if options.quick else ["perfetto", "speedscope", "firefox", "uftrace", "csv", "json", "svg"]
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        bundle = synthetic(Path(directory), SPANS)
        title(f"Export of {SPANS:,} spans, user and system time of the whole command")
        for name in formats:
            out = Path(directory) / f"out-{name}"
            costs = [cost(bundle, name, out) for _ in range(runs if name == "perfetto" else 1)]
            line(name, spread(costs, "s CPU"), "below 2 s CPU" if name == "perfetto" else "")
        size = (Path(directory) / "out-perfetto").stat().st_size
        line("size of the trace", f"{size / 1e6:.0f} MB")


def cost(bundle: Path, to: str, out: Path) -> float:
    """CPU seconds of one export, all of the process's start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "firstlight", "export", str(bundle), "--to", to, "-o", str(out), "--force"]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def synthetic(directory: Path, count: int) -> Path:
    """A bundle of *count* nested spans of a thousand and more names, with grades, sources and attributes."""
    bundle = directory / "million.boot"
    bundle.mkdir()
    rows: dict[str, list[Any]] = {column: [] for column in SCHEMAS["spans"]}
    for span in range(count):
        depth, task = span % _DEPTH, span // _DEPTH % _TASKS
        start = span // _DEPTH // _TASKS * 1_000_000 + depth * 100_000
        length = 900_000 - 2 * depth * 100_000
        values = {
            "span": span,
            "parent": span - 1 if depth else None,
            "kind": "initcall" if depth == 0 else "function",
            "name": f"function_{span * 7919 % _NAMES}",
            "track": f"task {task + 1}",
            "level": "device" if depth == 0 else None,
            "start_ns": start,
            "end_ns": start + length,
            "duration_ns": length,
            "grade": "good" if span % 7 else "coarse",
            "reason": None if span % 7 else "the clock's step is 4 ms",
            "source": "raw/trace.txt",
            "attributes": f'{{"returned":"{span % 100}"}}' if depth == 0 else None,
        }
        for column, values_so_far in rows.items():
            values_so_far.append(values.get(column))
    write_table("spans", rows, str(bundle))
    for table, columns in SCHEMAS.items():
        if table != "spans":
            write_table(table, {column: [] for column in columns}, str(bundle))
    for name, part in zip(("manifest.json", PROVENANCE), split(_manifest(bundle, count)), strict=True):
        (bundle / name).write_bytes(text_of(part))
    return bundle


def _manifest(bundle: Path, count: int) -> dict[str, Any]:
    digest = file_digest(bundle / "spans.parquet")
    return {
        "schema_version": SCHEMA_VERSION, "tool": {"name": "benches/export_rate.py", "version": "1"},
        "mode": "imported", "status": "complete", "failure": None,
        "clock": {"kind": "imported", "unit": "ns", "origin": "kernel_start"}, "recipe": {}, "digests": {},
        "versions": {}, "completeness": {"complete": True}, "invariants": {},
        "totals": {"instructions": None, "virtual_ns": None, "idle_ns": None},
        "tables": {"spans": {"rows": count, "sha256": digest}}, "reproduce": "", "recorded_at": "", "host": {},
    }  # fmt: skip


if __name__ == "__main__":
    main()
