"""`firstlight health`: planted breakages of an invented system are caught, each by the check that is for it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import SCHEMA, make_bundle, write_table
from firstlight.advise.health.check_id import CheckId
from firstlight.cli.main import run
from firstlight.lab.guest.report import Report, facts_from_report
from invented_system import UNITS, Planted, system


@pytest.fixture
def healthy(tmp_path: Path) -> Path:
    return system(tmp_path, "healthy.boot")


def test_a_healthy_system_passes_against_itself(healthy: Path) -> None:
    found = firstlight.health(healthy, healthy)
    assert found.healthy
    assert {check.id for check in found.checks if check.outcome == "pass"} >= {"HC-DEV", "HC-MOUNT", "HC-POLICY"}


BREAKAGES: dict[str, tuple[Planted, list[str], dict[str, str], str]] = {
    "lpj eight times too large": ({"kernel.lpj": "32000000"}, [], {}, "HC-LPJ"),
    "lpj an eighth": ({"kernel.lpj": "500000"}, [], {}, "HC-LPJ"),
    "a vanished device": ({"device.pci/0000:00:03.0": None}, [], {}, "HC-DEV"),
    "a device without its driver": ({"device.pci/0000:00:03.0": ""}, [], {}, "HC-DRIVER"),
    "a renamed network device": ({"network.eth0": None, "network.ens3": "52:54:00:12:34:56"}, [], {}, "HC-NAMES"),
    "another card": ({"network.eth0": "52:54:00:65:43:21"}, [], {}, "HC-NAMES"),
    "a vendor's card instead": ({"network.eth0": "00:1b:21:3a:4f:07"}, [], {}, "HC-NAMES"),
    "a smaller disk": ({"block.pmem0": "1048576"}, [], {}, "HC-NAMES"),
    "a failed unit": ({"systemd.failed": "cron.service"}, [], {"cron.service": "failed"}, "HC-UNITS"),
    "a unit that did not start": ({}, [], {"cron.service": ""}, "HC-ACTIVE"),
    "a lost mount": ({"mount./data": None}, [], {}, "HC-MOUNT"),
    "a read-only root": ({"mount./": "/dev/pmem0 ext4 ro,relatime"}, [], {}, "HC-MOUNT"),
    "a journal not replayed": ({"mount./data": "/dev/pmem1 ext4 ro,noload"}, [], {}, "HC-FS"),
    "a lost file": ({"files": "/etc/fstab\t120"}, [], {}, "HC-CONTENT"),
    "an empty file": ({"files": "/data/book\t0\n/etc/fstab\t120"}, [], {}, "HC-CONTENT"),
    "an error of a file system": ({}, ["EXT4-fs error (device pmem0): bad block bitmap"], {}, "HC-FS"),
    "a new kernel warning": ({"kernel.warning.2": "usb 1-1: device timeout"}, [], {}, "HC-DMESG"),
    "a taint": ({"kernel.tainted": "512"}, [], {}, "HC-TAINT"),
    "a clock source that ticks": ({"clocksource.current": "acpi_pm"}, [], {}, "HC-CLOCK"),
    "another clock event device": ({"clockevent.current": "hpet"}, [], {}, "HC-CLOCK"),
    "no entropy": ({"entropy.available": "12"}, [], {}, "HC-ENTROPY"),
    "lost memory": ({"memory.total_bytes": "260046848"}, [], {}, "HC-MEM"),
    "little memory left": ({"memory.available_bytes": "40000000"}, [], {}, "HC-MEM"),
    "a lost processor": ({"cpu.count": "3"}, [], {}, "HC-CPU"),
    "a missing module": ({"module.ext4": None}, [], {}, "HC-MOD"),
    "an interrupt that never came": ({"interrupts.counted": "LOC\nttyS0"}, [], {}, "HC-IRQ"),
    "interrupts that are errors": ({"interrupts.errors": "3"}, [], {}, "HC-IRQ"),
    "a disabled mitigation": ({"vulnerability.spectre_v2": "Vulnerable"}, [], {}, "HC-VULN"),
    "mitigations=off": ({"kernel.command_line": "console=ttyS0 mitigations=off"}, [], {}, "HC-VULN"),
    "a kernel setting": ({"policy./proc/sys/kernel/kptr_restrict": "0"}, [], {}, "HC-POLICY"),
    "a sandbox without its filter": (
        {"process.systemd-journal": "Uid=0 CapEff=00000000000000ff NoNewPrivs=1 Seccomp=0"}, [], {}, "HC-POLICY",
    ),
    "a daemon with more capabilities": (
        {"process.systemd-journal": "Uid=0 CapEff=00000000000001ff NoNewPrivs=1 Seccomp=2"}, [], {}, "HC-POLICY",
    ),
    "a closed port": ({"socket.tcp/0.0.0.0:22": None}, [], {}, "HC-PORTS"),
    "no login": ({}, [], {"ssh.service": "", "serial-getty@ttyS0.service": ""}, "HC-LOGIN"),
    "an option that nothing read": ({"kernel.command_line.unread": "tpyo"}, [], {}, "HC-CMDLINE"),
    "an error of the guest": ({"error": "cannot mount"}, [], {}, "HC-BOOT"),
}  # fmt: skip


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_planted_breakage_is_caught(breakage: str, healthy: Path, tmp_path: Path) -> None:
    facts, log, units, check = BREAKAGES[breakage]
    if check == "HC-DMESG":
        facts = facts | {"kernel.warnings": "2"}
    broken = system(tmp_path, "broken.boot", facts, log, units)
    assert check in [each.id for each in firstlight.health(broken, healthy).failed]


def test_numbers_in_a_known_warning_do_not_make_it_new(healthy: Path, tmp_path: Path) -> None:
    other = system(tmp_path, "b.boot", {"kernel.warning.1": "ACPI: 4 tables at 0xffff9900 look odd"})
    assert firstlight.health(other, healthy).healthy


def test_an_address_that_the_kernel_invents_is_no_breakage(tmp_path: Path) -> None:
    boots = [
        system(tmp_path, f"{first}.boot", {"network.dummy0": f"{first}:0e:ee:98:5e:bf"}) for first in ("06", "96", "00")
    ]
    assert firstlight.health(boots[1], boots[0]).healthy
    assert [each.id for each in firstlight.health(boots[2], boots[0]).failed] == ["HC-NAMES"]


def test_the_sizes_of_a_tmpfs_follow_the_memory_and_are_no_breakage(healthy: Path, tmp_path: Path) -> None:
    other = system(tmp_path, "b.boot", {"mount./run": "tmpfs tmpfs rw,nosuid,size=90k,nr_inodes=700"})
    assert firstlight.health(other, healthy).healthy


def test_an_expected_difference_does_not_fail(healthy: Path, tmp_path: Path) -> None:
    other = system(tmp_path, "b.boot", {"clockevent.current": "hpet"})
    found = firstlight.health(other, healthy, ["HC-CLOCK clockevent.current"])
    assert found.healthy
    assert [check.id for check in found.checks if check.outcome == "changed"] == ["HC-CLOCK"]


@pytest.mark.parametrize("pattern", ["HC-DEVICES *", "device.pci/*", "HC-DEV", ""])
def test_an_expected_difference_of_no_check_is_refused(pattern: str, healthy: Path) -> None:
    with pytest.raises(firstlight.UsageError, match=r"health check|no subject"):
        firstlight.health(healthy, healthy, [pattern])


def test_each_security_module_that_is_missing_is_a_difference_of_its_own(tmp_path: Path) -> None:
    lsm = "policy./sys/kernel/security/lsm"
    before = system(tmp_path, "a.boot", {lsm: "capability,apparmor,bpf"})
    after = system(tmp_path, "b.boot", {lsm: "capability,apparmor"})
    assert firstlight.health(after, before, ["HC-POLICY security module bpf"]).healthy
    less = system(tmp_path, "c.boot", {lsm: "capability"})
    (failed,) = firstlight.health(less, before, ["HC-POLICY security module bpf"]).failed
    assert [each.text for each in failed.differences if not each.expected] == [
        "security module apparmor: gone (was apparmor)"
    ]


def test_without_a_baseline_what_cannot_be_known_is_unknown(healthy: Path) -> None:
    found = {check.id: check.outcome for check in firstlight.health(healthy).checks}
    assert found[CheckId.DEV] == found[CheckId.MOUNT] == found[CheckId.DMESG] == "unknown"
    assert found[CheckId.TAINT] == found[CheckId.UNITS] == found[CheckId.LPJ] == "pass"


def test_a_wrong_lpj_is_caught_by_the_rate_of_the_tsc_alone(tmp_path: Path) -> None:
    broken = system(tmp_path, "broken.boot", {"kernel.lpj": "400000", "kernel.config": "CONFIG_HZ=250\n"})
    assert "HC-LPJ" in [check.id for check in firstlight.health(broken).failed]


def test_a_log_alone_says_what_it_does_not_know(tmp_path: Path) -> None:
    boot = make_bundle(tmp_path)
    write_table(boot, "facts", pl.DataFrame([], schema=SCHEMA["facts"]))
    found = firstlight.health(boot, boot)
    assert {check.id for check in found.unknown} >= {"HC-DEV", "HC-MEM", "HC-MOUNT", "HC-POLICY", "HC-VULN", "HC-IRQ"}


def test_a_failed_check_ends_the_command_with_4(
    healthy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = system(tmp_path, "broken.boot", {"mount./data": None})
    assert run(["health", str(broken), "--baseline", str(healthy)]) == 4
    assert "mount./data: gone (was /dev/pmem1 ext4 rw,relatime)" in capsys.readouterr().out
    assert run(["health", str(healthy), "--baseline", str(healthy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["healthy"] is True


def test_the_report_of_a_guest_becomes_facts_of_its_state() -> None:
    records = {
        "block": b"pmem0\t2097152\n",
        "files": b"/etc/fstab\t120\n",
        "filesystem.errors": b"/sys/fs/ext4/pmem0/errors_count\t0\n",
        "interrupts": b"           CPU0\n  4:  91  IO-APIC   4-edge  ttyS0\n  9:   0  IO-APIC  9-fasteoi acpi\n"
        b"LOC: 500   Local timer interrupts\nERR: 2\n",
        "policy": b"/proc/sys/kernel/kptr_restrict\t1\n",
        "processes": b"sh\tUid=0\tSeccomp=0\nsh\tUid=5\tSeccomp=2\n",
        "sockets.tcp": b"head\n 0: 00000000:0016 00000000:0000 0A 0\n 1: 0100007F:0019 00000000:0000 01 0\n",
        "vulnerabilities": b"/sys/devices/system/cpu/vulnerabilities/mds\tNot affected\n",
    }
    facts = dict(facts_from_report(Report(records), ""))
    assert facts["interrupts.counted"] == "LOC\nttyS0"
    assert facts["interrupts.errors"] == "2"
    assert facts["process.sh"] == "Uid=0 Seccomp=0; Uid=5 Seccomp=2"
    assert [name for name in facts if name.startswith("socket.")] == ["socket.tcp/0.0.0.0:22"]
    assert (facts["block.pmem0"], facts["filesystem.errors.pmem0"]) == ("2097152", "0")
    assert (facts["vulnerability.mds"], facts["policy./proc/sys/kernel/kptr_restrict"]) == ("Not affected", "1")


def imported(folder: Path, text: str) -> Path:
    (folder / "a.log").write_text(text)
    return firstlight.import_(folder / "a.log", output=folder / "a.boot").directory


def test_a_log_without_userspace_does_not_say_whether_the_boot_came_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = imported(tmp_path, "[    0.000000] Linux version 6.1.0\n")
    assert run(["health", str(boot)]) == 0
    printed = capsys.readouterr().out
    assert "the evidence shows no userspace" in printed
    assert "Healthy" not in printed


def test_a_log_with_userspace_shows_that_the_boot_came_up(tmp_path: Path) -> None:
    boot = imported(tmp_path, "[    0.000000] Linux version 6.1.0\n[    1.000000] Run /sbin/init as init process\n")
    found = {check.id: check for check in firstlight.health(boot).checks}
    assert (found[CheckId.BOOT].outcome, found[CheckId.BOOT].detail) == ("pass", "came up")


def test_a_failed_boot_did_not_come_up(tmp_path: Path) -> None:
    panic = "[    0.000000] Linux version 6.1.0\n[    1.000000] Kernel panic - not syncing: no root\n"
    found = {check.id: check for check in firstlight.health(imported(tmp_path, panic)).checks}
    assert (found[CheckId.BOOT].outcome, found[CheckId.BOOT].detail) == ("fail", "did not come up")


def test_sizes_have_units_and_a_lost_login_is_reported(healthy: Path, tmp_path: Path) -> None:
    units = dict.fromkeys(UNITS, "")
    small: Planted = {"memory.total_bytes": "260046848", "block.pmem0": "2048"}
    found = {
        check.id: check for check in firstlight.health(system(tmp_path, "b.boot", small, units=units), healthy).checks
    }
    assert found[CheckId.MEM].detail == "248 MiB"
    assert found[CheckId.MEM].differences[0].text == "memory.total_bytes: 248 MiB (was 496 MiB)"
    assert found[CheckId.NAMES].differences[0].text == "block.pmem0: 1 MiB (was 1 GiB)"
    assert found[CheckId.LOGIN].detail == "no getty, no SSH server, no prompt"
