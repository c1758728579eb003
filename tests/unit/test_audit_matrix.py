"""The support matrix by workers: others record, the second observer runs here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import firstlight
from firstlight.audit.matrix import measure, run
from firstlight.audit.matrix.cells import Cell
from firstlight.audit.matrix.measure import MatrixRow
from firstlight.errors import LabError
from firstlight.experiment import boot_cache
from firstlight.lab.host.progress import Progress
from firstlight.recipe.options import RecordOptions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str | None]:
    """The processors of the boots that workers were asked for."""
    found: list[str | None] = []

    def measured(cell: Cell, progress: Progress, *, fresh: bool, make: measure.Record) -> MatrixRow:
        make(RecordOptions(tmp_path / "a.boot", kernel=cell.kernel, cpu=cell.processor, qemu=cell.qemu), progress)
        return MatrixRow(cell.release, cell.processor, cell.mitigations.label, "")

    monkeypatch.setattr(run, "matrix_kernels", lambda fresh: [(Path("vmlinuz"), "6.12.1")])
    monkeypatch.setattr(run, "measure", measured)
    monkeypatch.setattr("firstlight.lab.run.resolve.resolve", lambda options: options)
    return found


def test_workers_record_the_boots_of_the_matrix(asked: list[str | None]) -> None:
    def recorder(options: RecordOptions, inputs: Any, progress: Progress) -> None:
        asked.append(options.cpu)

    with boot_cache.recorded_by(recorder):
        rows = firstlight.audit_matrix("quick")
    assert [row.processor for row in rows] == ["qemu64-v1", "EPYC-Milan-v1", "Skylake-Client-v1", "Skylake-Client-v1"]
    assert sorted(map(str, asked)) == sorted(row.processor for row in rows)


def test_a_boot_of_another_qemu_is_recorded_here(asked: list[str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    here: list[Path | None] = []
    monkeypatch.setattr("firstlight.lab.run.record.record", lambda options, progress: here.append(options.qemu))

    def recorder(options: RecordOptions, inputs: Any, progress: Progress) -> None:
        asked.append(options.cpu)

    with boot_cache.recorded_by(recorder):
        firstlight.audit_matrix("quick", qemus=["qemu-of-mine"])
    assert asked == []
    assert here == [Path("qemu-of-mine")] * 4


def test_what_a_worker_cannot_make_is_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def make(options: RecordOptions, progress: Progress) -> None:
        raise LabError("no worker can make this boot")

    row = measure._measured(MatrixRow("6.12", "q", "default", "7"), RecordOptions(tmp_path / "a.boot"), Progress, make)  # type: ignore[arg-type]
    assert row.refused == "no worker can make this boot"
