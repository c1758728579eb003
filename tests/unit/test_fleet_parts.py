"""Parts of boots: those of one name are added up, and lie in files by day, kind, name and boot."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from firstlight.fleet.boot_rows import merged
from firstlight.fleet.columns import SPANS
from firstlight.fleet.files import read_spans, write_spans
from firstlight.fleet.layout import init_fleet


def rows_of(*rows: tuple[int, str, str, int | None, int, int | None]) -> pl.DataFrame:
    columns = ["boot", "kind", "name", "start_ns", "duration_ns", "instructions"]
    return pl.DataFrame(rows, schema={name: SPANS[name] for name in columns}, orient="row")


def test_parts_of_one_name_are_added_up() -> None:
    given = rows_of(
        (1, "initcall", "setup", 50, 3, 7), (1, "initcall", "setup", 20, 4, 8), (1, "initcall", "setup", None, 5, None),
        (1, "probe", "setup", 9, 1, None), (2, "initcall", "setup", None, 2, 6),
    )  # fmt: skip
    assert merged(given).sort("boot", "kind").rows() == [
        (1, "initcall", "setup", 20, 12, 15, 3),
        (1, "probe", "setup", 9, 1, 0, 1),
        (2, "initcall", "setup", None, 2, 6, 1),
    ]


def test_files_have_a_day_each_and_sorted_parts(tmp_path: Path) -> None:
    fleet = init_fleet(tmp_path / "fleet")
    parts = [(boot, kind, name, 0, boot, 0) for boot in (9, 4, 7) for kind in ("phase", "initcall") for name in "ba"]
    # The last one is of a boot that is not there.
    given = merged(rows_of(*parts, (5, "phase", "a", 0, 5, 0)))
    days = pl.DataFrame({"boot": [4, 7, 8, 9], "day": ["2026-01-02", "2026-01-01", "2026-01-01", "2026-01-02"]})
    files = write_spans(fleet, given, days)
    assert [Path(file).parent.name for file in files] == ["day=2026-01-01", "day=2026-01-02"]
    assert [read_spans(fleet, [file]).select("kind", "name", "boot").rows() for file in files] == [
        [(kind, name, boot) for kind in ("initcall", "phase") for name in "ab" for boot in boots]
        for boots in ((7,), (4, 9))
    ]
