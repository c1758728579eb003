"""Fits a model of a disk to the block requests in one log of a board.

The log has the kernel's events `block_rq_issue` and `block_rq_complete`. The service time of a request that was alone
in the disk is a latency, and its bytes over a bandwidth. Both are found from the medians of the sizes, so that single
outliers do not count: the bandwidth is the weighted median of the slopes between two sizes, the latency the weighted
median of what is left.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median

from firstlight.errors import MISSING_INPUT, UsageError
from firstlight.frozen import StrictModel
from firstlight.lab.storage.model import StorageModel, Transfer

_EVENT = re.compile(
    r"(?P<time>\d{1,9}\.\d{3,9})\]?:?\s+block_rq_(?P<what>issue|complete): (?P<device>\d+,\d+) (?P<kind>[A-Z]+) "
    r"(?:\d+ )?\([^)]*\) (?P<sector>\d+) \+ (?P<sectors>\d+)"
)
_SECTOR_BYTES = 512
_LONGEST_LINE = 1 << 16
_NS_PER_S = 10**9
#: Reads from which a model can be made.
_FEWEST = 20
#: Writes from which their cost is a fit of its own.
_FEWEST_WRITES = 20

HOW = (
    "boot the board with `trace_event=block:block_rq_issue,block:block_rq_complete trace_buf_size=4M`, and save "
    "`/sys/kernel/tracing/trace` after the boot"
)


@dataclass(frozen=True)
class Served:
    """A request that was alone in the disk, in nanoseconds and bytes."""

    kind: str
    """`R` for a read, `W` for a write, `F` for a flush."""
    start: int
    bytes: int
    took_ns: int
    is_sequential: bool
    """Whether it began where the one of its kind before ended."""


@dataclass(frozen=True)
class Line:
    """A fit of the cost of requests over their size."""

    latency_ns: int
    bandwidth: int
    """Bytes per second."""
    requests: int
    median_error: float
    """The median miss of a request's service time, relative to it."""


class StorageFit(StrictModel):
    """A model with what it rests on."""

    model: StorageModel
    device: str
    """`MAJOR,MINOR` of the disk."""
    reads: int
    writes: int
    flushes: int
    overlapping: int
    """Requests that were not alone in the disk, and do not count."""
    sequential_reads: int
    median_error: float
    """The median miss of a read's service time, relative to it."""
    writes_are_fitted: bool


def log_lines(path: Path) -> Iterator[str]:
    """The lines of a log; a line that is longer than any of the kernel's is several.

    :raises UsageError: when it cannot be read.
    """
    try:
        with path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                yield line.decode(errors="replace")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise UsageError(message, where=str(path), exit_code=MISSING_INPUT) from error


def served_requests(lines: Iterable[str]) -> dict[str, tuple[list[Served], int]]:
    """The requests of a log, by disk: those that were alone, and how many were not.

    >>> log = ["[    1.000100] block_rq_issue: 179,0 R 4096 () 8 + 8 [init]",
    ...        "[    1.000350] block_rq_complete: 179,0 R () 8 + 8 [0]"]
    >>> requests, overlapping = served_requests(log)["179,0"]
    >>> requests[0].took_ns, requests[0].bytes, overlapping
    (250000, 4096, 0)
    """
    waiting: dict[str, dict[tuple[int, int], tuple[int, str, bool]]] = defaultdict(dict)
    found: dict[str, list[Served]] = defaultdict(list)
    overlapping: dict[str, int] = defaultdict(int)
    ends: dict[tuple[str, str], int] = {}
    for line in lines:
        event = _EVENT.search(line)
        if event is None:
            continue
        whole, _, fraction = event["time"].partition(".")
        now = int(whole) * _NS_PER_S + int(fraction.ljust(9, "0")[:9])
        device, sector, sectors = event["device"], int(event["sector"]), int(event["sectors"])
        kind = "F" if sectors == 0 else "W" if "W" in event["kind"] else "R"
        here, key = waiting[device], (sector, sectors)
        if event["what"] == "issue":
            for other, (at, of_kind, _) in here.items():
                here[other] = (at, of_kind, False)
            here[key] = (now, kind, not here)
            continue
        if (asked := here.pop(key, None)) is None:
            continue
        at, kind, alone = asked
        start, size = sector * _SECTOR_BYTES, sectors * _SECTOR_BYTES
        sequential = ends.get((device, kind)) == start
        ends[device, kind] = start + size
        if alone and now > at:
            found[device].append(Served(kind, start, size, now - at, sequential))
        else:
            overlapping[device] += 1
    return {device: (found[device], overlapping[device]) for device in waiting}


def fit_line(requests: Sequence[Served], bandwidth: int | None = None) -> Line | None:
    """Fit latency and bandwidth; nothing where all requests have one size and no bandwidth is given.

    :param bandwidth: what is known already, in bytes per second.
    """
    by_size: dict[int, list[int]] = defaultdict(list)
    for each in requests:
        by_size[each.bytes].append(each.took_ns)
    points = [(size, median(took), len(took)) for size, took in sorted(by_size.items())]
    slope = None if bandwidth is None else _NS_PER_S / bandwidth
    if slope is None:
        pairs = [
            ((two[1] - one[1]) / (two[0] - one[0]), min(one[2], two[2]) * (two[0] - one[0]))
            for one, two in combinations(points, 2)
        ]
        slope = _weighted_median(pairs) if pairs else None
    if slope is None or slope <= 0:
        return None
    latency = max(0.0, _weighted_median([(took - slope * size, count) for size, took, count in points]))
    misses = [abs(latency + slope * each.bytes - each.took_ns) / each.took_ns for each in requests]
    return Line(round(latency), max(1, round(_NS_PER_S / slope)), len(requests), median(misses))


def fit_storage(lines: Iterable[str], name: str, where: str, device: str | None = None) -> StorageFit:
    """Fit a model of a disk to a log.

    :param lines: of the log, with the times of the kernel's clock.
    :param name: of the model.
    :param where: the log, for messages.
    :param device: `MAJOR,MINOR` of the disk; by default that with the most reads.
    :raises UsageError: when the log lacks what a model needs, which is named.
    """
    disks = served_requests(lines)
    if not disks:
        raise UsageError("this log has no block requests", where=where, hint=HOW)
    reads_of = {disk: [each for each in requests if each.kind == "R"] for disk, (requests, _) in disks.items()}
    if device is None:
        device = max(reads_of, key=lambda disk: len(reads_of[disk]))
    elif device not in disks:
        raise UsageError(f"no disk has the number {device}", where=where, hint=f"there are: {', '.join(sorted(disks))}")
    requests, overlapping = disks[device]
    reads = reads_of[device]
    if len(reads) < _FEWEST:
        hint = f"{overlapping} requests overlapped; give a log of an entire boot: {HOW}"
        raise UsageError(f"disk {device} has {len(reads)} reads without overlap, but {_FEWEST} are needed", where=where,
                         hint=hint)  # fmt: skip
    together = fit_line(reads)
    if together is None:
        hint = "the bandwidth needs reads of several sizes, and larger reads must take longer"
        raise UsageError(f"the reads of disk {device} do not show a bandwidth", where=where, hint=hint)
    read = _transfer(reads, together)
    writes = [each for each in requests if each.kind == "W"]
    flushes = [each.took_ns for each in requests if each.kind == "F"]
    line = fit_line(writes) if len(writes) >= _FEWEST_WRITES else None
    write = read if line is None else _transfer(writes, line)
    misses = [abs(cost_ns(read, each) - each.took_ns) / each.took_ns for each in reads]
    error = median(misses)
    source = (
        f"Fitted to {len(reads)} reads, {len(writes)} writes and {len(flushes)} flushes that were alone in disk "
        f"{device}; {overlapping} requests overlapped and do not count. The median miss of a read is {error:.1%}."
    )
    if line is None:
        source += " The log has too few writes: they cost the same as reads."
    model = StorageModel.model_validate({
        "name": name, "title": f"fitted to {len(reads)} reads", "source": source, "read": read, "write": write,
        "flush": {"latency": f"{round(median(flushes)) if flushes else 0} ns"},
    })  # fmt: skip
    runs = sum(each.is_sequential for each in reads)
    return StorageFit(
        model=model, device=device, reads=len(reads), writes=len(writes), flushes=len(flushes),
        overlapping=overlapping, sequential_reads=runs, median_error=error, writes_are_fitted=line is not None,
    )  # fmt: skip


def cost_ns(cost: Transfer, request: Served) -> int:
    """What a model says of a request.

    >>> cost = Transfer.of(1000, 10**9)
    >>> cost_ns(cost, Served("R", 0, 4096, 0, False))
    5096
    """
    run = cost.latency if cost.sequential_latency is None else cost.sequential_latency
    return (run if request.is_sequential else cost.latency) + request.bytes * _NS_PER_S // cost.bandwidth


def _transfer(requests: Sequence[Served], together: Line) -> Transfer:
    """One bandwidth, by the class with most requests, and a latency of each class."""
    jumps = [each for each in requests if not each.is_sequential]
    runs = [each for each in requests if each.is_sequential]
    lines = [line for line in map(fit_line, (jumps, runs)) if line is not None]
    bandwidth = max(lines, key=lambda line: line.requests, default=together).bandwidth
    jump = fit_line(jumps if len(jumps) >= _FEWEST else requests, bandwidth) or together
    run = fit_line(runs, bandwidth) if len(runs) >= _FEWEST else None
    return Transfer.of(jump.latency_ns, bandwidth, None if run is None else run.latency_ns)


def _weighted_median(values: Sequence[tuple[float, float]]) -> float:
    ordered = sorted(values)
    half = sum(weight for _, weight in ordered) / 2
    passed = 0.0
    for value, weight in ordered:
        passed += weight
        if passed >= half:
            return value
    return ordered[-1][0]
