"""Invented boots for gates and histories: one recipe, changed at a known place by a known amount."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from bundles import make_bundle, write_table

Manifest = dict[str, object]


def slower(directory: Path, name: str, phase: str, by_ns: int, *, live: bool = False) -> Path:
    """A boot like `make_bundle` makes, whose phase, and its largest function in it, take so much longer."""
    bundle = make_bundle(directory, name=name, live=live)
    spans = pl.read_parquet(bundle / "spans.parquet")
    start = spans.filter((pl.col("kind") == "phase") & (pl.col("name") == phase))["start_ns"][0]
    at = pl.col("start_ns") > start
    here = (pl.col("kind") == "phase") & (pl.col("name") == phase)
    write_table(
        bundle,
        "spans",
        spans.with_columns(
            start_ns=pl.when(at).then(pl.col("start_ns") + by_ns).otherwise("start_ns"),
            end_ns=pl.when(at | here).then(pl.col("end_ns") + by_ns).otherwise("end_ns"),
            duration_ns=pl.when(here).then(pl.col("duration_ns") + by_ns).otherwise("duration_ns"),
        ),
    )
    marks = pl.read_parquet(bundle / "marks.parquet")
    later = pl.col("time_ns") > start
    write_table(
        bundle, "marks", marks.with_columns(time_ns=pl.when(later).then(pl.col("time_ns") + by_ns).otherwise("time_ns"))
    )
    calls = pl.read_parquet(bundle / "calls.parquet")
    if calls.height:
        largest = pl.col("node") == calls.filter(pl.col("kind") == "function").sort("self_ns")["node"][-1]
        write_table(
            bundle,
            "calls",
            calls.with_columns(self_ns=pl.when(largest).then(pl.col("self_ns") + by_ns).otherwise("self_ns")),
        )
    manifest = read(bundle)
    totals = manifest["totals"]
    assert isinstance(totals, dict)
    change(bundle, totals={**totals, "virtual_ns": totals["virtual_ns"] + by_ns})
    return bundle


def read(bundle: Path) -> Manifest:
    """The manifest of a bundle, to change it."""
    data: Manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    return data


def change(bundle: Path, **fields: object) -> Path:
    """Write other fields into a manifest; a mapping is merged."""
    manifest = read(bundle)
    for name, value in fields.items():
        before = manifest[name]
        merged = {**before, **value} if isinstance(before, dict) and isinstance(value, Mapping) else value
        manifest[name] = merged
    (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return bundle
