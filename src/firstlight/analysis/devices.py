"""Devices: their probes, how often they were deferred, what they waited for, and what came of it."""

from __future__ import annotations

import errno
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from firstlight.analysis.interval_union import union_ns
from firstlight.analysis.spans import returned, spans_of, whole_number
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.bundle.tables import columns
from firstlight.schema.spans import SpanKind

#: `EPROBE_DEFER`; errno modules do not know it.
DEFERRED = 517

#: What makes a kernel report its probes.
HINT = "record with `--devices`, or boot with `initcall_debug` on the kernel's command line, which logs every probe"

_SCHEMA = columns(
    "device bus driver tries:int deferrals:int deferred_ns:int waited_ns:int supplier consumers deferral result "
    "returned:int start_ns:int end_ns:int duration_ns:int grade reason initcall source"
)


@once
def devices(boot: Boot) -> pl.DataFrame:
    """One row for every device that was probed, or that still waited at the end; in order of the first try.

    Columns: `device`, `bus` and `driver` (where known), `tries`, `deferrals` (tries that ended
    with -517), `deferred_ns` (what those cost: the union of their time), `waited_ns` (from the end of the first try
    that was deferred to the start of the last one), `supplier` (its suppliers, by links of the kernel or of a log),
    `consumers` (the devices that it is a supplier of), `deferral` (the kernel's reason for the last deferral), `result`
    (`bound`, `deferred`,
    `failed: ERRNO`, or null), `returned` (of the last try), `start_ns` (of the first try), `end_ns` (of the last),
    `duration_ns`, `grade` and `reason` (of the last try alone), `initcall` (that the last try ran in), `source`.

    >>> import firstlight
    >>> devices(firstlight.open(bundle)).height  # an exact recording has no probes
    0
    """
    frame = spans_of(boot, "probe", keys=("returned", "driver", "bus", "tries", "deferred_for"))
    frame = frame.with_columns(returned(boot, frame), whole_number("tries"))
    names = dict(boot.spans().filter(pl.col("kind") == SpanKind.INITCALL).select("span", "name").iter_rows())
    suppliers, consumers = _links(boot)
    known = _known_devices(boot)
    waiting = _still_waiting(boot)
    tries: dict[str, list[dict[str, Any]]] = {name: [] for name in waiting}
    for row in frame.iter_rows(named=True):
        tries.setdefault(row["name"], []).append(row)
    rows = []
    for device, probes in tries.items():
        probes.sort(key=_order)
        bus, driver = known.get(device, (None, None))
        row = _row(device, probes, still=device in waiting)
        row["bus"] = _last(probes, "bus") or bus
        row["driver"] = _last(probes, "driver") or driver
        row["supplier"] = ", ".join(suppliers[device]) if device in suppliers else waiting.get(device)
        row["consumers"] = ", ".join(consumers[device]) if device in consumers else None
        row["deferral"] = _last(probes, "deferred_for") or waiting.get(device)
        row["initcall"] = names.get(probes[-1]["parent"]) if probes else None
        rows.append(row)
    return pl.DataFrame(rows, schema=_SCHEMA).sort("start_ns", "device", nulls_last=True)


def result_of(returned: int | None) -> str | None:
    """What a probe's return value means.

    >>> result_of(0), result_of(-517), result_of(-19), result_of(None)
    ('bound', 'deferred', 'failed: ENODEV', None)
    """
    if returned is None:
        return None
    if abs(returned) == DEFERRED:
        return "deferred"
    if returned in (0, 1):  # old kernels returned 1 for success
        return "bound"
    return f"failed: {errno.errorcode.get(abs(returned), str(returned))}"


def _row(device: str, probes: Sequence[dict[str, Any]], still: bool) -> dict[str, Any]:
    if not probes:
        return {"device": device, "tries": 0, "deferrals": 0, "result": "deferred", "grade": "unknown",
                "reason": "its probe still waited at the end"}  # fmt: skip
    last = probes[-1]
    put_off = [probe for probe in probes if probe["returned"] is not None and abs(probe["returned"]) == DEFERRED]
    waited = None
    if put_off and put_off[0] is not last and put_off[0]["end_ns"] is not None and last["start_ns"] is not None:
        waited = max(0, last["start_ns"] - put_off[0]["end_ns"])
    result = result_of(last["returned"])
    return {
        "device": device,
        # A record that lost its head may number a try higher than it has rows.
        "tries": max(len(probes), *(probe["tries"] or 0 for probe in probes)),
        "deferrals": len(put_off),
        "deferred_ns": _cost(put_off),
        "waited_ns": waited,
        "result": "deferred" if still and result is None else result,
        "returned": last["returned"],
        "start_ns": next((probe["start_ns"] for probe in probes if probe["start_ns"] is not None), None),
        **{column: last[column] for column in ("end_ns", "duration_ns", "grade", "reason", "source")},
    }


def _order(probe: dict[str, Any]) -> tuple[float, int]:
    """Of a device's tries: by their ends, and by their numbers where these are coarse; starts are only counted back."""
    return (math.inf if probe["end_ns"] is None else probe["end_ns"], probe["tries"] or 0)


def _cost(put_off: Sequence[dict[str, Any]]) -> int | None:
    """What tries took that came to nothing: the union of their time; without times as fine, their lengths added up.

    A device is probed by one driver at a time.
    """
    instants = [(probe["start_ns"], probe["end_ns"]) for probe in put_off]
    lengths = [probe["duration_ns"] for probe in put_off]
    if not any(None in interval for interval in instants):
        between = [end - start for start, end in instants]
        if all(length is None or time >= length for time, length in zip(between, lengths, strict=True)):
            return union_ns(instants)
    return None if None in lengths else sum(lengths)


def _last(probes: Sequence[dict[str, Any]], key: str) -> str | None:
    return next((str(probe[key]) for probe in reversed(probes) if probe[key]), None)


def _links(boot: Boot) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The suppliers of each device, and the consumers of each, by the links."""
    links = boot.links().filter((pl.col("kind") == "supplier") & pl.col("from_name").is_not_null())
    suppliers: dict[str, list[str]] = {}
    consumers: dict[str, list[str]] = {}
    for device, supplier in links.select("from_name", "to_name").unique(maintain_order=True).iter_rows():
        suppliers.setdefault(device, []).append(supplier or "?")
        if supplier:
            consumers.setdefault(supplier, []).append(device)
    return suppliers, consumers


def _known_devices(boot: Boot) -> dict[str, tuple[str, str | None]]:
    """Bus and driver by device, from the facts `device.BUS/DEVICE`; a name on two buses is known on none."""
    found: dict[str, tuple[str, str | None]] = {}
    twice = set()
    facts = boot.facts().filter(pl.col("fact").str.starts_with("device."))
    for fact, driver in facts.select("fact", "value").iter_rows():
        bus, _, device = fact.removeprefix("device.").partition("/")
        twice.update({device} & found.keys())
        found[device] = (bus, driver or None)
    return {device: place for device, place in found.items() if device not in twice}


def _still_waiting(boot: Boot) -> dict[str, str | None]:
    """The devices whose probe still waited at the end, with the reason that the kernel gives."""
    prefix = "kernel.deferred_probe."
    facts = boot.facts().filter(pl.col("fact").str.starts_with(prefix))
    return {fact.removeprefix(prefix): reason for fact, reason in facts.select("fact", "value").iter_rows()}
