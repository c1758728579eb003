"""Where two recordings begin to differ, to the column."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from bundles import make_bundle
from firstlight.bundle.tables import SCHEMAS, read_table
from firstlight.cache import file_digest
from firstlight.lab.run.table_diff import first_difference
from firstlight.lab.run.verify import compare


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Two bundles of the same boot."""
    first = make_bundle(tmp_path, name="a.boot")
    second = tmp_path / "b.boot"
    shutil.copytree(first, second)
    return first, second


def rewrite(bundle: Path, table: str, frame: pl.DataFrame) -> None:
    """Put another table in a bundle, with a manifest that knows it."""
    path = bundle / f"{table}.parquet"
    frame.write_parquet(path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["tables"][table] = {"rows": frame.height, "sha256": file_digest(path)}
    (bundle / "manifest.json").write_text(json.dumps(manifest))


def test_the_same_boot_is_equal_in_every_table(twins: tuple[Path, Path]) -> None:
    verdict = compare(*twins)
    assert verdict.equal
    assert set(verdict.tables) == set(SCHEMAS)
    assert verdict.totals["instructions"] is not None


def test_the_first_differing_row_is_shown_with_both_values(twins: tuple[Path, Path]) -> None:
    first, second = twins
    calls = read_table(second, "calls")
    last = calls.height - 1
    changed = calls.with_columns(
        calls=pl.when(pl.col("node").is_in([5, last])).then(pl.col("calls") + 1).otherwise(pl.col("calls"))
    )
    rewrite(second, "calls", changed)
    verdict = compare(first, second)
    assert not verdict.equal
    (difference,) = verdict.differences
    was = calls["calls"][5]
    assert (difference.table, difference.row, difference.differing_rows) == ("calls", 5, 2)
    assert difference.columns == {"calls": (was, was + 1)}
    assert difference.describe() == f"`calls` differs in 2 rows, first in row 5: calls {was:,} became {was + 1:,}"


def test_a_null_differs_from_a_value_and_equals_a_null(twins: tuple[Path, Path]) -> None:
    first, second = twins
    log = read_table(second, "log")
    unknown = log.with_columns(time_ns=pl.lit(None, dtype=pl.Int64))
    rewrite(second, "log", unknown)
    difference = first_difference(first, second, "log")
    assert difference is not None
    was = log["time_ns"][difference.row]
    assert was is not None
    assert difference.columns == {"time_ns": (was, None)}
    rewrite(first, "log", unknown)
    assert first_difference(first, second, "log") is None


def test_a_table_that_ends_early_differs_where_it_ends(twins: tuple[Path, Path]) -> None:
    first, second = twins
    facts = read_table(second, "facts")
    rewrite(second, "facts", facts.head(facts.height - 1))
    difference = first_difference(first, second, "facts")
    assert difference is not None
    assert difference.row == facts.height - 1
    assert difference.rows == (facts.height, facts.height - 1)
    assert difference.columns["fact"] == (facts["fact"][-1], None)


def test_other_bytes_with_the_same_rows_are_no_difference(twins: tuple[Path, Path]) -> None:
    first, second = twins
    read_table(second, "calls").write_parquet(second / "calls.parquet", compression="uncompressed")
    assert first_difference(first, second, "calls") is None


def test_boots_that_ended_differently_are_not_equal(tmp_path: Path) -> None:
    first = make_bundle(tmp_path, name="a.boot")
    second = make_bundle(tmp_path, name="b.boot", failed=True)
    verdict = compare(first, second)
    assert verdict.outcome is not None
    assert verdict.outcome.startswith("it was complete, now it is failed")
