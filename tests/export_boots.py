"""A boot as imports give it: no profile, starts and ends that nobody knows, spans that overlap."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl

from bundles import SCHEMA, make_bundle

#: span, parent, kind, name, track, start, end, duration, grade, reason, attributes
SPANS: list[tuple[Any, ...]] = [
    (0, None, "phase", "kernel", "boot", 0, 10_000, 10_000, "good", None, None),
    (1, 0, "initcall", "acpi_init", "task 1", 1_000, 5_000, 4_000, "good", None, '{"returned":"0"}'),
    (2, 1, "probe", "rtc_cmos", "task 1", 4_000, 7_000, 3_000, "doubtful", "a shared start stamp", None),
    (3, None, "unit", "ssh.service", "systemd", 6_000, None, None, "unknown", "it did not end", None),
    (4, None, "unit", "dbus.service", "systemd", None, 7_000, 2_000, "coarse", "the clock's step", "no object"),
    (5, None, "unit", "cron.service", "systemd", 8_000, None, 500, "good", None, None),
    (6, None, "uevent", "/devices/pci0", "", None, None, 3_000, "bounded", "its head was lost", None),
    (7, None, "uevent", "/devices/pci1", "udev worker 10", None, None, None, "unknown", None, None),
    (8, None, "process", "torn", "cpu 0", 9_000, 8_000, None, "doubtful", "its record was torn", None),
]


def make_imported(directory: Path, name: str = "imported.boot") -> Path:
    """Write the bundle of an imported boot below *directory*; returns its path."""
    bundle = make_bundle(directory, name=name, live=True)
    rows = [
        (
            span,
            parent,
            kind,
            called,
            track,
            None,
            start,
            end,
            None,
            None,
            duration,
            grade,
            reason,
            "raw/log",
            attributes,
        )
        for span, parent, kind, called, track, start, end, duration, grade, reason, attributes in SPANS
    ]
    links = [("after", "unit", "cron.service", "unit", "dbus.service", "raw/log")]
    for table, lines in (("spans", rows), ("links", links)):
        pl.DataFrame(lines, schema=SCHEMA[table], orient="row").write_parquet(bundle / f"{table}.parquet")
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["mode"] = "imported"
    manifest["clock"]["kind"] = "imported"
    manifest["totals"]["virtual_ns"] = None
    for table, lines in (("spans", rows), ("links", links)):
        digest = hashlib.sha256((bundle / f"{table}.parquet").read_bytes()).hexdigest()
        manifest["tables"][table] = {"rows": len(lines), "sha256": digest}
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    return bundle
