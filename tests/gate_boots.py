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
    return make_bundle(directory, name=name, live=live, more=(phase, by_ns))


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


def without_profile(bundle: Path) -> Path:
    """The same boot as a recording without a profile has it: its first and its last mark, and one phase."""
    spans, marks = (pl.read_parquet(bundle / f"{table}.parquet") for table in ("spans", "marks"))
    phases = spans.filter(pl.col("kind") == "phase").sort("start_ns")
    sums = {name: phases[name].sum() for name in ("duration_ns", "instructions", "idle_ns")}
    only = phases.head(1).with_columns(name=pl.lit("power_on"), end_ns=phases["end_ns"].max(), **sums)
    write_table(bundle, "spans", only.cast(spans.schema))
    write_table(bundle, "marks", marks.filter(pl.col("mark").is_in(["power_on", "ready"])))
    return bundle
