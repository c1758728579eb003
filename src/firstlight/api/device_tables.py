"""The devices of a boot and what udev did for them, as methods of a boot."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from firstlight.bundle.boot import Boot

if TYPE_CHECKING:
    from firstlight.analysis.udev_queue import QueueSummary


class DeviceTables(Boot):
    """A boot with its devices and their uevents."""

    @cached_property
    def _every_uevent(self) -> pl.DataFrame:
        from firstlight.analysis.uevents import uevents

        return uevents(self)

    def devices(self) -> pl.DataFrame:
        """The devices: their probes, how long each took, how often it was deferred and for what.

        >>> import firstlight
        >>> "duration_ns" in firstlight.open(bundle).devices().columns
        True
        """
        from firstlight.analysis.devices import devices

        return devices(self)

    def device_costs(self) -> pl.DataFrame:
        """What udev's workers did for each device: system calls, instructions and time, one row for each event.

        >>> import firstlight
        >>> "mknods" in firstlight.open(bundle).device_costs().columns
        True
        """
        from firstlight.analysis.processes.device_costs import device_costs

        return device_costs(self)

    def udev_sums(self) -> pl.DataFrame:
        """What udev's processes executed instructions for: events, workers between events, the daemon.

        >>> import firstlight
        >>> firstlight.open(bundle).udev_sums().columns
        ['part', 'instructions']
        """
        from firstlight.analysis.processes.device_costs import udev_sums

        return udev_sums(self, self.device_costs())

    def uevents(self) -> pl.DataFrame:
        """The uevents: when the kernel sent each, how long udev queued and handled it.

        >>> import firstlight
        >>> "queued_ns" in firstlight.open(bundle).uevents().columns
        True
        """
        return self._every_uevent

    def udev_events(self) -> pl.DataFrame:
        """The uevents that udev's workers handled, from their system calls: arrival, the daemon's read, worker, times.

        >>> import firstlight
        >>> firstlight.open(bundle).udev_events().columns[:4]
        ['device', 'worker', 'pid', 'arrival_ns']
        """
        from firstlight.analysis.processes.udev_events import udev_events

        return udev_events(self)

    def udev_queue(self) -> QueueSummary:
        """How long uevents waited for udev and how long it handled them: figures of the whole boot."""
        from firstlight.analysis.udev_queue import queue_summary

        return queue_summary(self, self._every_uevent)

    def udev_queue_over_time(self) -> pl.DataFrame:
        """How many uevents waited and how many udev handled, at each time at which that changed."""
        from firstlight.analysis.udev_queue import queue_over_time

        return queue_over_time(self._every_uevent)
