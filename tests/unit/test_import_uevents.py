"""Uevents of which a monitor and udev's log tell, each by its own stamps."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight.analysis.uevents import uevents
from imported_records import imported

MONITOR = """\
monitor will print the received events for:
UDEV - the event which udev sends out after rule processing
KERNEL - the kernel uevent

KERNEL[2.000000] add      /devices/virtual/block/sdz1 (block)
ACTION=add
DEVPATH=/devices/virtual/block/sdz1
SUBSYSTEM=block
SEQNUM=1001

UDEV  [2.050000] add      /devices/virtual/block/sdz1 (block)
ACTION=add
DEVPATH=/devices/virtual/block/sdz1
SUBSYSTEM=block
SEQNUM=1001

"""
LOG = """\
[    2.000100] box systemd-udevd[230]: sdz1: Device is queued (SEQNUM=1001, ACTION=add)
[    2.010000] box systemd-udevd[230]: sdz1: Device ready for processing (SEQNUM=1001, ACTION=add)
[    2.010100] box systemd-udevd[230]: sdz1: Worker [241] is forked for processing SEQNUM=1001.
[    2.010200] box (udev-worker)[241]: sdz1: Processing device (SEQNUM=1001, ACTION=add)
[    {processed:.6f}] box (udev-worker)[241]: sdz1: Device processed (SEQNUM=1001, ACTION=add)
"""


@pytest.mark.parametrize("processed", [2.0499, 2.0501])
def test_the_service_is_the_events_also_where_the_log_ends_it_later(processed: float, tmp_path: Path) -> None:
    boot = imported(tmp_path, {"monitor.txt": MONITOR, "udev.log": LOG.format(processed=processed)})
    event = uevents(boot).row(0, named=True)
    assert (event["worker"], event["queued_ns"]) == ("241", 9_900_000)
    assert event["service_ns"] == pytest.approx((processed - 2.0102) * 1e9, abs=1_000)
