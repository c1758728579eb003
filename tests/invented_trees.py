"""Bundles of invented trees: any tree that hypothesis draws becomes a boot of exact mode."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import strategies as st

from bundles import SCHEMA, make_bundle, settle

#: Node of an invented tree: how far above it its parent stands in the list, its function, calls, instructions, idle.
Node = tuple[int, str, int, int, int]

#: Names that a compiler appended to, and some that only look so: both sides of the engine have to take them alike.
FUNCTIONS = ["f", "f.isra.0", "f.cold", "g", "g.part.1", "kernel_init", "[user sh]", "[user f.0]", ".cold", "f..0",
             "f.llvm.12.isra", "f.isra.x", "f.0.ko", "f.\u0661"]  # fmt: skip


def trees() -> st.SearchStrategy[list[Node]]:
    """Trees of up to 40 nodes with few names, so that two of them have much in common."""
    node = st.tuples(
        st.integers(0, 40), st.sampled_from(FUNCTIONS), st.integers(0, 9), st.integers(0, 1_000), st.integers(0, 50)
    )
    return st.lists(node, min_size=1, max_size=40)


@contextmanager
def boots_of(*invented: Sequence[Node]) -> Iterator[list[Path]]:
    """One bundle for each tree; its phases are two, the second of which does what the first node did."""
    with tempfile.TemporaryDirectory() as directory:
        yield [_boot(Path(directory), f"{number}.boot", nodes) for number, nodes in enumerate(invented)]


def _boot(directory: Path, name: str, nodes: Sequence[Node]) -> Path:
    path = make_bundle(directory, name=name, append=name)
    rows: list[dict[str, Any]] = []
    for number, (above, function, calls, instructions, idle) in enumerate(nodes):
        parent = None if number == 0 else above % number
        figures = {"calls": calls, "self_instructions": instructions, "self_ns": instructions + idle,
                   "total_instructions": None, "total_ns": None}  # fmt: skip
        rows.append({"node": number, "parent": parent, "function": "[boot]" if number == 0 else function,
                     "kind": "root" if number == 0 else "function", "module": None, **figures})  # fmt: skip
    instructions = sum(node[3] for node in nodes)
    idle = sum(node[4] for node in nodes)
    end = instructions + idle
    first = nodes[0][3]
    spans = [("early", 0, first, first, 0), ("late", first, end, instructions - first, idle)]
    tables = {
        "calls": pl.DataFrame(rows, schema=SCHEMA["calls"]),
        "phase_calls": pl.DataFrame([(0, "early", 0, first, first)], schema=SCHEMA["phase_calls"], orient="row"),
        "marks": pl.DataFrame(
            [("power_on", 0, 0, 0, "reset", ""), ("ready", end, instructions, idle, "instruction", "")],
            schema=SCHEMA["marks"], orient="row",
        ),
        "spans": pl.DataFrame(
            [(number, None, "phase", phase, "boot", None, start, stop, executed, idled, stop - start, "exact", None,
              "profile", None) for number, (phase, start, stop, executed, idled) in enumerate(spans)],
            schema=SCHEMA["spans"], orient="row",
        ),
    }  # fmt: skip
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["totals"] = {"instructions": instructions, "virtual_ns": end, "idle_ns": idle}
    for table, frame in tables.items():
        file = path / f"{table}.parquet"
        frame.write_parquet(file)
        manifest["tables"][table] = {"rows": frame.height, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return settle(path)
