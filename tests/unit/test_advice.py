"""After a failed boot the hint says what the guest itself said, where it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.bundle.manifest import Failure
from firstlight.lab.guest.failure_hints import advice
from firstlight.lab.guest.report import Report
from firstlight.recipe.options import RecordOptions
from firstlight.schema.records import FailureReason

INITRD = Path("i.cpio")
PANIC = "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)"
UNPACKING = "Initramfs unpacking failed: invalid magic"
CASES = [
    (
        FailureReason.NEVER_READY,
        ["firstlight: error: the new root has no `/sbin/init`"],
        "",
        None,
        "the new root has no `/sbin/init`",
    ),
    (FailureReason.NEVER_READY, ["reboot: Power down"], "", None, "--ready REGEX"),
    (FailureReason.PANIC, [PANIC], "rdinit=/x", None, "has no `/x`"),
    (FailureReason.PANIC, [PANIC], "rdinit=/x", INITRD, "has no `/x`"),
    (FailureReason.PANIC, [UNPACKING, PANIC], "", INITRD, "could not use the initramfs"),
    (FailureReason.PANIC, [PANIC], "quiet", INITRD, "could not use the initramfs"),
    (FailureReason.PANIC, [PANIC], "root=/dev/x", None, "look at `--append`"),
    (FailureReason.PANIC, ["Kernel panic - not syncing: x"], "", None, "the last lines of the console"),
]


@pytest.mark.parametrize("reason", [FailureReason.NEVER_READY, FailureReason.VIRTUAL_TIMEOUT])
def test_a_line_that_says_ready_is_named_where_no_pattern_was_given(reason: FailureReason) -> None:
    console = (
        "[    0.512000] random: crng ready\r\nstarting (1)\r\nsystem ready (2)\r\n[    1.0] reboot: Power down\r\n"
    )
    failure = Failure(reason=reason, detail="", console_tail=["reboot: Power down"])
    own = RecordOptions(output=Path("a.boot"), initrd=INITRD)
    assert r"`--ready 'system ready \(2\)'`" in advice(failure, own, Report(), console)
    assert "--ready REGEX" in advice(failure, own, Report(), console.replace("system ready", "system steady"))


@pytest.mark.parametrize(("reason", "tail", "append", "initrd", "says"), CASES)
def test_the_hint_fits_what_happened(
    reason: FailureReason, tail: list[str], append: str, initrd: Path | None, says: str
) -> None:
    failure = Failure(reason=reason, detail="", console_tail=tail)
    options = RecordOptions(output=Path("a.boot"), append=append, initrd=initrd)
    assert says in advice(failure, options, Report())


def test_the_guests_report_counts_before_its_console() -> None:
    failure = Failure(reason=FailureReason.NEVER_READY, detail="", console_tail=["firstlight: error: one"])
    report = Report(records={"error": b"`/dev/pmem0` did not appear\n"})
    assert (
        advice(failure, RecordOptions(output=Path("a.boot")), report) == "the guest says: `/dev/pmem0` did not appear"
    )


@pytest.mark.parametrize(
    ("console", "says"),
    [
        ("hello from a stranger\n", "probably never mounted its root"),
        ("[    1.7] EXT4-fs (pmem0): mounted filesystem without journal.\nwaiting\n", "raise `--timeout"),
        ("[    2.1] systemd[1]: Detected virtualization qemu.\n", "raise `--timeout"),
    ],
)
def test_an_initramfs_that_goes_round_without_its_root_is_named(console: str, says: str) -> None:
    options = RecordOptions(output=Path("a.boot"), initrd=INITRD, rootfs="debian")
    failure = Failure(reason=FailureReason.VIRTUAL_TIMEOUT, detail="", console_tail=console.splitlines())
    assert says in advice(failure, options, Report(), console)
