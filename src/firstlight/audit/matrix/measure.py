"""Measuring one cell of the support matrix, or finding that it was measured before."""

from __future__ import annotations

import dataclasses
import json
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firstlight.assets import asset_path
from firstlight.audit.agreement import LIMITS, AgreedShare, AuditDifference, Measure
from firstlight.audit.boot import ORACLE, audit
from firstlight.audit.matrix.cells import Cell
from firstlight.cache import cache_dir, digest_of, file_digest
from firstlight.errors import FirstlightError
from firstlight.lab.host.progress import Progress
from firstlight.lab.kernel.kernel import architecture_of_kernel
from firstlight.lab.qemu.emulator import find_qemu
from firstlight.lab.run.record import record
from firstlight.lab.run.resolve import resolve
from firstlight.processors import usable_processors
from firstlight.recipe.options import RecordOptions

_KIND = "audits"
_VERSION = "2"
_EXCEPTIONS = 5
"""So many of each measure are kept."""


@dataclass(frozen=True)
class Named:
    """An exception of a cell."""

    measure: Measure
    what: str
    recorded: int
    observed: int
    cause: str | None


@dataclass(frozen=True)
class MatrixRow:
    """What came of one cell."""

    kernel: str
    processor: str
    mitigations: str
    qemu: str
    refused: str | None = None
    """Why there is nothing to compare."""
    shares: tuple[AgreedShare, ...] = ()
    exceptions: tuple[Named, ...] = ()
    exceptions_of: dict[str, int] = field(default_factory=dict)
    """How many there are of each measure."""
    unexplained: int = 0
    """How many of all have no known cause."""
    from_cache: bool = False

    @property
    def reached(self) -> bool:
        """Whether the agreement is within its limits."""
        return self.refused is None and all(share.reached for share in self.shares)

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            **{key: getattr(self, key) for key in ("kernel", "processor", "mitigations", "qemu", "refused", "reached")},
            "shares": [{"measure": each.measure.value, "equal": each.equal, "of": each.of} for each in self.shares],
            "exceptions": [{**dataclasses.asdict(each), "measure": each.measure.value} for each in self.exceptions],
            "exceptions_of": self.exceptions_of,
            "unexplained": self.unexplained,
        }


Record = Callable[[RecordOptions, Progress], object]
"""Records a boot at the `output` of the options, as `record` does."""
_OBSERVING = threading.Semaphore(max(1, usable_processors() // 2))
"""Boots with the second observer at a time, where other machines record many: one takes more than a processor."""


def measure(cell: Cell, progress: Progress, *, fresh: bool = False, make: Record = record) -> MatrixRow:
    """Record a cell's boot, audit it, and say what came of it; what was measured with the same digests is read.

    A boot that cannot be is a row that says why.

    :param fresh: measure again.
    :param make: records the boot; the second observer always runs on this machine.
    """
    row = MatrixRow(cell.release, cell.processor, cell.mitigations.label, "")
    try:
        row = dataclasses.replace(
            row, qemu=_version(find_qemu(architecture_of_kernel(cell.kernel), cell.qemu).version_text)
        )
        with tempfile.TemporaryDirectory(prefix="firstlight-matrix-") as folder:
            options = RecordOptions(
                output=Path(folder) / "cell.boot",
                kernel=cell.kernel,
                cpu=cell.processor,
                append=cell.mitigations.value,
                qemu=cell.qemu,
            )
            kept = cache_dir() / _KIND / f"{_key(options, progress)}.json"
            known = None if fresh else _read(kept)
            if known is not None:
                return dataclasses.replace(known, from_cache=True)
            row = _measured(row, options, progress, make)
            kept.parent.mkdir(mode=0o700, exist_ok=True)
            _write(kept, row)
            return row
    except FirstlightError as error:
        return dataclasses.replace(row, refused=error.message)


def _measured(row: MatrixRow, options: RecordOptions, progress: Progress, make: Record) -> MatrixRow:
    try:
        make(options, progress)
        with _OBSERVING:
            found = audit(options.output, progress)
    except FirstlightError as error:
        # Where it was has no meaning to others.
        return dataclasses.replace(row, refused=error.message)
    named, counts = _named(found.causes)
    return dataclasses.replace(
        row,
        shares=tuple(found.agreement.shares.values()),
        exceptions=named,
        exceptions_of=counts,
        unexplained=sum(cause is None for _, cause in found.causes),
    )


def _named(pairs: Sequence[tuple[AuditDifference, str | None]]) -> tuple[tuple[Named, ...], dict[str, int]]:
    named: list[Named] = []
    counts: dict[str, int] = {}
    for measure_ in LIMITS:
        of = [pair for pair in pairs if pair[0].measure is measure_]
        counts[measure_.value] = len(of)
        named += [Named(measure_, each.what, each.recorded, each.observed, cause) for each, cause in of[:_EXCEPTIONS]]
    return tuple(named), counts


def _key(options: RecordOptions, progress: Progress) -> str:
    """The digest of all that decides what a cell says, the observers among it."""
    inputs = resolve(options, progress)
    recipe = inputs.recipe
    parts = [f"{name}={digest}" for name, digest in sorted(inputs.digests.items())]
    return digest_of(
        _VERSION,
        *parts,
        file_digest(asset_path(ORACLE)),
        recipe.machine,
        recipe.cpu,
        recipe.command_line,
        str(recipe.memory),
    )


def _version(text: str) -> str:
    """QEMU's version as a number.

    >>> _version("QEMU emulator version 7.2.22 (Debian 1:7.2)")
    '7.2.22'
    """
    return text.partition("version ")[2].split(" ")[0] or text


def _write(path: Path, row: MatrixRow) -> None:
    temporary = path.with_suffix(".partial")
    temporary.write_text(json.dumps(row.data()), encoding="utf-8")
    temporary.rename(path)


def _read(path: Path) -> MatrixRow | None:
    """A row as it was kept; none when there is none, or it is damaged."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return MatrixRow(
            kernel=data["kernel"],
            processor=data["processor"],
            mitigations=data["mitigations"],
            qemu=data["qemu"],
            refused=data["refused"],
            shares=tuple(AgreedShare(Measure(each["measure"]), each["equal"], each["of"]) for each in data["shares"]),
            exceptions=tuple(Named(**{**each, "measure": Measure(each["measure"])}) for each in data["exceptions"]),
            exceptions_of=data["exceptions_of"],
            unexplained=data["unexplained"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
