"""Opening a bundle: what is not a bundle, is newer or is damaged gives an error that names the file."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from bundles import SCHEMA, make_bundle, write_table
from firstlight.errors import BundleError


@pytest.fixture
def boot(tmp_path: Path) -> Path:
    return make_bundle(tmp_path)


def refusal(path: Path, use: Callable[[firstlight.Boot], object] = lambda boot: None) -> BundleError:
    """The error of opening a bundle and using it."""
    with pytest.raises(BundleError) as caught:
        use(firstlight.open(path))
    assert caught.value.exit_code == 1
    return caught.value


def change_manifest(boot: Path, **fields: Any) -> None:
    path = boot / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_a_path_where_nothing_is(tmp_path: Path) -> None:
    error = refusal(tmp_path / "no.boot")
    assert error.message == "no such bundle"
    assert error.where == str(tmp_path / "no.boot")
    assert error.hint == f"`firstlight record -o {error.where}` records one"


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.boot").write_text("text")
    assert refusal(tmp_path / "a.boot").message == "not a boot bundle: it is a file"


def test_a_directory_without_manifest(tmp_path: Path) -> None:
    assert refusal(tmp_path).message == "not a boot bundle: it has no manifest"


def test_a_newer_schema_is_refused_before_anything_else_is_looked_at(boot: Path) -> None:
    (boot / "manifest.json").write_text('{"schema_version": 7, "clocks": []}')
    error = refusal(boot)
    assert error.message == "the bundle has schema version 7, this Firstlight reads up to 4"
    assert error.hint == "update Firstlight"


@pytest.mark.parametrize("version", [None, "1", True, 1.0])
def test_a_manifest_that_names_no_schema_version(boot: Path, version: object) -> None:
    change_manifest(boot, schema_version=version)
    assert "names no schema version" in refusal(boot).message


def test_a_manifest_that_is_cut_off_says_where(boot: Path) -> None:
    path = boot / "manifest.json"
    path.write_text('{"schema_version": 1,\n "tool": ')
    error = refusal(boot)
    assert error.where == f"{path}:2:10"
    assert error.message.startswith("the manifest is damaged")


@pytest.mark.parametrize("text", ["[1]", "null", '"text"', "[" * 100_000])
def test_a_manifest_that_is_something_else(boot: Path, text: str) -> None:
    (boot / "manifest.json").write_text(text)
    assert "manifest" in refusal(boot).message


def test_a_manifest_that_is_not_text(boot: Path) -> None:
    (boot / "manifest.json").write_bytes(b"\xff\xfe{")
    assert refusal(boot).message.startswith("the manifest cannot be read")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"mode": "roughly"}, "`mode`"),
        ({"totals": {"instructions": "1", "virtual_ns": 1, "idle_ns": 0}}, "`totals.instructions`"),
        ({"surprise": 1}, "`surprise`"),
        ({"failure": {"reason": "boredom", "detail": "", "console_tail": []}}, "`failure.reason`"),
    ],
)
def test_a_field_that_the_format_does_not_allow_is_named(boot: Path, fields: dict[str, Any], named: str) -> None:
    change_manifest(boot, **fields)
    assert named in refusal(boot).message


@pytest.mark.parametrize("table", SCHEMA)
def test_a_missing_table_is_named_when_it_is_asked_for(boot: Path, table: str) -> None:
    (boot / f"{table}.parquet").unlink()
    error = refusal(boot, lambda opened: opened.table(table))
    assert error.message == f"the table `{table}` is missing"
    assert error.where == str(boot / f"{table}.parquet")


@pytest.mark.parametrize("length", [0, 3, 100, -1, -400])
def test_a_table_that_is_cut_off(boot: Path, length: int) -> None:
    path = boot / "calls.parquet"
    path.write_bytes(path.read_bytes()[:length])
    error = refusal(boot, firstlight.Boot.calls)
    assert error.message.startswith("damaged table")
    assert error.where == str(path)


def test_a_table_whose_bytes_were_changed_never_gives_a_traceback(boot: Path) -> None:
    path = boot / "calls.parquet"
    whole = path.read_bytes()
    refusals = []
    for place in range(0, len(whole), len(whole) // 150):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            firstlight.open(boot).calls()
        except BundleError as error:
            refusals.append(error.where)
    assert set(refusals) == {str(path)}


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pl.DataFrame({"mark": ["a"]}), "column `time_ns` is missing"),
        (
            pl.DataFrame({"counter": ["a"], "time_ns": ["b"], "value": [1]}),
            "column `time_ns` is String instead of Int64",
        ),
    ],
)
def test_a_table_with_other_columns(boot: Path, frame: pl.DataFrame, said: str) -> None:
    table = "marks" if "mark" in frame.columns else "counters"
    frame.write_parquet(boot / f"{table}.parquet")
    assert said in refusal(boot, lambda opened: getattr(opened, table)()).message


def test_a_table_with_fewer_rows_than_the_manifest_promises(boot: Path) -> None:
    path = boot / "log.parquet"
    pl.read_parquet(path).head(2).write_parquet(path)
    assert "it has 2 rows instead of 5" in refusal(boot, firstlight.Boot.log).message


def test_a_table_that_is_sound_but_not_the_one_that_was_recorded(boot: Path) -> None:
    path = boot / "calls.parquet"
    pl.read_parquet(path).with_columns(self_ns=pl.col("self_ns") + 1).write_parquet(path)
    error = refusal(boot, firstlight.Boot.functions)
    assert error.message == "this table is missing, or not the one that was recorded"
    assert error.where == str(path)
    assert refusal(boot, lambda opened: opened.functions(phase="firmware")).where == str(path)


def test_a_table_that_may_not_be_read_is_not_called_damaged(boot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    opened = firstlight.open(boot)
    monkeypatch.setattr(Path, "open", deny)
    with pytest.raises(BundleError, match="cannot be read: Permission denied") as error:
        opened.log()
    assert "damaged" not in error.value.message


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 2}', "\udcff"])
def test_a_damaged_manifest_has_a_hint(boot: Path, text: str) -> None:
    (boot / "manifest.json").write_text(text, errors="surrogateescape")
    assert refusal(boot).hint == "it was truncated or changed: copy the bundle again, or record it again"


@pytest.mark.parametrize("parents", [[0, 0], [None, 1], [None, 5], [None, None], [None, -1]])
def test_a_tree_whose_parents_do_not_come_first(boot: Path, parents: list[int | None]) -> None:
    path = boot / "calls.parquet"
    calls = pl.read_parquet(path).head(2).with_columns(parent=pl.Series(parents, dtype=pl.Int64))
    calls.write_parquet(path)
    change_manifest(boot, tables={})
    assert "not a node of a tree" in refusal(boot, firstlight.Boot.calls).message


def test_a_bundle_of_the_first_schema_version_opens(boot: Path) -> None:
    """It has fewer tables and columns; what it lacks is null or without rows."""
    for table, added in (("spans", 5), ("log", 3)):
        frame = pl.read_parquet(boot / f"{table}.parquet")
        write_table(boot, table, frame.select(frame.columns[:-added]))
    manifest = json.loads((boot / "manifest.json").read_text(encoding="utf-8"))
    for table in ("links", "kd", "threads", "thread_names", "runs"):
        (boot / f"{table}.parquet").unlink()
        del manifest["tables"][table]
    of_tasks = ("runs_partition_the_kernel", "tasks_confirmed")
    invariants = {name: each for name, each in manifest["invariants"].items() if name not in of_tasks}
    change_manifest(boot, schema_version=1, tables=manifest["tables"], invariants=invariants)
    opened = firstlight.open(boot)
    assert opened.phases().height > 3
    assert opened.spans()["grade"].is_null().all()
    assert opened.log()["caller"].is_null().all()
    assert opened.links().is_empty()
    assert opened.kd().is_empty()
    for frame in (opened.threads(), opened.thread_names(), opened.runs()):
        assert frame.is_empty()
