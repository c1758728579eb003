"""Known causes in plain logs of the kernel: what a log alone shows, at which cost, and what it cannot show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import firstlight
from answers import data_of_answer
from bundles import make_bundle
from firstlight.advise.coverage import coverage
from firstlight.advise.observed import Observed
from firstlight.advise.prove import cannot_prove
from firstlight.advise.read import catalogue
from firstlight.api import Boot
from firstlight.cli.main import run
from imported_records import imported

HEAD = "[    0.000000] Linux version 6.1.0 (x@y) #1 SMP\n[    0.000000] Command line: console=ttyS0 WORDS\n"
TAIL = "[   99.000000] Freeing unused kernel memory: 1024K\n[   99.100000] Run /sbin/init as init process\n"
CONFIG = """#
# Automatically generated file; DO NOT EDIT.
# Linux/x86 6.1.0 Kernel Configuration
#
CONFIG_PCI=y
CONFIG_NET=y
# CONFIG_SWAP is not set
"""
MS = 1_000_000
_STAMP = re.compile(r"^\[ *(\d+)\.(\d+)\]", re.MULTILINE)

COSTS: dict[str, tuple[str, str, str, int]] = {
    "delay loop": ("CAL-01", "", "[ 1.0] Calibrating delay loop... 1.16 BogoMIPS (lpj=79)\n[ 1.083] pid_max: 1\n", 83),
    "delay loop, torn": ("CAL-01", "", "[ 1.0] Calibrating delay loop... \n[ 1.03] other\n[ 1.07] pid_max: 1\n", 30),
    "network devices": (
        "NET-02", "ip=dhcp", "[ 1.0] Waiting up to 110 more seconds for network.\n[ 3.5] eth0: link up\n", 2500,
    ),
    "address": (
        "NET-02", "ip=dhcp", "[ 1.0] Sending DHCP and RARP requests ., OK\n[ 1.1] a line\n"
        "[ 3.04] IP-Config: Got DHCP answer from 10.0.0.1\n[ 3.05] IP-Config: Complete:\n", 2040,
    ),
    "devices, then address": (
        "NET-02", "ip=dhcp", "[ 1.0] Waiting up to 110 more seconds for network.\n[ 2.0] eth0: Link is Up\n"
        "[ 5.0] Sending DHCP requests ., OK\n[ 7.0] IP-Config: Got DHCP answer\n", 3000,
    ),
    "ext4": (
        "STO-07", "", "[ 1.0] EXT4-fs (sda1): INFO: recovery required on readonly filesystem\n[ 1.01] EXT4-fs (sda1): "
        "write access will be enabled during recovery\n[ 1.6] EXT4-fs (sda1): recovery complete\n", 600,
    ),
    "xfs": ("STO-07", "", "[ 1.0] XFS (sda1): Starting recovery\n[ 1.4] XFS (sda1): Ending recovery\n", 400),
    "btrfs": ("STO-07", "", "[ 1.0] BTRFS info (device sda1): start tree-log replay\n[ 1.7] next\n", 700),
    "device": (
        "STO-10", "", "[ 2.0] systemd[1]: Expecting device dev-sdx.device - /dev/sdx...\n[ 5.0] systemd[1]: more\n"
        "[92.0] systemd[1]: Timed out waiting for device /dev/sdx.\n", 90_000,
    ),
    "raid6": (
        "CAL-07", "", "[ 1.0] raid6: sse2x4   gen()  9000 MB/s\n[ 1.016] raid6: sse2x2   gen()  8000 MB/s\n"
        "[ 1.5] raid6: using algorithm sse2x4 gen() 9000 MB/s\n", 500,
    ),
    "xor": (
        "CAL-08", "", "[ 1.0] xor: measuring software checksum speed\n[ 1.04]    prefetch64-sse  : 9000 MB/sec\n"
        "[ 1.8] xor: using function: prefetch64-sse (9000 MB/sec)\n", 800,
    ),
    "root types": (
        "STO-02", "", "[ 1.0] EXT4-fs (vda): couldn't mount as ext3 due to feature incompatibilities\n"
        "[ 1.02] EXT4-fs (vda): "
        "couldn't mount as ext2 due to feature incompatibilities\n[ 1.04] EXT4-fs (vda): mounted filesystem\n", 40,
    ),
    "clock chip": ("CAL-05", "", "[ 2.0] rtc_cmos: Reading current time from RTC took around 950 ms\n", 950),
    "clock chip, longer than the log": ("CAL-05", "", "[ 0.5] Reading current time from RTC took around 950 ms\n", 500),
    "descriptors of memory": ("MM-01", "", "[ 2.0] node 0 deferred pages initialised in 640ms\n", 640),
    "descriptors of two nodes": (
        "MM-01", "", "[ 2.0] node 1 deferred pages initialised in 600ms\n"
        "[ 2.1] node 0 deferred pages initialised in 640ms\n", 700,
    ),
    "rule of udev": (
        "UDV-03", "", "[ 1.0] systemd-udevd[200]: sda: Worker [210] processing SEQNUM=2000 is taking a long time\n"
        "[ 61.0] systemd-udevd[200]: sda: Worker [210] processing SEQNUM=2000 killed\n", 60_000,
    ),
    "server": ("NET-05", "", "[ 1.0] nfs: server 10.0.0.5 not responding, still trying\n"
        "[ 31.0] nfs: server 10.0.0.5 OK\n", 30_000),
    "front-ends": (
        "INI-17", "", "[ 1.0] xenbus_probe_frontend: Waiting for devices to initialise: "
        "25s...20s...15s...10s...5s...0s...\n"
        "[ 3.0] a line\n[ 31.0] xenbus_probe_frontend: Timeout connecting to device: device/vbd/51712\n", 30_000,
    ),
    "USB": (
        "INI-11", "", "[ 1.0] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n"
        "[ 6.4] usb 1-1: device descriptor "
        "read/64, error -110\n[ 11.8] usb 1-1: device descriptor read/64, error -110\n[ 11.83] next\n", 10_830,
    ),
    "deferred probes": (
        "INI-14", "", "[ 1.0] platform 32f10108.usb: deferred probe pending: dwc3: failed to initialize core\n"
        "[ 10.8] foo 1: deferred probe timeout, ignoring dependency\n", 9800,
    ),
    "hibernation": (
        "HIB-01", "", "[ 1.0] PM: Loading and decompressing image data (400000 pages)...\n"
        "[ 3.0] PM: Image loading progress: 50%\n"
        "[ 5.4] PM: Image loading done\n[ 5.4] PM: Image read 1600000 kbytes in 4.40 seconds (363.63 MB/s)\n", 4400,
    ),
    "memory test": (
        "MM-08", "memtest=2", "[ 1.0] early_memtest: # of tests: 2\n"
        "[ 1.1]   0x0000000000100000 - 0x0000000001000000 pattern "
        "4c494e5558726c7a\n[ 1.5]   0x0000000002000000 - 0x0000000007ffffff pattern 0\n[ 1.9] next\n", 900,
    ),
    "bad blocks": (
        "EMB-05", "", "[ 1.0] Scanning device for bad blocks\n[ 1.8] Bad eraseblock 120 at 0x000000f00000\n"
        "[ 1.85] next\n", 850,
    ),
    "trace events": (
        "DBG-02", "", "[ 1.0] Running tests on trace events:\n[ 1.1] Testing event initcall_finish: OK\n"
        "[ 1.2] Testing event initcall_start: OK\n[ 1.3] Running tests on all trace events:\n"
        "[ 1.6] Testing all events: OK\n", 600,
    ),
    "locks": (
        "DBG-02", "", "[ 1.0] | Locking API testsuite:\n[ 1.2] a line\n[ 1.5] Good, all 261 testcases passed! |\n", 500,
    ),
    "KUnit": (
        "DBG-02", "", "[ 1.0] KTAP version 1\n[ 1.0] 1..1\n[ 1.1]     # Subtest: list\n[ 1.2]     ok 1 list_init\n"
        "[ 1.4] ok 1 list\n[ 1.4] next\n", 100,
    ),
    "firmware file": (
        "INI-15", "", "[ 1.0] r8169 0000:01:00.0: Direct firmware load for a.fw failed with error -2\n"
        "[ 1.1] r8169 0000:01:00.0: Falling back to sysfs fallback for: a.fw\n[ 61.5] next\n", 60_400,
    ),
    "eMMC": (
        "STO-12", "", "[ 1.0] mmc0: SDHCI controller on 30b60000.mmc [30b60000.mmc] using ADMA\n"
        "[ 1.41] mmc0: new HS400 Enhanced strobe MMC card at address 0001\n"
        "[ 1.411] mmcblk0: mmc0:0001 DG4032 29.1 GiB\n", 410,
    ),
    "ports without a controller": (
        "INI-08", "", "[ 1.0] i8042: PNP: No PS/2 controller found.\n[ 1.3] i8042: No controller found\n", 300,
    ),
    "processors": ("SMP-01", "", "[ 1.0] smp: Bringing up secondary CPUs ...\n"
        "[ 1.31] smp: Brought up 1 node, 64 CPUs\n", 310),
    "TPM": (
        "INI-10", "", "[ 1.0] tpm tpm0: A TPM error (2314) occurred attempting the self test\n[ 1.4] next\n", 400,
    ),
    "terminal": (
        "SYS-06", "", "[ 2.0] systemd[1]: Expecting device dev-ttyS7.device - /dev/ttyS7...\n"
        "[ 92.0] systemd[1]: Timed out waiting for device dev-ttyS7.device - /dev/ttyS7.\n", 90_000,
    ),
    "an initramfs unpacked at once": (
        "IRD-03a", "initramfs_async=0", "[ 1.0] Trying to unpack rootfs image as initramfs...\n"
        "[ 1.4] Freeing initrd memory: 9K\n", 400,
    ),
}  # fmt: skip

UNPRICED: dict[str, tuple[str, str, str]] = {
    "calibration at the end": ("CAL-01", "", "[ 99.5] Calibrating delay loop... 1594.16 BogoMIPS (lpj=7970816)\n"),
    "address": ("NET-02", "ip=dhcp", "[ 1.0] IP-Config: Complete:\n"),
    "ext4": ("STO-07", "", "[ 1.0] EXT4-fs (sda1): recovery complete\n"),
    "device": ("STO-10", "", "[ 2.0] systemd[1]: Timed out waiting for device /dev/sdx.\n"),
    "job": ("STO-10", "", "[ 2.0] systemd[1]: dev-sdx.device: Job dev-sdx.device/start timed out.\n"),
    "memory test without a clock": ("MM-08", "memtest=2", "[ 0.0] early_memtest: # of tests: 2\n[ 0.000004] next\n"),
    "keyboard controller": ("INI-08", "", "[ 1.0] i8042: No controller found\n"),
}

ABSENT: dict[str, tuple[str, str, str]] = {
    "skipped": (
        "CAL-01", "", "[ 1.0] Calibrating delay loop (skipped), value calculated.. (lpj=4)\n[ 2.0] x\n"
    ),
    "preset": ("CAL-01", "lpj=4000", "[ 1.0] Calibrating delay loop... 1594.16 BogoMIPS (lpj=4000)\n[ 2.0] x\n"),
    "no request": ("NET-02", "", "[ 1.0] Waiting up to 110 more seconds for network.\n[ 2.0] eth0: link up\n"),
    "a clean journal": ("STO-07", "", "[ 1.0] EXT4-fs (sda1): mounted filesystem with ordered data mode\n[ 2.0] x\n"),
    "a device that came": (
        "STO-10", "", "[ 2.0] systemd[1]: Expecting device dev-sdx.device - /dev/sdx...\n"
        "[ 9.0] systemd[1]: Found device dev-sdx.device - /dev/sdx.\n",
    ),
}  # fmt: skip


def stamped(text: str) -> str:
    """Lines with stamps as the kernel prints them."""
    return _STAMP.sub(lambda match: f"[{match[1]:>5}.{match[2]:<06}]", text)


def boot_of(folder: Path, words: str, lines: str) -> Boot:
    text = HEAD.replace("WORDS", words) + (TAIL + lines if lines.startswith("[ 99") else lines + TAIL)
    return imported(folder, {"dmesg.txt": stamped(text)})


@pytest.mark.parametrize("what", COSTS)
def test_a_cause_in_a_log_costs_the_silence_after_its_line_or_between_its_lines(what: str, tmp_path: Path) -> None:
    entry, words, lines, ms = COSTS[what]
    found = boot_of(tmp_path, words, lines).explain()
    finding = found.finding(entry)
    assert finding is not None
    assert (finding.cost.ns, finding.certainty) == (ms * MS, "estimated")
    assert finding not in found.unpriced


@pytest.mark.parametrize("what", UNPRICED)
def test_a_cause_that_a_log_shows_without_its_time_has_an_unknown_cost(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry, words, lines = UNPRICED[what]
    boot = boot_of(tmp_path, words, lines)
    assert [each.certainty for each in boot.explain().unpriced if each.entry.id == entry] == ["unknown"]
    assert run(["explain", str(boot.directory)]) == 0
    printed = capsys.readouterr().out
    assert "Seen in this boot, at an unknown cost" in printed
    assert entry in printed
    assert run(["explain", str(boot.directory), entry]) == 0
    printed = capsys.readouterr().out
    assert "unknown: no evidence of it has a time" in printed
    assert "0 ns" not in printed
    assert run(["explain", str(boot.directory), entry, "--json"]) == 0
    data = data_of_answer(capsys.readouterr().out)["finding"]
    assert (data["cost_ns"], data["share"], data["expected_gain_ns"], data["certainty"]) == (
        None,
        None,
        None,
        "unknown",
    )


@pytest.mark.parametrize("what", ABSENT)
def test_a_line_like_that_of_a_cause_is_none(what: str, tmp_path: Path) -> None:
    entry, words, lines = ABSENT[what]
    assert boot_of(tmp_path, words, lines).explain().finding(entry) is None


def test_a_recording_with_a_profile_has_no_causes_of_unknown_cost(tmp_path: Path) -> None:
    assert firstlight.open(make_bundle(tmp_path)).explain().unpriced == ()


def test_how_many_causes_could_be_looked_for_is_said_with_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = boot_of(tmp_path, "quiet", "[ 1.0] a line\n")
    found = boot.explain()
    looked, every = found.coverage.entries, len(catalogue().entries)
    assert 0 < looked < every
    assert looked + len(found.coverage.blocked) == every
    assert run(["explain", str(boot.directory)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"None of the {looked} causes that could be looked for is known to take 0.5 % of this boot." in printed
    assert f"{looked} of {every} known causes could be looked for in this boot: it has no initcalls" in printed
    assert "no profile" in printed
    assert "hint: boot with `initcall_debug`" in printed
    assert run(["explain", str(boot.directory), "--json"]) == 0
    data = data_of_answer(capsys.readouterr().out)
    assert (data["entries"], data["looked_for"]) == (every, looked)
    assert {"initcalls", "profile", "processes"} <= {each["evidence"] for each in data["lacks"]}


def test_an_entry_that_could_not_be_looked_for_says_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boot = boot_of(tmp_path, "quiet", "[ 1.0] a line\n")
    assert run(["explain", str(boot.directory), "INI-03"]) == 0
    printed = capsys.readouterr().out
    assert "could not be looked for: the boot has no profile" in printed
    assert "hint: record the boot with `firstlight record`" in printed


def test_more_evidence_makes_more_causes_visible(tmp_path: Path) -> None:
    places = []
    for name, lines, more in (
        ("log", "[ 1.0] a line\n", {}),
        ("initcalls", "[ 1.0] calling  a+0x0/0x9 @ 1\n[ 1.1] initcall a+0x0/0x9 returned 0 after 100000 usecs\n", {}),
        ("config", "[ 1.0] a line\n", {"config-6.1.0": CONFIG}),
    ):  # fmt: skip
        (tmp_path / name).mkdir()
        boot = imported(tmp_path / name, {"dmesg.txt": stamped(HEAD + lines + TAIL), **more})
        places.append(coverage(Observed(boot), catalogue()))
    log, initcalls, config = places
    assert log.entries < initcalls.entries
    assert "initcalls" not in [each.what for each in initcalls.lacks]
    assert "kernel configuration" not in [each.what for each in config.lacks]


def test_a_recording_that_has_it_all_looks_for_all(tmp_path: Path) -> None:
    found = firstlight.open(make_bundle(tmp_path, profile=False)).explain()
    assert "profile" in [each.what for each in found.coverage.lacks]
    assert "units" not in [each.what for each in found.coverage.lacks]
    assert "record it again without `--no-profile`" in [each.hint for each in found.coverage.lacks]


def test_prove_says_why_a_log_cannot_be_booted_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none").mkdir()
    without = boot_of(tmp_path / "none", "quiet", "[ 1.0] a line\n")
    boot = boot_of(tmp_path, "", "[ 1.0] Calibrating delay loop... 1.16 BogoMIPS (lpj=79)\n[ 3.0] pid_max: 1\n")
    for arguments in ([str(boot.directory)], [str(boot.directory), "CAL-01"], [str(without.directory)]):
        assert run(["explain", *arguments, "--prove"]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert "an imported boot has no recipe, so Firstlight cannot boot it with a remedy" in printed
        assert "hint: start the system with the remedy, import its log" in printed
    assert run(["explain", str(boot.directory)]) == 0
    assert "--prove" not in capsys.readouterr().out
    assert run(["explain", str(boot.directory), "--prove", "--json"]) == 0
    (first, *_) = data_of_answer(capsys.readouterr().out)["findings"]
    assert first["tried"]["proof"] == "not tried"
    assert "has no recipe" in first["tried"]["why"]


def test_a_live_or_failed_boot_cannot_prove_a_remedy(tmp_path: Path) -> None:
    assert cannot_prove(firstlight.open(make_bundle(tmp_path, name="a.boot"))) is None
    live = cannot_prove(firstlight.open(make_bundle(tmp_path, name="live.boot", live=True)))
    failed = cannot_prove(firstlight.open(make_bundle(tmp_path, name="failed.boot", failed=True)))
    assert live is not None
    assert "live mode" in live.why
    assert failed is not None
    assert "failed" in failed.why
