"""Kernel functions below the system calls of an invented boot with processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import firstlight
from boot_tree import PHASES
from bundles import write_table
from firstlight.analysis.processes.sliced import slice_calls


def with_call_functions(bundle: Path, too_much: str = "") -> Path:
    """Give each system call of a bundle two functions: of what it executed in a slice, the function of the call has a
    quarter by itself, one that it calls has a half, and the entry code the rest.

    What they execute is taken from the node of the tree that executed most in the slice.

    :param too_much: the name of calls whose functions execute more than the calls.
    """
    boot = firstlight.open(bundle)
    calls: list[dict[str, Any]] = boot.calls(raw_names=True).to_dicts()
    phases = {(row["node"], row["phase"]): row for row in boot.phase_calls(raw_names=True).to_dicts()}
    slices = {(row["slice"], row["node"]): row for row in boot.slice_calls(raw_names=True).to_dicts()}

    def node(parent: int, function: str, kind: str = "function") -> int:
        number = len(calls)
        empty = dict.fromkeys(("calls", "self_instructions", "total_instructions", "self_ns", "total_ns"), 0)
        calls.append(dict.fromkeys(calls[0]) | empty | {"node": number, "parent": parent, "function": function,
                                                        "kind": kind})  # fmt: skip
        phases[number, PHASES[-1]] = {
            "node": number, "phase": PHASES[-1], "calls": 0, "self_instructions": 0, "self_ns": 0
        }  # fmt: skip
        return number

    def add(part: int, number: int, count: int, executed: int) -> None:
        row = slices.setdefault((part, number), {"slice": part, "node": number, "calls": 0, "self_instructions": 0})
        for each in (calls[number], phases[number, PHASES[-1]], row):
            each["calls"] += count
            each["self_instructions"] += executed
            if "self_ns" in each:
                each["self_ns"] += executed

    entry = node(node(0, "entry_SYSCALL_64", "syscall"), "do_syscall_64")
    functions: dict[str, tuple[int, int]] = {}
    made = slice_calls(boot).group_by("slice", "name").agg(pl.col("began", "own").sum()).sort("slice", "name")
    for part, name, began, own in made.filter(pl.col("own") > 0).iter_rows():
        if name not in functions:
            outer = node(entry, f"__x64_sys_{name}")
            functions[name] = outer, node(outer, f"do_{name}")
        there = [number for each, number in slices if each == part and (number, PHASES[-1]) in phases]
        donor = max(there, key=lambda number: slices[part, number]["self_instructions"])
        half = own * 2 if name == too_much else own // 2
        for number, executed in zip(functions[name], (own // 4, half), strict=True):
            add(part, number, began, executed)
            add(part, donor, 0, -executed)
    for row in calls:
        row |= {"total_instructions": row["self_instructions"], "total_ns": row["self_ns"]}
    for row in reversed(calls[1:]):
        for figure in ("total_instructions", "total_ns"):
            calls[row["parent"]][figure] += row[figure]
    for table, rows in (("calls", calls), ("phase_calls", phases.values()), ("slice_calls", slices.values())):
        schema = boot.table(table).schema
        write_table(bundle, table, pl.DataFrame(list(rows), schema=schema))
    firstlight.open(bundle).check_sums()
    return bundle
