"""Measuring the cells of the support matrix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from firstlight.audit.matrix.cells import Cell, Extent, cells
from firstlight.audit.matrix.kernels import matrix_kernels
from firstlight.audit.matrix.measure import MatrixRow, Record, measure
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.kernel import open_kernel
from firstlight.lab.run.record import record

ForEach = Callable[[Callable[[int], None], Iterable[int]], None]


def _one_by_one(call: Callable[[int], None], numbers: Iterable[int]) -> None:
    for number in numbers:
        call(number)


def matrix(
    extent: Extent,
    progress: Callable[[], Progress],
    *,
    kernels: Sequence[Path] = (),
    processors: Sequence[str] = (),
    qemus: Sequence[Path] = (),
    fresh: bool = False,
    make: Record = record,
    for_each: ForEach = _one_by_one,
) -> list[MatrixRow]:
    """Record and audit every cell; one that was measured with the same digests is read.

    :param progress: makes what hears how one boot goes on.
    :param kernels: in place of those that the distribution offers.
    :param processors: in place of those of the matrix.
    :param qemus: in place of the machine's own.
    :param fresh: measure every cell again.
    :param make: records the boot of a cell; the second observer always runs on this machine.
    :param for_each: calls something for each number, perhaps several at once.
    :raises LabError: when a kernel is missing or cannot be downloaded.
    """
    found = [(path, open_kernel(path).release or path.name) for path in kernels] or matrix_kernels(fresh=fresh)
    made = cells(extent, found, list(qemus) or [None], list(processors) or None)
    rows: dict[int, MatrixRow] = {}

    def one(number: int) -> None:
        rows[number] = measure(made[number], progress(), fresh=fresh, make=make)
        _tell(len(rows), len(made), made[number], rows[number])

    for_each(one, range(len(made)))
    return [rows[number] for number in range(len(made))]


def _tell(number: int, of: int, cell: Cell, row: MatrixRow) -> None:
    verdict = row.refused or ("agrees" if row.reached else "below a limit")
    before = ", measured before" if row.from_cache else ""
    where = f"{cell.release} {cell.processor} {cell.mitigations.label}, QEMU {row.qemu or 'not found'}"
    print(f"[{number}/{of}] {where}: {verdict}{before}", file=sys.stderr, flush=True)
