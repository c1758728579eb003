"""A boot as Python sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import firstlight
from bundles import SCHEMA, make_bundle
from firstlight.bundle.tables import SCHEMAS
from firstlight.errors import BundleError


def test_every_table_has_exactly_the_columns_of_the_format(invented_boot: Path) -> None:
    boot = firstlight.open(invented_boot)
    for table, columns in SCHEMA.items():
        assert dict(boot.table(table).schema) == columns


def test_the_engine_writes_the_tables_that_python_reads() -> None:
    from firstlight import _core

    for table, columns in _core.table_schemas():
        assert [name for name, _, _ in columns] == list(SCHEMAS[table])
    assert set(dict(_core.table_schemas())) == set(SCHEMAS)


@pytest.mark.parametrize("failed", [False, True])
def test_phases_partition_the_boot(tmp_path: Path, failed: bool) -> None:
    boot = firstlight.open(make_bundle(tmp_path, failed=failed))
    phases = boot.phases()
    totals = boot.manifest.totals
    assert phases["start_ns"].to_list() == [0, *phases["end_ns"].to_list()[:-1]]
    assert phases["duration_ns"].sum() == totals.virtual_ns
    assert phases["instructions"].sum() == totals.instructions
    assert phases["idle_ns"].sum() == totals.idle_ns
    assert phases["ended"].to_list() == [True] * (phases.height - 1) + [not failed]


def test_a_live_boot_knows_no_instructions(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path, live=True))
    assert boot.phases()["instructions"].null_count() == boot.phases().height
    assert boot.phases()["duration_ns"].sum() == boot.manifest.totals.virtual_ns


def test_a_boot_without_profile_says_so_when_functions_are_asked_for(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path, profile=False))
    assert boot.calls().is_empty()
    with pytest.raises(BundleError, match="no profile: it was recorded with `--no-profile`"):
        boot.functions()
    live = firstlight.open(make_bundle(tmp_path, name="live.boot", live=True))
    with pytest.raises(BundleError, match="no profile: a live recording"):
        live.functions()


def test_a_recording_that_died_before_its_first_copy_is_not_taken_for_one_without_profile(tmp_path: Path) -> None:
    path = make_bundle(tmp_path, failed=True, profile=False)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["recipe"]["profile"] = True
    manifest["failure"]["reason"] = "qemu_died"
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match=r"the recording died \(qemu_died\) before the first copy") as error:
        firstlight.open(path).functions()
    assert "--no-profile" not in (error.value.hint or "")


@pytest.mark.parametrize("question", [{"phase": "initcalls_devcie"}, {"under": "start_kernl"}])
def test_an_unknown_name_gives_the_nearest(invented_boot: Path, question: dict[str, Any]) -> None:
    with pytest.raises(BundleError) as caught:
        firstlight.open(invented_boot).functions(**question)
    assert caught.value.hint is not None
    assert "`initcalls_device`" in caught.value.hint or "`start_kernel`" in caught.value.hint


def test_the_package_offers_what_its_documentation_names() -> None:
    assert all(getattr(firstlight, name) is not None for name in firstlight.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        getattr(firstlight, "nothing")  # noqa: B009
