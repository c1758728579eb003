"""The figures of one arm, as the tables and the findings take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from firstlight import FirstlightError
from firstlight.study import Boot, MissingValue, stamps_of
from firstlight_studies.kernel_hotspots.console_output import Printed, printed
from firstlight_studies.kernel_hotspots.health import HotspotHealth, health_of
from firstlight_studies.kernel_hotspots.hotspots import hot_spots
from firstlight_studies.kernel_hotspots.partition import Partition, partition
from firstlight_studies.kernel_hotspots.window import Window, tree_in, window_of


@dataclass(frozen=True)
class HotspotTimings:
    """One arm."""

    window: Window
    parts: Partition
    """Of the window."""
    printed: Printed
    health: HotspotHealth
    mounts_ns: int
    """In user mode: mounting proc and sysfs."""
    root_mount_ns: int = 0
    """Mounting a root that the kernel mounts by itself."""
    stamps: Mapping[str, int] = field(default_factory=dict)
    """Instants that the guest noted, from power on."""

    @property
    def after_ns(self) -> int | None:
        """From the first instruction of user mode until the guest was ready."""
        return None if self.window.ready_ns is None else self.window.ready_ns - self.window.end_ns


def _mounts_ns(boot: Boot) -> int:
    return _total_ns(boot, "proc_get_tree", "sysfs_get_tree")


def _total_ns(boot: Boot, *functions: str) -> int:
    return int(boot.calls().filter(pl.col("function").is_in(functions))["total_ns"].sum())


def measure(boot: Boot | MissingValue) -> HotspotTimings | MissingValue:
    """Measure an arm; what cannot be measured is a gap that says why."""
    if isinstance(boot, MissingValue):
        return boot
    try:
        window = window_of(boot)
        parts = partition(tree_in(boot, window.phases), hot_spots())
        return HotspotTimings(
            window, parts, printed(boot, window), health_of(boot), _mounts_ns(boot),
            _total_ns(boot, "prepare_namespace"), stamps_of(boot),
        )  # fmt: skip
    except FirstlightError as error:
        return MissingValue(error.message)
    except OSError as error:
        return MissingValue(f"the bundle cannot be read: {error.strerror}")
