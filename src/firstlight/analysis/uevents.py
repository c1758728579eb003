"""Uevents: arrival, queued, blocked, service; one row for each."""

from __future__ import annotations

from typing import Any

import polars as pl

from firstlight.analysis.spans import spans_of, whole_number
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.bundle.tables import columns
from firstlight.schema.spans import SpanKind

#: What makes udev report its queue.
HINT = (
    "`udevadm monitor -k -u -p` gives latencies; udevd's debug log "
    "(`udev_log=debug`, or `udev.log_level=debug` on the command line) also queue, blocking and workers"
)

_PARTS = {
    SpanKind.UEVENT_QUEUED: "queued",
    SpanKind.UEVENT_BLOCKED: "blocked",
    SpanKind.UEVENT_SERVICE: "service",
}

_SCHEMA = columns(
    "span:int seqnum:int action device subsystem arrival_ns:int end_ns:int latency_ns:int queued_ns:int blocked_ns:int "
    "blocked_by service_start_ns:int service_ns:int worker failure grade reason source"
)

#: What an event's own span states.
_PLAIN = {
    "device": pl.col("name"),
    "arrival_ns": pl.col("start_ns"),
    "latency_ns": pl.col("duration_ns"),
    **{name: pl.col(name) for name in ("span", "end_ns", "action", "subsystem", "worker", "failure")},
    **{name: pl.col(name) for name in ("grade", "reason", "source")},
}


@once
def uevents(boot: Boot) -> pl.DataFrame:
    """One row for every uevent, in order of arrival.

    Columns: `span`, `seqnum`, `action`, `device`, `subsystem`, `arrival_ns`, `end_ns`, `latency_ns` (from arrival to
    the end of udev's work), `queued_ns` (until it was ready for a worker, `blocked_ns` of it held back by other
    events), `blocked_by` (their numbers), `service_start_ns` and `service_ns` (a worker on it), `worker`, `failure`,
    `grade` and `reason` of the latency, `source`. An event that several records state has one row: of the record that
    shows most.

    >>> import firstlight
    >>> uevents(firstlight.open(bundle)).height
    0
    """
    keys = ("seqnum", "action", "subsystem", "blocked_by", "worker", "failure")
    frame = spans_of(boot, SpanKind.UEVENT, *_PARTS, keys=keys).with_columns(whole_number("seqnum"))
    events = frame.filter(pl.col("kind") == SpanKind.UEVENT)
    parts = frame.filter(pl.col("kind") != SpanKind.UEVENT)
    # Most of very many events have neither a part nor another record of them.
    alone = (
        pl.col("seqnum").is_null()
        & ~pl.col("span").is_in(parts["parent"].drop_nulls().unique().implode())
        & pl.col("span").is_unique()
    )
    plain = events.filter(alone).select(*(_PLAIN.get(name, pl.lit(None)).alias(name) for name in _SCHEMA))
    rows = pl.DataFrame(_with_parts(events.filter(~alone), parts, set(events["span"])), schema=_SCHEMA)
    return pl.concat([plain.cast(pl.Schema(_SCHEMA)), rows]).sort("arrival_ns", "span", nulls_last=True)


def _with_parts(events: pl.DataFrame, frame: pl.DataFrame, wholes: set[int]) -> list[dict[str, Any]]:
    """The rows of events of which records state parts or numbers.

    :param frame: the parts of all events.
    :param wholes: the spans of all events.
    """
    parts: dict[int, dict[str, dict[str, Any]]] = {}
    numbered: dict[int, dict[str, dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        part = _PARTS[row["kind"]]
        # By another record's stamps a part may end just after its event: then its number says whose it is.
        if row["parent"] in wholes:
            parts.setdefault(row["parent"], {}).setdefault(part, row)
        elif row["seqnum"] is not None:
            numbered.setdefault(row["seqnum"], {}).setdefault(part, row)
    rows: dict[tuple[str, object], dict[str, Any]] = {}
    for whole in events.iter_rows(named=True):
        number = whole["seqnum"]
        own = (numbered.get(number, {}) if number is not None else {}) | parts.get(whole["span"], {})
        row = _row(whole, own)
        key = ("seqnum", number) if number is not None else ("span", whole["span"])
        before = rows.get(key)
        rows[key] = row if before is None else _fuller(before, row)
    return list(rows.values())


def _row(whole: dict[str, Any], parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    def of(part: str, column: str) -> Any:
        return parts[part][column] if part in parts else None

    worker = of("service", "worker") or whole["worker"]
    track = of("service", "track") or ""
    if worker is None and track.startswith("udev worker "):
        worker = track.removeprefix("udev worker ")
    return {
        "span": whole["span"],
        "seqnum": whole["seqnum"],
        "action": whole["action"],
        "device": whole["name"],
        "subsystem": whole["subsystem"],
        "arrival_ns": whole["start_ns"],
        "end_ns": whole["end_ns"],
        "latency_ns": whole["duration_ns"],
        "queued_ns": of("queued", "duration_ns"),
        "blocked_ns": of("blocked", "duration_ns") if "blocked" in parts else (0 if "queued" in parts else None),
        "blocked_by": of("blocked", "blocked_by"),
        "service_start_ns": of("service", "start_ns"),
        "service_ns": of("service", "duration_ns"),
        "worker": worker,
        "failure": whole["failure"],
        "grade": whole["grade"],
        "reason": whole["reason"],
        "source": whole["source"],
    }


def _fuller(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The row that has more; what it lacks comes from the other one, but no instant: their clocks may differ."""
    first, second = sorted((one, other), key=lambda row: -sum(value is not None for value in row.values()))
    fill = ("action", "subsystem", "worker", "failure")
    return first | {key: first[key] if first[key] is not None else second[key] for key in fill}
