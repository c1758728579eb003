"""The guest's report: what came whole counts, whatever else came; and the facts in it."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.lab.guest.report import Report, facts_from_report, read_report

HEAD = b"firstlight-report 1\n"


def record(name: str, content: bytes) -> bytes:
    return f"{name} {len(content)}\n".encode() + content + b"\n"


WHOLE = HEAD + record("kernel.release", b"6.1.0") + record("memory", b"a\nend 0\n\n") + record("end", b"")


def facts(records: dict[str, bytes], console: str = "") -> dict[str, str]:
    pairs = facts_from_report(Report(records), console)
    assert pairs == sorted(dict(pairs).items())
    return dict(pairs)


def test_a_whole_report() -> None:
    report = read_report(WHOLE)
    assert report.complete
    assert report.problems == []
    # What looks like an end inside a record is content.
    assert report.records == {"kernel.release": b"6.1.0", "memory": b"a\nend 0\n\n"}


@pytest.mark.parametrize("cut", range(len(WHOLE)))
def test_a_report_that_stops_early_is_partial_and_says_so(cut: int) -> None:
    report = read_report(WHOLE[:cut])
    assert not report.complete
    assert len(report.problems) == 1
    whole = read_report(WHOLE).records
    assert report.records.items() <= whole.items()


def test_what_came_around_the_report_is_reported() -> None:
    report = read_report(b"noise\n" + WHOLE + b"tail")
    assert report.complete
    assert report.problems == ["6 bytes came before the report", "4 bytes came after the report"]


def test_a_record_that_came_twice_counts_once() -> None:
    report = read_report(HEAD + record("memory", b"1") + record("memory", b"2") + record("end", b""))
    assert report.records == {"memory": b"1"}
    assert report.problems == ["record `memory` occurs twice; the first counts"]


@pytest.mark.parametrize("name", ["", "UPPER", "a b", "../x", "\x1b[2J", "n" * 65])
def test_a_name_that_cannot_be_ends_the_report(name: str) -> None:
    report = read_report(HEAD + record("memory", b"1") + record(name, b"2") + record("end", b""))
    assert report.records == {"memory": b"1"}
    assert not report.complete


def test_another_version_is_not_guessed_at() -> None:
    assert read_report(WHOLE.replace(b"report 1", b"report 2")).problems == [
        "the report is of version 2, this Firstlight reads 1"
    ]


def test_nothing_at_all() -> None:
    assert read_report(b"").problems == ["the guest sent no report"]


@given(st.binary(max_size=300), st.text(max_size=300))
def test_no_bytes_break_the_reader(noise: bytes, console: str) -> None:
    read_report(noise)
    report = read_report(HEAD + noise)
    facts(report.records, console)
    names = ("kmsg", "devices", "modules", "mounts", "memory", "cpu", "systemd.failed", "kernel.config", "error")
    facts(dict.fromkeys(names, noise), console)


def test_single_values_and_lists_become_facts() -> None:
    found = facts(
        {
            "kernel.release": b"6.1.0",
            "kernel.tainted": b"0",
            "kernel.config": gzip.compress(b"CONFIG_PCI=y\n"),
            "devices": b"pci\t0000:00:01.0\tahci\nplatform\talarm\t\n",
            "modules": b"nfit 77824 0 - Live 0x0\nlibnvdimm 204800 4 nfit, Live 0x0\n",
            "mounts": b"rootfs / rootfs rw 0 0\n/dev/pmem0 / ext4 rw,relatime 0 0\n",
            "memory": b"MemTotal:         963648 kB\nMemFree: 1 kB\nMemAvailable:     863648 kB\n",
            "cpu": b"processor\t: 0\nmodel name\t: QEMU Virtual CPU version 2.5+\n\nmodel name\t: second\n",
            "systemd.failed": b"a.service loaded failed failed A\nb.mount loaded failed failed B\n",
        }
    )
    assert found == {
        "kernel.release": "6.1.0",
        "kernel.tainted": "0",
        "kernel.config": "CONFIG_PCI=y\n",
        "kernel.warnings": "0",
        "device.pci/0000:00:01.0": "ahci",
        "device.platform/alarm": "",
        "module.nfit": "77824",
        "module.libnvdimm": "204800",
        "mount./": "/dev/pmem0 ext4 rw,relatime",
        "memory.total_bytes": "986775552",
        "memory.available_bytes": "884375552",
        "cpu.count": "2",
        "cpu.model": "QEMU Virtual CPU version 2.5+",
        "systemd.failed": "a.service b.mount",
    }


KMSG = b"""5,0,0,-;Linux version 6.1.0-56-cloud-amd64 (a@b) #1 SMP
6,1,0,-;Command line: console=ttyS0 quiet
6,2,0,-;Memory: 463000K/523744K available (1K kernel code)
6,3,9,-;Calibrating delay loop (skipped), value calculated using timer frequency.. 1999.99 BogoMIPS (lpj=3999999)
6,4,9,-;clocksource: Switched to clocksource tsc-early
4,5,9,-;a warning
 SUBSYSTEM=acpi
3,6,9,-;an error
12,7,9,-;a process writes with level 4
4,8,9,-;------------[ cut here ]------------
4,9,9,-;WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2
4,10,9,-;Call Trace:
4,11,9,-;---[ end trace 0000000000000000 ]---
6,12,9,-;clocksource: Switched to clocksource tsc
"""


def test_the_kernels_log_tells_values_and_warnings() -> None:
    assert facts({"kmsg": KMSG}) == {
        "clocksource.current": "tsc",
        "kernel.command_line": "console=ttyS0 quiet",
        "kernel.lpj": "3999999",
        "kernel.release": "6.1.0-56-cloud-amd64",
        "kernel.warning.1": "a warning",
        "kernel.warning.2": "an error",
        "kernel.warning.3": "WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2",
        "kernel.warnings": "3",
        "memory.present_bytes": str(523744 * 1024),
    }


CONSOLE = """[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\r
[    0.000000] Command line: console=ttyS0\r
[    0.000000][    T0] Memory: 1K/4K available\r
[    1.000000] BUG: kernel NULL pointer dereference, address: 0000000000000000\r
[    1.000000] Kernel panic - not syncing: Fatal exception\r
"""


def test_without_a_report_the_console_tells() -> None:
    assert facts({}, CONSOLE) == {
        "kernel.command_line": "console=ttyS0",
        "kernel.release": "6.1.0",
        "kernel.warning.1": "BUG: kernel NULL pointer dereference, address: 0000000000000000",
        "kernel.warning.2": "Kernel panic - not syncing: Fatal exception",
        "kernel.warnings": "2",
        "memory.present_bytes": "4096",
    }


def test_the_report_counts_where_both_tell() -> None:
    found = facts({"kmsg": b"4,0,0,-;only one\n", "kernel.release": b"6.1.0-report"}, CONSOLE)
    assert found["kernel.release"] == "6.1.0-report"
    assert found["kernel.warnings"] == "1"
    assert "kernel.warning.2" not in found
    assert found["kernel.command_line"] == "console=ttyS0"
