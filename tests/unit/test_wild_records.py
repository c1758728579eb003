"""Records in the shapes of those that others made: none is rejected or split wrongly, and no figure is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from wild.records import WildRecord, records
from wild.scoring import faults

_STORED = Path(__file__).parents[1] / "fixtures/wild"
_LIST = Path(__file__).parents[2] / "benches/wild/records.toml"


@pytest.mark.parametrize("record", records(_STORED / "records.toml"), ids=lambda record: record.path)
def test_a_record_of_another_maker_is_read(record: WildRecord, tmp_path: Path) -> None:
    assert faults(record, _STORED / record.path, tmp_path) == []


def test_the_list_has_each_record_once_with_a_digest() -> None:
    listed = records(_LIST)
    assert len({record.sha256 for record in listed}) == len(listed) >= 110
    assert all(len(record.sha256) == 64 and record.repository and record.commit and record.path for record in listed)
