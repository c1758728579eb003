"""The arms: one kernel, one userspace, one initramfs; they differ in words of the command line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from firstlight import FirstlightError, RecordOptions
from firstlight.study import Lab, MissingValue, StudyArm, first_missing
from firstlight_studies.udev_ptys.early_udev import write_early_udev
from firstlight_studies.udev_ptys.system_files import LOG_ASKED, MONITOR_UNIT, SETTLE_UNIT, write_system_files

#: Of `pty.legacy_count`: what the study is asked for, and one size more, because a law needs five.
COUNTS = (0, 16, 64, 128, 256)
MORE_COUNTS = (8, 32, 192)
MOST = 256
#: Devices of one legacy pseudo-terminal: master and slave.
DEVICES_PER_COUNT = 2

_QUIET = "quiet"
#: A busy host is no reason for a gap.
_TIMEOUT_WALL_S = 7200.0
_MONITOR = f"systemd.wants={MONITOR_UNIT}"
_FREE = f"systemd.mask={SETTLE_UNIT}"


@dataclass(frozen=True)
class Relative:
    """Another population of devices that a kernel makes ahead of need."""

    name: str
    what: str
    word: str
    """Of the command line, that says how many."""
    few: int
    """As many as there are in every other arm: the kernel's default."""
    many: int
    initcall: str
    """That makes them."""

    @property
    def arm(self) -> str:
        """The arm with many."""
        return f"{self.name}-{self.many}"

    @property
    def devices(self) -> int:
        """How many more the arm has."""
        return self.many - self.few


RELATIVES = (
    Relative("serial", "serial ports", "8250.nr_uarts", 4, 32, "serial8250_init"),
    Relative("loop", "loop devices", "loop.max_loop", 8, 136, "loop_init"),
    Relative("ram", "RAM disks", "brd.rd_nr", 16, 144, "brd_init"),
)


def plain(count: int) -> str:
    """The arm of so many legacy pseudo-terminals; without a watcher."""
    return f"legacy-{count}"


NEIGHBOUR = f"neighbour-{MOST}"
"""As the largest, with what should not matter drawn anew."""


@dataclass(frozen=True)
class Watched:
    """Three arms that somebody watches, in the order of the old table: A, B, C."""

    a: str
    b: str
    c: str


PLAIN = Watched(NEIGHBOUR, plain(MOST), plain(0))
MONITORED = Watched(f"monitor-neighbour-{MOST}", f"monitor-{MOST}", "monitor-0")
LOGGED = Watched(f"monitor-log-neighbour-{MOST}", f"monitor-log-{MOST}", "monitor-log-0")
"""These have the monitor too: only it knows when the kernel sent an event."""
FREE = (f"free-{MOST}", "free-0")
"""Nothing waits for udev to settle."""
WORKERS = (1, 2, 64)
"""Of `udev.children_max`, at the largest count."""


def workers(most: int) -> str:
    """The arm with at most so many workers."""
    return f"workers-{most}"


def counts(lab: Lab) -> tuple[int, ...]:
    """The sizes of this run, with both ends of the comparison."""
    if lab.extent.sizes:
        return tuple(sorted({0, MOST, *lab.extent.counts(MOST)}))
    return COUNTS if lab.quick else tuple(sorted(COUNTS + MORE_COUNTS))


def arms(lab: Lab) -> list[StudyArm]:
    """Every arm of this run, the most telling first."""
    kernel, userspace = lab.image("kernel"), lab.image("debian")
    base: RecordOptions | MissingValue
    if isinstance(kernel, MissingValue) or isinstance(userspace, MissingValue):
        base = first_missing(kernel, userspace)
    else:
        base = _base(lab, kernel, userspace)
    return [
        StudyArm(name, base if isinstance(base, MissingValue) else change.of(base)) for name, change in _changes(lab)
    ]


def _base(lab: Lab, kernel: Path, userspace: Path) -> RecordOptions | MissingValue:
    folder = lab.scratch
    early, system = folder / "initramfs", folder / "system"
    try:
        # A run before this one may have been interrupted, or been of another version.
        for made in (early, system):
            shutil.rmtree(made, ignore_errors=True)
        write_early_udev(userspace, early)
        write_system_files(system)
    except FirstlightError as error:
        return MissingValue(error.message)
    return RecordOptions(
        output=folder,
        kernel=kernel,
        rootfs=str(userspace),
        overlay=system,
        initramfs_files=early,
        append=_QUIET,
        timeout_wall_s=_TIMEOUT_WALL_S,
    )


@dataclass(frozen=True)
class _Change:
    """What an arm has that the others have not."""

    words: str
    anew: bool = False

    def of(self, base: RecordOptions) -> RecordOptions:
        changed = replace(base, append=f"{base.append} {self.words}")
        return replace(changed, initramfs_order=1, seed=2) if self.anew else changed


def _changes(lab: Lab) -> Iterator[tuple[str, _Change]]:
    def legacy(count: int, *words: str, anew: bool = False) -> _Change:
        return _Change(" ".join((f"pty.legacy_count={count}", *words)), anew)

    yield plain(MOST), legacy(MOST)
    yield NEIGHBOUR, legacy(MOST, anew=True)
    yield plain(0), legacy(0)
    for three, words in ((MONITORED, (_MONITOR,)), (LOGGED, (_MONITOR, LOG_ASKED))):
        yield three.b, legacy(MOST, *words)
        yield three.c, legacy(0, *words)
        if not lab.quick:
            yield three.a, legacy(MOST, *words, anew=True)
    for count in counts(lab):
        if count not in (MOST, 0):
            yield plain(count), legacy(count)
    if lab.quick:
        return
    for name, count in zip(FREE, (MOST, 0), strict=True):
        yield name, legacy(count, _FREE)
    for relative in RELATIVES:
        yield relative.arm, legacy(0, f"{relative.word}={relative.many}")
    for most in WORKERS:
        yield workers(most), legacy(MOST, f"udev.children_max={most}")
