"""Selections of time on a report page against Python's tables for the same interval."""

from __future__ import annotations

import random

import polars as pl

from browser.report_page import Report
from firstlight.analysis.processes.process_stacks import process_stacks
from firstlight.api import Boot
from firstlight.render.page.process_tree import folded_processes, process_tree
from firstlight.render.page.tree import fold

UNITS = {"instructions": "instructions", "time": "ns"}


def check_selections(report: Report, boot: Boot, number: int) -> None:
    """Compare interval, functions and nodes of random selections; every figure must be equal."""
    chance = random.Random(24)
    end = boot.manifest.totals.virtual_ns or 0
    tree = fold(boot.calls())
    places = pl.DataFrame({"node": boot.calls()["node"], "place": tree.place, "counted": tree.counted})
    for _ in range(number):
        start, stop = sorted(chance.sample(range(end), 2))
        script = "([start, stop]) => document.getElementById('functions').firstlight.between(start, stop)"
        page = report.page.evaluate(script, [start, stop])
        chosen = boot.interval(start, stop)
        for field in ("start_ns", "end_ns", "instructions", "idle_ns"):
            assert page[field] == getattr(chosen, field), field
        shown = {(row["name"], row["kind"]): row for row in page["functions"]}
        table = boot.functions(between=(start, stop))
        names = [f"{name} [{module}]" if module else name for name, module in table.select("function", "module").rows()]
        smaller = next((row for row in page["functions"] if row["kind"] == "folded"), None)
        small = {"count": 0, "self_instructions": 0, "self_ns": 0}
        for name, row in zip(names, table.iter_rows(named=True), strict=True):
            there = shown.pop((name, row["kind"]), None)
            if there is None:
                small = {column: figure + row[column] for column, figure in small.items()}
                continue
            assert there["count"] == row["count"], name
            for unit, suffix in UNITS.items():
                assert there["self"][unit] == row[f"self_{suffix}"], name
                assert there["total"][unit] == row[f"total_{suffix}"], name
        # The functions without a row of their own together are one row.
        assert [name for name, kind in shown if kind != "folded"] == []
        together = {"count": 0, "self": {"instructions": 0, "time": 0}} if smaller is None else smaller
        assert together["count"] == small["count"]
        assert together["self"] == {"instructions": small["self_instructions"], "time": small["self_ns"]}
        nodes = boot.interval_calls(start, stop).join(places, on="node", how="inner")
        entries = pl.when("counted").then("calls").otherwise(0)
        sums = nodes.group_by("place").agg(
            entries.sum().alias("calls"), pl.col("self_instructions").sum(), pl.col("self_ns").sum()
        )
        size = len(tree.parent)
        for field, column in (("calls", "calls"), ("instructions", "self_instructions"), ("time", "self_ns")):
            expected = [0] * size
            for place, figure in sums.select("place", column).iter_rows():
                expected[place] = figure
            assert page["nodes"][field] == expected, field


def check_process_selections(report: Report, boot: Boot, number: int) -> None:
    """Compare processes and user functions of random selections; every figure must be equal."""
    chance = random.Random(25)
    end = boot.manifest.totals.virtual_ns or 0
    tree = process_tree(boot)
    folded = folded_processes(tree)
    names = boot.user_functions().select("name", "file").rows()
    for _ in range(number):
        start, stop = sorted(chance.sample(range(end // 2, end), 2))
        script = "([start, stop]) => document.getElementById('user-functions').firstlight.between(start, stop)"
        page = report.page.evaluate(script, [start, stop])
        chosen = boot.interval(start, stop)
        assert (page["start_ns"], page["end_ns"]) == (chosen.start_ns, chosen.end_ns)
        expected = {name: [0] * len(folded.parent) for name in ("calls", "instructions", "time")}
        for stack in process_stacks(boot, chosen):
            node = tree.place(stack.frames)
            place = folded.place[node]
            expected["calls"][place] += stack.calls if folded.counted[node] else 0
            expected["instructions"][place] += stack.instructions
            expected["time"][place] += stack.ns
        # What functions executed that are known is theirs.
        for _, node, calls, executed in tree.parts.filter(
            pl.col("slice").is_between(chosen.first, chosen.last)
        ).iter_rows():
            place = folded.place[node]
            expected["calls"][place] += calls if folded.counted[node] else 0
            expected["instructions"][place] += executed
            expected["time"][place] += executed << (boot.manifest.clock.icount_shift or 0)
        assert page["nodes"] == expected
        rows = boot.user_functions(between=(start, stop)).with_columns(
            pl.col("calls", "call_instructions").fill_null(0)
        )
        left = {(row["name"], row["file"]): row for row in rows.iter_rows(named=True)}
        small = {"self": 0, "calls": 0, "below": 0}
        for row in page["functions"]:
            figures = {name: row[name] for name in small}
            if row["row"] == len(names):
                small = figures
                continue
            there = left.pop(names[row["row"]])
            assert figures == {
                "self": there["self_instructions"], "calls": there["calls"], "below": there["call_instructions"],
            }  # fmt: skip
        columns = {"self": "self_instructions", "calls": "calls", "below": "call_instructions"}
        assert small == {name: sum(row[column] for row in left.values()) for name, column in columns.items()}


def check_counts(shown: dict[str, str], expected: pl.DataFrame) -> None:
    """Compare the column *Count* of the page with a function table; small functions are one row of the page."""
    small = sum(int(count.replace(",", "")) for name, count in shown.items() if name.endswith("smaller functions)"))
    left = 0
    for function, module, count in expected.select("function", "module", "count").iter_rows():
        name = f"{function} [{module}]" if module else function
        if name in shown:
            assert shown[name] == f"{count:,}", name
        else:
            left += count
    assert left == small
