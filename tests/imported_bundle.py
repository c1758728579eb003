"""Bundles of invented imported boots: initcalls, probes, uevents, units, links and a log, as readers give them.

The boot is small enough to follow by hand. Times are milliseconds here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bundles import HOSTILE, SCHEMA
from firstlight.bundle.manifest import SCHEMA_VERSION, Manifest
from firstlight.bundle.writer import describe_tables, write_manifest, write_table

MS = 1_000_000
Times = tuple[float | None, float | None]


class Spans:
    """The rows of the table `spans` as they are added."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, kind: str, name: str, times: Times, *, track: str = "", parent: int | None = None,
            level: str | None = None, grade: str = "good", reason: str | None = None,
            **attributes: str) -> int:  # fmt: skip
        """Adds a span and returns its number; `attempt` becomes the attribute `try`, which is a word of Python."""
        start, end = (None if time is None else round(time * MS) for time in times)
        if "attempt" in attributes:
            attributes["try"] = attributes.pop("attempt")
        duration = end - start if start is not None and end is not None else None
        self.rows.append(
            {
                "span": len(self.rows),
                "parent": parent,
                "kind": kind,
                "name": name,
                "track": track,
                "level": level,
                "start_ns": start,
                "end_ns": end,
                "instructions": None,
                "idle_ns": None,
                "duration_ns": duration,
                "grade": grade,
                "reason": reason,
                "source": "raw/record",
                "attributes": json.dumps(attributes, sort_keys=True) if attributes else None,
            }
        )
        return len(self.rows) - 1


MARKS = {"kernel_start": 0, "run_init_start": 1500, "userspace_start": 1600, "startup_finished": 4800}
PHASES = [("early_init", 0, 400), ("initcalls", 400, 1500), ("run_init_start", 1500, 1600),
          ("userspace_start", 1600, 4800)]  # fmt: skip


def write_bundle(
    directory: Path,
    name: str,
    *,
    spans: Spans,
    links: Sequence[tuple[str, str, str, str, str]] = (),
    log: Sequence[tuple[float | None, str, int | None]] = (),
    facts: dict[str, str] | None = None,
    marks: dict[str, int] | None = None,
    host: Sequence[float | None] | None = None,
    length: int = 4800,
    record: str | None = None,
) -> Path:
    """Write a bundle from rows; returns its path.

    :param links: kind, kind and name of what waits, kind and name of what it waits for.
    :param log: time, text and level of each line.
    :param host: when another machine received each line.
    :param record: the format of the record that all of it came from.
    """
    path = directory / name
    (path / "raw").mkdir(parents=True)
    shown = MARKS if marks is None else marks
    said = facts or {}
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in SCHEMA}
    rows["marks"] = [{"mark": mark, "time_ns": at * MS, "instructions": None, "idle_ns": None, "source": "console",
                      "detail": ""} for mark, at in shown.items()]  # fmt: skip
    rows["spans"] = spans.rows
    rows["links"] = [dict(zip(SCHEMA["links"], (*link, "raw/record"), strict=True)) for link in links]
    rows["facts"] = [{"fact": fact, "value": value} for fact, value in sorted(said.items())]
    for number, (time, text, level) in enumerate(log):
        received = None if host is None else host[number]
        rows["log"].append(
            {
                "line": number + 1,
                "time_ns": None if time is None else round(time * MS),
                "source": "raw/record",
                "text": text,
                "host_ns": None if received is None else round(received * MS),
                "level": level,
                "caller": None,
                "channel": "printk",
            }
        )
    for table, columns in SCHEMA.items():
        write_table(table, {column: [row[column] for row in rows[table]] for column in columns}, path)
    write_manifest(path, _manifest(path, length, record))
    return path


def _manifest(path: Path, length: int, record: str | None) -> Manifest:
    return Manifest.model_validate(
        {
            "schema_version": SCHEMA_VERSION,
            "tool": {"name": "firstlight", "version": "0.1.0"},
            "mode": "imported",
            "status": "complete",
            "failure": None,
            "clock": {"kind": "imported", "unit": "ns", "origin": "kernel_start"},
            "recipe": {},
            "digests": {},
            "versions": {},
            "completeness": {"complete": False, "missing": ["3 messages of the kernel were dropped"],
                             "parsed": 997, "lost": 3, "share": 0.997},
            "invariants": {},
            "totals": {"instructions": None, "virtual_ns": length * MS, "idle_ns": None},
            "sources": [] if record is None else [
                {"file": "raw/record", "name": "record", "sha256": "0" * 64, "size_bytes": 1, "format": record,
                 "part": "", "clock": "printk", "fit": None, "parsed": 997, "problems": []}],
            "tables": {name: table.model_dump() for name, table in describe_tables(path).items()},
            "reproduce": "firstlight import record -o a.boot",
            "recorded_at": "2024-05-01T12:00:00Z",
            "host": {},
        }
    )  # fmt: skip


def make_imported(
    directory: Path, name: str = "imported.boot", *, hostile: bool = False, more_facts: dict[str, str] | None = None
) -> Path:
    """Write the bundle of an invented imported boot that has something of everything; returns its path.

    :param hostile: with names and lines that attack whatever shows them.
    :param more_facts: beside those of every such boot.
    """
    spans = Spans()
    for phase, start, end in PHASES:
        spans.add("phase", phase, (start, end), track="boot")
    links = _kernel(spans) + _udev(spans) + _systemd(spans)
    facts = {
        "kernel.command_line": "console=ttyS0,115200 loglevel=8 initcall_debug",
        "kernel.deferred_probe.sound": "wait for supplier codec",
        "device.pci/0000:00:04.0": "virtio-pci",
        "systemd.failed": "broken.service",
        **(more_facts or {}),
    }
    log: list[tuple[float | None, str, int | None]] = [
        (0, "Linux version 6.1.0 (builder@host)", 5),
        (1, "Command line: console=ttyS0,115200 loglevel=8 initcall_debug", 6),
        (None, "a line that was torn", None),
        (400, "calling  core_start+0x0/0x10 @ 1", 7),
        (500, "initcall core_start+0x0/0x10 returned 0 after 100000 usecs", 7),
        (1480, "ata1: link is slow to respond, please be patient", 4),
        (1600, "systemd[1]: systemd 252 running in system mode", 6),
        (4700, "systemd[1]: Startup finished in 1.6s (kernel) + 3.2s (userspace)", 6),
    ]
    if hostile:
        for number, bad in enumerate(HOSTILE):
            at = 3000 + 10 * number
            spans.add("initcall", bad, (at, at + 4), track="task 300", level="module", module=bad, grade="doubtful",
                      reason=bad, returned="x")  # fmt: skip
            spans.add("probe", bad, (at, at + 1), track="task 300", driver=bad, returned="-19")
            spans.add("uevent", bad, (at, at + 5), action=bad, seqnum=bad, failure=bad)
            spans.add("unit", bad, (at, at + 6), track="systemd", state=bad)
            links.append(("after", "unit", bad, "unit", HOSTILE[0]))
            facts["device.pci/" + bad] = bad
        spans.rows[-1]["attributes"] = '{"state": ["a"], "result"'
        log += [(4710 + number, bad, 3) for number, bad in enumerate(HOSTILE)]
    return write_bundle(directory, name, spans=spans, links=links, log=log, facts=facts)


def make_bare(directory: Path, name: str = "stages.boot") -> Path:
    """Write the bundle of an imported boot of which only phases are known."""
    spans = Spans()
    for phase, start, end in PHASES:
        spans.add("phase", phase, (start, end), track="boot")
    return write_bundle(directory, name, spans=spans)


def _kernel(spans: Spans) -> list[tuple[str, str, str, str, str]]:
    """Initcalls of task 1, one of which waits for an asynchronous body; modules side by side; a deferred probe."""
    one: dict[str, Any] = {"track": "task 1", "returned": "0"}
    agreed = "the stamps and the kernel's own figure agree"
    spans.add("initcall", "core_start", (400, 500), level="core", grade="exact", reason=agreed, **one)
    bus = spans.add("initcall", "bus_init", (500, 520), level="subsys", **one)
    spans.add("probe", "0000:00:04.0", (505, 515), parent=bus, track="task 1", returned="0")
    disk = spans.add("initcall", "disk_init", (600, 1400), level="device", grade="exact", reason=agreed, **one)
    spans.add("probe", "disk0", (610, 640), parent=disk, track="task 1", returned="-517", driver="sd", bus="scsi",
              attempt="1")  # fmt: skip
    spans.add("probe", "power0", (700, 760), parent=disk, track="task 1", returned="0", driver="regulator")
    spans.add("probe", "power1", (740, 780), parent=disk, track="task 40", returned="0", driver="regulator")
    spans.add("async", "disk_scan", (650, 1300), track="task 52", cookie="2")
    spans.add("async_wait", "waiting for asynchronous bodies", (800, 1310), track="task 1")
    spans.add("initcall", "late_clear", (1400, 1402), level="late", grade="coarse",
              reason="less than a hundred steps of 1 us", **one)  # fmt: skip
    spans.add("initcall", "unknown_end", (1402, None), level="late", track="task 1", grade="unknown",
              reason="it did not return")  # fmt: skip
    moved = "another initcall started during it and moved the kernel's start stamp"
    for name, start, end, task in (("nic_init", 2000, 2300, 210), ("usb_init", 2100, 2350, 211)):
        spans.add("initcall", name, (start, end), track=f"task {task}", level="module",
                  module=name.removesuffix("_init"), grade="doubtful", reason=moved, returned="0")  # fmt: skip
    spans.add("probe", "disk0", (2400, 2450), track="task 60", returned="0", driver="sd", bus="scsi", attempt="2")
    return [("supplier", "probe", "disk0", "probe", "power0"), ("supplier", "probe", "sound", "probe", "codec")]


def _udev(spans: Spans) -> list[tuple[str, str, str, str, str]]:
    """Four uevents: one blocked by another, one that waits for a worker, one that never ends."""
    whole = spans.add("uevent", "/devices/pci/disk0", (2460, 2560), action="add", subsystem="block", seqnum="100")
    spans.add("uevent_queued", "/devices/pci/disk0", (2460, 2470), parent=whole, seqnum="100")
    spans.add("uevent_service", "/devices/pci/disk0", (2470, 2560), parent=whole, track="udev worker 7", seqnum="100")
    whole = spans.add("uevent", "/devices/pci/disk0/disk0p1", (2465, 2660), action="add", subsystem="block",
                      seqnum="101")  # fmt: skip
    spans.add("uevent_queued", "/devices/pci/disk0/disk0p1", (2465, 2561), parent=whole, seqnum="101")
    spans.add("uevent_blocked", "/devices/pci/disk0/disk0p1", (2465, 2560), parent=whole, seqnum="101",
              blocked_by="100")  # fmt: skip
    spans.add("uevent_service", "/devices/pci/disk0/disk0p1", (2562, 2660), parent=whole, track="udev worker 8",
              seqnum="101")  # fmt: skip
    whole = spans.add("uevent", "/devices/net/eth0", (2500, 2600), action="add", subsystem="net", seqnum="102")
    spans.add("uevent_queued", "/devices/net/eth0", (2500, 2561), parent=whole, seqnum="102")
    spans.add("uevent_service", "/devices/net/eth0", (2561, 2600), parent=whole, track="udev worker 7", seqnum="102")
    spans.add("uevent", "/devices/net/eth1", (2700, None), action="add", subsystem="net", seqnum="103",
              grade="unknown", reason="it was not done when the record ended")  # fmt: skip
    return [("blocked_by", "uevent", "SEQNUM=101", "uevent", "SEQNUM=100")]


def _systemd(spans: Spans) -> list[tuple[str, str, str, str, str]]:
    """Stages, and units that lead from the root device to the last target."""
    spans.add("stage", "kernel", (0, 1600))
    stage = spans.add("stage", "userspace", (1600, 4800))
    spans.add("stage", "units-load", (1650, 1900), parent=stage)
    on: dict[str, Any] = {"track": "systemd"}
    spans.add("unit", "udev.service", (1910, 1980), state="active", type="notify", main_ns=str(60 * MS), **on)
    spans.add("unit", "dev-disk0p1.device", (2662, 2662), state="active", **on)
    spans.add("unit", "check.service", (2670, 2900), state="active", type="oneshot", **on)
    spans.add("unit", "data.mount", (2905, 2945), state="active", **on)
    spans.add("unit", "local-fs.target", (2946, 2946), state="active", **on)
    spans.add("unit", "network.service", (2950, 3400), state="active", type="notify", main_ns=str(400 * MS), **on)
    spans.add("unit", "app.service", (3410, 4700), state="active", type="notify", grade="bounded",
              reason="until active or failed; of its times systemd-analyze put the end of the boot in its place",
              **on)  # fmt: skip
    spans.add("unit", "logger.service", (2950, 3100), state="active", **on)
    spans.add("unit", "broken.service", (3000, 3200), state="failed", result="exit-code", grade="bounded",
              reason="it never became active: until it was inactive or failed", **on)  # fmt: skip
    spans.add("unit", "slow.service", (3300, None), state="activating", grade="unknown",
              reason="it had not become active", **on)  # fmt: skip
    spans.add("unit", "multi-user.target", (4702, 4702), state="active", **on)
    order = [
        ("dev-disk0p1.device", "udev.service"),
        ("check.service", "dev-disk0p1.device"),
        ("data.mount", "check.service"),
        ("local-fs.target", "data.mount"),
        ("network.service", "local-fs.target"),
        ("logger.service", "local-fs.target"),
        ("app.service", "network.service"),
        ("app.service", "logger.service"),
        ("multi-user.target", "app.service"),
        ("multi-user.target", "slow.service"),
    ]
    return [("after", "unit", waits, "unit", other) for waits, other in order]
