"""Selections of time on a report page against Python's tables for the same interval."""

from __future__ import annotations

import random

import polars as pl

from browser.report_page import Report
from firstlight.bundle.boot import Boot
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
