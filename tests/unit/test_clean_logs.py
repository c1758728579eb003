"""Healthy lines of real logs that look like those of a known cause, and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from imported_records import imported

X86 = "Linux version 6.8.9 (x@y) #1 SMP PREEMPT_DYNAMIC\nCommand line: console=ttyS0 quiet"
OLD = "Linux version 5.10.217 (x@y) #1 SMP\nCommand line: console=ttyS0 WORDS\nHypervisor detected: KVM"
BOARD = (
    "Linux version 6.6.32 (oe-user@oe-host) #1 SMP PREEMPT\nMachine model: NXP i.MX8MPlus EVK board\n"
    "Kernel command line: console=ttymxc1,115200 root=/dev/mmcblk1p2 rootwait rw"
)
ROUTER = (
    "Linux version 5.15.150 (builder@buildhost) #0 SMP\nCPU0 revision is: 0001992f (MIPS 1004Kc)\n"
    "MIPS: machine is Xiaomi Mi Router 3G\nKernel command line: console=ttyS0,115200n8 rootfstype=squashfs"
)
CARD = (
    "[ 0.214410] mmc1: SDHCI controller on 30b50000.mmc [30b50000.mmc] using ADMA\n"
    "[ 0.{at}] mmc1: new {card} at address aaaa\n[ 0.{after}] mmcblk1: mmc1:aaaa SC32G 29.7 GiB\n"
)
KEYBOARD = (
    "[ 0.311000] calling  i8042_init+0x0/0x3f0 @ 1\n[ 0.311500] serio: i8042 KBD port at 0x60,0x64 irq 1\n"
    "[ 0.361000] initcall i8042_init+0x0/0x3f0 returned 0 after 50000 usecs\n"
    "[ 0.371000] input: AT Translated Set 2 keyboard as /devices/platform/i8042/serio0/input/input0\n"
)

JOURNAL = """-- Boot 8a1e3f2ac0de4b6c9a1b2c3d4e5f6a7b --
[    0.000000] laptop kernel: Linux version 6.8.9 (x@y) #1 SMP
[    0.550000] laptop kernel: Run /init as init process
[    0.600000] laptop systemd[1]: systemd 255.4 running in system mode
[    3.711211] laptop systemd[1]: Reached target graphical.target.
[    3.721211] laptop systemd[1]: Startup finished in TOOK (firmware) + 0.5s (kernel) + 3s (userspace) = 9s.
"""

CLEAN: dict[str, tuple[str, str, str]] = {
    "mirrors that are all there": ("DM-05", BOARD, "[ 0.3] md/raid1:md0: active with 2 out of 2 mirrors\n"),
    "ten of ten devices": (
        "DM-05", BOARD, "[ 0.3] md/raid10:md0: active with 10 out of 10 devices\n"
        "[ 0.4] md/raid:md1: raid level 5 active with 3 out of 3 devices, algorithm 2\n",
    ),
    "SD card as root": (
        "STO-12", BOARD, CARD.format(at="271133", after="273312", card="ultra high speed SDR104 SDHC card")
    ),
    "slow SD card": ("STO-12", BOARD, CARD.format(at="571133", after="573312", card="high speed SDXC card")),
    "eMMC that answers": ("STO-12", BOARD, CARD.format(at="271133", after="273312", card="HS400 MMC card")),
    "keyboard of a notebook": ("INI-08", X86, KEYBOARD),
    "memory disk as root": (
        "STO-14", OLD.replace("WORDS", "root=/dev/ram0 ramdisk_size=65536"),
        "[ 0.3] calling  brd_init+0x0/0x100 @ 1\n[ 0.33] initcall brd_init+0x0/0x100 returned 0 after 30000 usecs\n",
    ),
    "optional firmware": (
        "INI-15", BOARD, "[ 0.3] imx-sdma 302c0000.dma-controller: Direct firmware load for imx/sdma/sdma-imx7d.bin "
        "failed "
        "with error -2\n[ 0.4] platform regulatory.0: Direct firmware load for regulatory.db failed with error -2\n",
    ),
    "initramfs unpacked beside the drivers": (
        "IRD-03", X86, "[ 0.281211] Trying to unpack rootfs image as initramfs...\n"
        "[ 0.301211] Serial: 8250/16550 driver\n"
        "[ 0.391211] Freeing initrd memory: 35852K\n",
    ),
    "initramfs unpacked in the background": (
        "IRD-03a", X86, "[ 0.281211] Trying to unpack rootfs image as initramfs...\n"
        "[ 0.301211] Serial: 8250/16550 driver\n"
        "[ 0.391211] Freeing initrd memory: 35852K\n",
    ),
    "generator seeded late": (
        "ENT-01", ROUTER, "[ 7.001211] random: ubusd: uninitialized urandom read (4 bytes read)\n"
        "[ 8.001211] urngd: v1.0.2 "
        "started.\n[ 8.211211] random: crng init done\n",
    ),
    "generator seeded late on a board": ("ENT-01", BOARD, "[ 9.0] init: ready\n[ 30.0] random: crng init done\n"),
}  # fmt: skip


def lines_of(head: str, lines: str) -> str:
    """A log whose first lines have no time, and which ends at the first program."""
    stamped = []
    for line in lines.splitlines():
        stamp, _, text = line.removeprefix("[ ").partition("] ")
        stamped.append(f"[{float(stamp):12.6f}] {text}\n")
    begin = "".join(f"[    0.000000] {line}\n" for line in head.splitlines())
    end = 1.0 if "[ 0." in lines else 40.0
    return begin + "".join(stamped) + f"[{end:12.6f}] Run /sbin/init as init process\n"


@pytest.mark.parametrize("what", CLEAN)
def test_a_healthy_line_is_no_cause(what: str, tmp_path: Path) -> None:
    entry, head, lines = CLEAN[what]
    boot = imported(tmp_path, {"dmesg.txt": lines_of(head, lines)})
    assert boot.explain().finding(entry) is None


def test_a_machine_whose_processors_cannot_start_in_parallel_is_not_told_to_do_so(tmp_path: Path) -> None:
    lines = "[ 0.116211] smp: Bringing up secondary CPUs ...\n[ 0.331211] smp: Brought up 1 node, 4 CPUs\n"
    finding = imported(tmp_path, {"dmesg.txt": lines_of(ROUTER, lines)}).explain().finding("SMP-01")
    assert finding is not None
    assert "cpuhp" not in finding.remedy.words


@pytest.mark.parametrize(("took", "cost_ns"), [("4.2s", 4_200_000_000), ("31ms", None)])
def test_a_firmware_costs_its_stage_where_it_takes_a_large_part(took: str, cost_ns: int | None, tmp_path: Path) -> None:
    finding = imported(tmp_path, {"journal.txt": JOURNAL.replace("TOOK", took)}).explain().finding("FW-01")
    assert (None if finding is None else finding.cost.ns) == cost_ns


@pytest.mark.parametrize(
    "line", ["md/raid1:md0: active with 1 out of 2 mirrors", "md/raid10:md0: active with 10 out of 12 devices"]
)
def test_an_array_that_lacks_a_disk_is_degraded(line: str, tmp_path: Path) -> None:
    boot = imported(tmp_path, {"dmesg.txt": lines_of(BOARD, f"[ 0.3] {line}\n")})
    assert "DM-05" in [each.entry.id for each in boot.explain().unpriced]
