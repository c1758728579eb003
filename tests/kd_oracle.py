"""The kd table computed slowly and plainly from the tables of a bundle, to hold the engine's against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

Row = dict[str, Any]

FIGURES = ("count", "total_instructions", "total_ns", "self_instructions", "self_ns")


def kd_table(bundle: Path, phase: str | None = None, under: str | None = None) -> list[Row]:
    """One row for each function and module; a recursion counts once in the totals."""
    nodes: list[Row] = pl.read_parquet(bundle / "calls.parquet").sort("node").to_dicts()
    if phase is not None:
        there = pl.read_parquet(bundle / "phase_calls.parquet").filter(pl.col("phase") == phase)
        by_node = {row["node"]: row for row in there.to_dicts()}
        nothing = {"calls": 0, "self_instructions": 0, "self_ns": 0}
        for node in nodes:
            node.update({name: by_node.get(node["node"], nothing)[name] for name in nothing})
    for node in nodes:
        above = nodes[node["parent"]] if node["parent"] is not None else None
        node["above"] = [] if above is None else [*above["above"], above["node"]]
        names = [nodes[number]["function"] for number in node["above"]] + [node["function"]]
        node["inside"] = under is None or under in names
    for unit in ("instructions", "ns"):
        for node in nodes:
            node[f"total_{unit}"] = 0
        for node in nodes:
            for number in [*node["above"], node["node"]]:
                nodes[number][f"total_{unit}"] += node[f"self_{unit}"]
    rows: dict[tuple[str, str | None], Row] = {}
    for node in (node for node in nodes if node["inside"]):
        key = node["function"], node["module"]
        row = rows.setdefault(key, {"function": key[0], "module": key[1], "callees": {}, **dict.fromkeys(FIGURES, 0)})
        row["count"] += node["calls"]
        recursion = any((nodes[n]["function"], nodes[n]["module"]) == key and nodes[n]["inside"] for n in node["above"])
        for unit in ("instructions", "ns"):
            row[f"self_{unit}"] += node[f"self_{unit}"]
            row[f"total_{unit}"] += 0 if recursion else node[f"total_{unit}"]
        parent = nodes[node["parent"]] if node["parent"] is not None else None
        if parent is not None and parent["inside"]:
            callees = rows[parent["function"], parent["module"]]["callees"]
            callees[key] = callees.get(key, 0) + node["calls"]
    return [row for row in rows.values() if row["count"] or row["total_ns"]]
