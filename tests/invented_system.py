"""Bundles of an invented system that is up, for health checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from bundles import SCHEMA, make_bundle, write_table

FACTS = {
    "block.pmem0": "2097152",
    "clockevent.current": "lapic",
    "clocksource.current": "tsc",
    "cpu.count": "4",
    "device.pci/0000:00:03.0": "virtio-pci",
    "device.platform/serial8250": "serial8250",
    "entropy.available": "256",
    "files": "/data/book\t2048\n/etc/fstab\t120",
    "filesystem.errors.pmem0": "0",
    "interrupts.counted": "LOC\nttyS0\nvirtio0",
    "interrupts.errors": "0",
    "kernel.command_line": "console=ttyS0 root=/dev/pmem0",
    "kernel.command_line.words": "console=ttyS0\tkernel\tconsole",
    "kernel.lpj": "4000000",
    "kernel.tainted": "0",
    "kernel.warning.1": "ACPI: 3 tables at 0xffff8800 look odd",
    "kernel.warnings": "1",
    "memory.available_bytes": "390070272",
    "memory.total_bytes": "520093696",
    "module.ext4": "987136",
    "mount./": "/dev/pmem0 ext4 rw,relatime",
    "mount./data": "/dev/pmem1 ext4 rw,relatime",
    "mount./run": "tmpfs tmpfs rw,nosuid,size=100k,nr_inodes=800",
    "network.eth0": "52:54:00:12:34:56",
    "policy./proc/sys/kernel/kptr_restrict": "1",
    "process.sshd": "Uid=0 CapEff=000001ffffffffff NoNewPrivs=0 Seccomp=0",
    "process.systemd-journal": "Uid=0 CapEff=00000000000000ff NoNewPrivs=1 Seccomp=2",
    "socket.tcp/0.0.0.0:22": "",
    "systemd.failed": "",
    "vulnerability.spectre_v2": "Mitigation: Retpolines",
}
LOG = ["tsc: Detected 1000.000 MHz processor", "random: crng init done", "EXT4-fs (pmem0): mounted filesystem"]
UNITS = {"ssh.service": "active", "serial-getty@ttyS0.service": "active", "cron.service": "active"}

Planted = dict[str, str | None]


def system(folder: Path, name: str, facts: Planted | None = None, log: list[str] | None = None,
           units: dict[str, str] | None = None) -> Path:  # fmt: skip
    """An invented system that is up, with some facts, log lines or units other than those of a healthy one."""
    bundle = make_bundle(folder, name=name)
    values = {fact: value for fact, value in (FACTS | (facts or {})).items() if value is not None}
    write_table(bundle, "facts", pl.DataFrame(sorted(values.items()), schema=SCHEMA["facts"], orient="row"))
    lines = [(number, number * 1000, "console", text, *[None] * 4) for number, text in enumerate(LOG + (log or []))]
    write_table(bundle, "log", pl.DataFrame(lines, schema=SCHEMA["log"], orient="row"))
    spans = pl.read_parquet(bundle / "spans.parquet")
    first = int(spans["span"].max()) + 1  # type: ignore[arg-type]
    states = UNITS | (units or {})
    rows: list[tuple[Any, ...]] = [
        (first + place, None, "unit", unit, "systemd", None, 1000 + place, 2000 + place, None, None, 1000, "good",
         None, "systemd", json.dumps({"state": state}))
        for place, (unit, state) in enumerate(states.items()) if state
    ]  # fmt: skip
    write_table(bundle, "spans", pl.concat([spans, pl.DataFrame(rows, schema=SCHEMA["spans"], orient="row")]))
    return bundle
