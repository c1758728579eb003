"""The study's arms: settings of lvm2, layouts of the volumes, and how many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from firstlight import RecordOptions
from firstlight.study import MissingValue, StudyArm, attach, parse_size, size_text
from firstlight_studies.lvm_activation.volumes import Layout, Volumes

Mode = Literal["quick", "ordinary", "full"]

Row = tuple[str, Layout]
"""A setting and a layout."""

_MAIN: tuple[Row, ...] = (("event", "groups"), ("static", "groups"), ("event", "group"), ("static", "group"))
_QUICK = (2, 4, 8, 16, 32)
#: Of the other settings: a scaling model needs five.
_FEWER = (3, 10, 30, 60, 100)
#: No scaling model is clear by fewer than eight.
_SIZES = (3, 10, 20, 30, 60, 100, 200, 300)
_LARGEST = 1000

#: Of every guest. The more memory, the more workers udev allows itself, so that all sizes have the same. All services
#: took 3 MB for each of 32 volumes.
MEMORY: dict[Mode, str] = {"quick": "2G", "ordinary": "2G", "full": "4G"}
#: Disks that were not asked for would be looked at by every program that looks for volumes.
_NO_OTHER_DISKS = "brd.rd_nr=0 loop.max_loop=0 null_blk.nr_devices=0"
_WALL_S = 7200.0
_VIRTUAL_S = 3600.0


@dataclass(frozen=True)
class Setting:
    """One way of setting lvm2 up; `guest/generator.sh` knows each by its key."""

    key: str
    title: str
    static: bool = False
    """A unit activates everything, once udev's queue is empty; else udev's events do."""
    activates: bool = True
    """The volumes become active."""
    against: str = "event"
    """The setting that it changes."""


SETTINGS = (
    Setting("event", "events"),
    Setting("obtain", "events, obtain_device_list_from_udev=1"),
    Setting("external", 'events, external_device_info_source="udev"'),
    Setting("filter", "events, filter accepts the volumes only"),
    Setting("rejected", "events, filter accepts the root only", activates=False),
    Setting("listed", "events, devices file"),
    Setting("static", "static unit", static=True),
    Setting("static-obtain", "static unit, obtain_device_list_from_udev=1", static=True, against="static"),
    Setting("static-external", 'static unit, external_device_info_source="udev"', static=True, against="static"),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}
LAYOUT_TITLES: dict[Layout, str] = {"groups": "N groups of one", "group": "one group of N"}


@dataclass(frozen=True)
class Cell:
    """One arm: what it is, and whether the kernel notes what lvm2's programs do in it."""

    setting: str
    volumes: Volumes
    trace: bool = True

    @property
    def name(self) -> str:
        """Of its boot."""
        plain = "" if self.trace else "-untraced"
        return f"{self.setting}-{self.volumes.layout}-{self.volumes.count:04d}{plain}"


@dataclass(frozen=True)
class ActivationPlan:
    """Which settings are measured in which layouts at which sizes."""

    rows: Mapping[Row, tuple[int, ...]]
    untraced: tuple[Cell, ...]
    """Again, without the kernel's notes: what these cost."""

    def cells(self) -> list[Cell]:
        """Every cell, the large ones first: they take the longest."""
        cells = [
            Cell(setting, Volumes(size, layout)) for (setting, layout), sizes in self.rows.items() for size in sizes
        ]
        return sorted([*cells, *self.untraced], key=lambda cell: -cell.volumes.count)

    def volumes(self) -> list[Volumes]:
        """What has to be prepared, the largest first."""
        return list(dict.fromkeys(cell.volumes for cell in self.cells()))


def plan(mode: Mode, sizes: tuple[int, ...] = ()) -> ActivationPlan:
    """What is booted: all sizes for both ways of activating in both layouts; of what changes a setting of them
    fewer, in groups of one, unless everything is asked for.

    :param sizes: in place of all others.

    >>> plan("quick").rows
    {('event', 'groups'): (2, 4, 8, 16, 32), ('static', 'groups'): (2, 4, 8, 16, 32)}
    """
    if mode == "quick":
        return ActivationPlan(dict.fromkeys(_MAIN[:2], sizes or _QUICK), ())
    rows = dict.fromkeys(_MAIN, sizes or (*_SIZES, *([_LARGEST] if mode == "full" else [])))
    for setting in SETTINGS:
        rows.setdefault((setting.key, "groups"), sizes or _FEWER)
        if mode == "full":
            rows.setdefault((setting.key, "group"), sizes or _FEWER)
    largest = max(sizes or _FEWER)
    untraced = tuple(Cell(setting, Volumes(largest, layout), trace=False) for setting, layout in _MAIN[:2])
    return ActivationPlan(rows, untraced)


def guest_options(kernel: Path, rootfs: Path, overlay: Path, memory: str = MEMORY["ordinary"]) -> RecordOptions:
    """What every arm boots, without its words and its disks."""
    return RecordOptions(
        output=Path("lvm.boot"),
        kernel=kernel,
        rootfs=str(rootfs),
        overlay=overlay,
        memory=memory,
        append=f"quiet {_NO_OTHER_DISKS}",
        timeout_wall_s=_WALL_S,
        timeout_virtual_s=_VIRTUAL_S,
    )


def arm(
    cell: Cell,
    guest: RecordOptions | MissingValue,
    disks: tuple[Path, ...] | MissingValue,
    available: int | None = None,
) -> StudyArm:
    """The arm of a cell, with its disks; a gap where something is missing that it is made of.

    :param available: bytes of memory that the host has left; nothing when that is not to be asked.
    """
    for made in (guest, disks):
        if isinstance(made, MissingValue):
            return StudyArm(cell.name, made)
    assert isinstance(guest, RecordOptions)
    assert isinstance(disks, tuple)
    needed = parse_size(guest.memory or MEMORY["ordinary"]) + sum(disk.stat().st_size for disk in disks)
    if available is not None and available < needed:
        why = f"too little memory for {cell.volumes.count:,} volumes: guest and disks need {size_text(needed)}"
        return StudyArm(cell.name, MissingValue(f"{why}, more than this machine has left"))
    words = cell.volumes.words(cell.setting, trace=cell.trace)
    return StudyArm(cell.name, replace(guest, append=f"{guest.append} {words}", qemu_options=attach(disks)))
