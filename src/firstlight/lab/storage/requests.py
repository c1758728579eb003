"""What a guest asked of a disk with a model: the log of the plugin that is the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from firstlight.errors import LabError
from firstlight.lab.storage.model import StorageModel

Kind = Literal["R", "W", "F"]
_KINDS: dict[str, Kind] = {"R": "R", "W": "W", "F": "F"}


@dataclass(frozen=True)
class Request:
    """A request, in nanoseconds of the guest's clock and bytes of the disk."""

    asked_ns: int
    done_ns: int
    kind: Kind
    """`R` for a read, `W` for a write, `F` for a flush."""
    start: int
    bytes: int


def read_requests(path: Path) -> list[Request]:
    """Read the log of a disk, `raw/storage.tsv` of a bundle.

    :raises LabError: when it is missing or damaged, or says that the disk did not do as its model says.

    >>> _ = (bundle.parent / "storage.tsv").write_text("100\\t900\\tR\\t0\\t512\\n")
    >>> read_requests(bundle.parent / "storage.tsv")
    [Request(asked_ns=100, done_ns=900, kind='R', start=0, bytes=512)]
    """
    where = str(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"the disk left no log: {error}", where=where, hint="record again") from error
    requests = []
    for line in lines:
        fields = line.split("\t")
        if fields[0] == "error":
            hint = "record again; if it happens again, this QEMU cannot be used with `--storage`"
            raise LabError(f"the disk did not follow its model: {fields[-1]}", where=where, hint=hint)
        try:
            asked, done, letter, start, size = fields
            requests.append(Request(int(asked), int(done), _KINDS[letter], int(start), int(size)))
        except (ValueError, KeyError) as error:
            raise LabError("the log of the disk is damaged", where=where, hint="record again") from error
    return requests


def busy_ns(requests: Sequence[Request]) -> int:
    """How long the disk was busy: it serves one request after the other.

    >>> busy_ns([Request(0, 100, "R", 0, 512), Request(50, 180, "R", 512, 512), Request(300, 350, "F", 0, 0)])
    230
    """
    busy, free = 0, 0
    for each in requests:
        busy += each.done_ns - max(each.asked_ns, free)
        free = each.done_ns
    return busy


def storage_facts(path: Path, model: StorageModel, ready_ns: int | None) -> list[tuple[str, str]]:
    """The facts of a disk: its model, and what the boot asked of it until it was ready.

    :param ready_ns: when it was ready; where that is unknown, as without a profile, the model alone is a fact: the host
        decides what the guest still asks before it is ended.
    :raises LabError: as :func:`read_requests`.
    """
    requests = read_requests(path)
    if ready_ns is None:
        return [("storage.model", model.name)]
    requests = [each for each in requests if each.done_ns <= ready_ns]
    of_kind = {kind: [each for each in requests if each.kind == kind] for kind in ("R", "W", "F")}
    figures = {
        "reads": len(of_kind["R"]),
        "read_bytes": sum(each.bytes for each in of_kind["R"]),
        "writes": len(of_kind["W"]),
        "written_bytes": sum(each.bytes for each in of_kind["W"]),
        "flushes": len(of_kind["F"]),
        "busy_ns": busy_ns(requests),
    }
    return [("storage.model", model.name), *((f"storage.{name}", str(value)) for name, value in figures.items())]
