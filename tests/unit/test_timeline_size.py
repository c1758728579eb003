"""A page holds what fits into it: of too many bars the shortest are left out, and counted."""

from __future__ import annotations

import random

import polars as pl
import pytest

import firstlight
from bundles import write_table
from firstlight.api import Boot
from firstlight.assets import asset_path
from firstlight.render.page import boot as page
from firstlight.render.page.timeline import build
from firstlight.render.page.timeline.build import compressed, page_timeline
from imported_bundle import make_imported

BARS = 30_000


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    bundle = make_imported(tmp_path_factory.mktemp("many"))
    few = pl.read_parquet(bundle / "spans.parquet")
    chance = random.Random(1)
    one = few.filter(pl.col("kind") == "initcall").head(1)
    many = one.select(pl.exclude("start_ns", "end_ns", "duration_ns").repeat_by(BARS).explode()).with_columns(
        span=pl.int_range(BARS, dtype=pl.Int64) + few.height,
        name=pl.format("work_{}", pl.int_range(BARS) % 3000),
        kind=pl.lit("function"),
        start_ns=pl.Series([chance.randrange(4_700_000_000) for _ in range(BARS)]),
        duration_ns=pl.Series([int(chance.expovariate(1e-6)) for _ in range(BARS)]),
    )
    many = many.with_columns(end_ns=pl.col("start_ns") + pl.col("duration_ns"))
    write_table(bundle, "spans", pl.concat([few, many.select(few.columns)]))
    return firstlight.open(bundle)


def test_what_is_too_much_is_left_out_shortest_first_and_counted(boot: Boot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "LEAST_BYTES", 1000)
    path = boot.path()
    whole, _ = page_timeline(boot, path)
    least = compressed(whole) // 4
    described, columns = page_timeline(boot, path, least)
    assert compressed(described) + compressed(columns) <= least + compressed({"spans": 0, "bytes": 0, "end_ns": 0})
    track = next(track for track in described["tracks"] if track["label"] == "Functions")
    before = next(track for track in whole["tracks"] if track["label"] == "Functions")
    assert 0 < sum(track["lanes"]) < BARS
    assert before["left_out"] == 0
    assert sum(track["lanes"]) + track["left_out"] == sum(before["lanes"])
    lengths = boot.spans().filter(pl.col("kind") == "function")["duration_ns"].sort()
    assert track["left_out_ns"] == lengths.head(track["left_out"]).sum()


def test_a_timeline_always_has_its_longest_bars(boot: Boot) -> None:
    described, _ = page_timeline(boot, boot.path(), -5)
    assert described["spans"] > 1000
    assert {"Phases", "Units"} <= {track["label"] for track in described["tracks"] if sum(track["lanes"])}


def test_the_timeline_gets_what_the_rest_of_the_page_leaves(boot: Boot, monkeypatch: pytest.MonkeyPatch) -> None:
    data, columns = page.page_data(boot)
    rest = {name: part for name, part in data.items() if name != "timeline"}
    monkeypatch.setattr(build, "LEAST_BYTES", 1000)
    limit = page.FRAME_BYTES + compressed(rest) * 5 // 4 + 100_000
    monkeypatch.setattr(page, "PAGE_BYTES", limit)
    smaller, fewer = page.page_data(boot)
    assert len(fewer) < len(columns)
    assert page.FRAME_BYTES + (compressed(smaller) + compressed(fewer)) * 5 // 4 <= limit


def test_the_page_without_data_is_no_larger_than_is_reckoned() -> None:
    built = asset_path("page.html")
    assert built.stat().st_size <= page.FRAME_BYTES
