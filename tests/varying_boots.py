"""Invented boots that vary: the same events, at times stretched by a factor."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import polars as pl

from bundles import make_bundle, write_table

_START = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


@cache
def _pattern() -> Path:
    # Made once: what varies is written anew, the rest is copied.
    folder = Path(mkdtemp(prefix="firstlight-varying-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_bundle(folder, live=True)


def stretched(path: Path, factor: float, *, second: int, phase: str | None = None, failed: bool = False) -> Path:
    """Write a live boot whose times are those of the invented one, times a factor.

    :param second: when it was recorded, in seconds from the session's start.
    :param phase: stretch this phase alone.
    """
    shutil.copytree(_pattern(), path)
    spans, marks = (pl.read_parquet(path / f"{table}.parquet") for table in ("spans", "marks"))
    phases = spans.filter(pl.col("kind") == "phase").sort("start_ns")
    starts = phases["start_ns"].to_list()
    lengths = [round(ns * factor) if phase in (None, name) else ns
               for name, ns in phases.select("name", "duration_ns").iter_rows()]  # fmt: skip
    moved = [0, *np.cumsum(lengths).tolist()]
    ends = [*starts, phases["end_ns"].to_list()[-1]]

    def at(column: str) -> pl.Series:
        table = spans if column != "time_ns" else marks
        values = np.interp(table[column].to_numpy(), ends, moved)
        return pl.Series(column, np.rint(values).astype(np.int64), dtype=pl.Int64)

    spans = spans.with_columns(at("start_ns"), at("end_ns"))
    spans = spans.with_columns((pl.col("end_ns") - pl.col("start_ns")).alias("duration_ns"))
    write_table(path, "spans", spans)
    write_table(path, "marks", marks.with_columns(at("time_ns")))
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    manifest["totals"]["virtual_ns"] = moved[-1]
    manifest["recorded_at"] = (_START + timedelta(seconds=second)).isoformat(timespec="seconds")
    if failed:
        manifest["status"] = "failed"
        manifest["failure"] = {"reason": "panic", "detail": "no root file system", "console_tail": []}
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return path


def session(
    directory: Path,
    factors: Sequence[tuple[float, float]],
    *,
    phase: str | None = None,
    failed: Sequence[tuple[int, int]] = (),
    in_turns: bool = True,
    fixed: bool = False,
) -> tuple[Path, Path]:
    """Write two arms of boots, `a` and `b`, that were recorded in turns; which of a pair was first changes.

    :param factors: of each pair, how much longer its boots took than the invented one.
    :param phase: stretch this phase alone.
    :param failed: pair and arm of boots that did not come up.
    :param in_turns: else all of one arm were recorded first.
    :param fixed: in turns, the boot of `a` is the first of every pair.
    """
    for number, pair in enumerate(factors):
        for arm, factor in enumerate(pair):
            place = 2 * number + (arm if fixed else arm ^ (number % 2)) if in_turns else arm * len(factors) + number
            name = directory / "ab"[arm] / f"{number + 1:02}.boot"
            stretched(name, factor, second=30 * place, phase=phase, failed=(number, arm) in failed)
    return directory / "a", directory / "b"


def noise(pairs: int, *, change: float = 0.0, sigma: float = 0.004, seed: int = 1) -> list[tuple[float, float]]:
    """Factors of a session with log-normal noise; the second arm is slower by *change* (0.02: 2 %)."""
    source = np.random.default_rng(seed)
    drawn = np.exp(source.normal(0.0, sigma, (pairs, 2))) * np.array([1.0, 1.0 + change])
    return [(one, other) for one, other in drawn.tolist()]
