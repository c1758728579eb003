"""From a boot to the figures of one kind of root."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from firstlight.study import Boot, Mark, MissingValue, kept_number, kept_text, stamps_of

#: What mounts a root that is not an archive; what unpacks one that is, or puts the image of a RAM disk aside.
_MOUNT = "prepare_namespace"
_UNPACK = "do_populate_rootfs"
#: What every boot of the lab's kernel does on this machine, whatever its root: its tracers, and a timer.
COMMON = ("trace_event_update_all", "setup_boot_APIC_clock")
#: What finds persistent memory: the table of the firmware, and the driver.
_DEVICE = ("nfit_init", "nd_pmem_driver_init")


@dataclass(frozen=True)
class FilesystemTimings:
    """The figures of one boot, in nanoseconds of virtual time and in bytes."""

    boot: Boot

    @cached_property
    def _marks(self) -> dict[str, int]:
        return dict(self.boot.marks().select("mark", "time_ns").iter_rows())

    @cached_property
    def functions(self) -> pl.DataFrame:
        """The kd table of the whole boot."""
        return self.boot.functions()

    @cached_property
    def start_functions(self) -> pl.DataFrame:
        """The kd table from `start_kernel` to user mode: the phases in between, added up."""
        marks = self._marks
        first, last = marks.get(Mark.KERNEL_START), marks.get(Mark.USER_START)
        phases = (
            self.boot.phases().filter((pl.col("start_ns") >= first) & (pl.col("end_ns") <= last))["phase"].to_list()
        )
        parts = [self.boot.functions(phase=phase).with_columns(phase=pl.lit(phase)) for phase in phases]
        rows = pl.concat(parts).sort("total_ns", descending=True)
        counts = pl.col("count", "total_ns", "self_ns").sum()
        # The callee of the phase in which the function took most.
        added = rows.group_by("function", maintain_order=True).agg(counts, pl.col("max_sub", "max_sub_count").first())
        average = (pl.col("total_ns") // pl.col("count").clip(1)).alias("average_ns")
        return added.with_columns(average).sort("total_ns", "function", descending=[True, False])

    @cached_property
    def _totals(self) -> dict[str, tuple[int, int]]:
        rows = self.functions.filter(pl.col("kind") != "user") if "kind" in self.functions.columns else self.functions
        return {name: (count, total) for name, count, total in rows.select("function", "count", "total_ns").iter_rows()}

    def between(self, first: str, last: str) -> int | MissingValue:
        """From one mark to another."""
        for mark in (first, last):
            if mark not in self._marks:
                return MissingValue(f"the boot has no mark `{mark}`")
        return self._marks[last] - self._marks[first]

    @property
    def from_power_on(self) -> int | MissingValue:
        """From power on to the first line of the first program."""
        return self.between(Mark.POWER_ON, Mark.GUEST_START)

    @property
    def from_start_kernel(self) -> int | MissingValue:
        """From `start_kernel` to the first line of the first program."""
        return self.between(Mark.KERNEL_START, Mark.GUEST_START)

    @property
    def to_ready(self) -> int | MissingValue:
        """From `start_kernel` to ready."""
        return self.between(Mark.KERNEL_START, Mark.READY)

    def total(self, function: str) -> int:
        """Everything below a function, all its calls together; 0 where it was not called."""
        return self._totals.get(function, (0, 0))[1]

    def count(self, function: str) -> int:
        """Its calls."""
        return self._totals.get(function, (0, 0))[0]

    @property
    def mount(self) -> int:
        """What it took to get a root: mounting it, filling a RAM disk first, or unpacking an archive."""
        return self.total(_MOUNT) + self.total(_UNPACK)

    @property
    def device(self) -> int:
        """What it took to find persistent memory, which only roots on it have in their machine."""
        return sum(map(self.total, _DEVICE))

    @property
    def first_exec(self) -> int | MissingValue:
        """From the kernel's turn to the first program to that program's first line: its pages come in here."""
        return self.between(Mark.RUN_INIT, Mark.GUEST_START)

    @property
    def reading(self) -> int | MissingValue:
        """All texts of the content, read once and summed."""
        stamps = self.stamps
        if "up" not in stamps or "read" not in stamps:
            return MissingValue("the guest left no stamps")
        return stamps["read"] - stamps["up"]

    @cached_property
    def stamps(self) -> dict[str, int]:
        """Instants that the guest noted, from power on."""
        return stamps_of(self.boot)

    def kept_number(self, name: str) -> int | MissingValue:
        """A number that the guest left."""
        return kept_number(self.boot, name)

    @cached_property
    def memory(self) -> dict[str, int]:
        """`/proc/meminfo` once the userspace was up, in bytes."""
        text = kept_text(self.boot, "meminfo")
        return {name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+):\s+(\d{1,15}) kB$", text, re.MULTILINE)}

    @property
    def used(self) -> int | MissingValue:
        """Memory that is no longer available once the userspace is up."""
        memory = self.memory
        if "MemTotal" not in memory or "MemAvailable" not in memory:
            return MissingValue("the guest left no /proc/meminfo")
        return memory["MemTotal"] - memory["MemAvailable"]

    @property
    def requests(self) -> tuple[int, int]:
        """Requests to the persistent memory, which counts none itself, and the pieces that were read of it."""
        return self.count("pmem_submit_bio") + self.count("pmem_rw_page"), self.count("pmem_do_read")

    @property
    def console_bytes(self) -> int:
        """What the boot printed until the first program, two bytes for each line's end among them."""
        until = self._marks.get(Mark.GUEST_START)
        log = self.boot.log()
        if until is not None:
            log = log.filter(pl.col("time_ns").is_null() | (pl.col("time_ns") < until))
        return sum(len(text.encode()) + 2 for text in log["text"].to_list())

    def more_than(self, other: FilesystemTimings) -> pl.DataFrame:
        """The kd rows of what itself takes longer than in another boot, by how much (`more`), the most first."""
        theirs = other.functions.group_by("function").agg(pl.col("self_ns").sum().alias("theirs"))
        more = (pl.col("self_ns") - pl.col("theirs").fill_null(0)).alias("more")
        rows = self.functions.join(theirs, on="function", how="left").with_columns(more)
        return rows.filter(pl.col("more") > 0).sort("more", "function", descending=[True, False])

    def log_lines(self, pattern: str) -> list[str]:
        """What the kernel said on its console, without its stamp, where it matches."""
        texts = self.boot.log()["text"].to_list()
        return [text for text in (re.sub(r"^\[ *\d+\.\d+\] ", "", each) for each in texts) if re.search(pattern, text)]


class Measured(dict[str, FilesystemTimings | MissingValue]):
    """By the arms' names; an arm that was not booted has the reason."""

    def __init__(self, found: Mapping[str, FilesystemTimings | MissingValue], nothing: MissingValue) -> None:
        super().__init__(found)
        self.nothing = nothing

    def __missing__(self, name: str) -> MissingValue:
        return self.nothing


def read_block_stat(content: bytes | None) -> tuple[int, int] | None:
    """Reads and the bytes they had, from `/sys/block/NAME/stat`.

    >>> read_block_stat(b"      29        0     2130        0        0        0\\n")
    (29, 1090560)
    """
    fields = (content or b"").split()
    if len(fields) < 3 or not (fields[0].isdigit() and fields[2].isdigit()):
        return None
    return int(fields[0]), int(fields[2]) * 512


def lpj_of(boot: Boot | MissingValue) -> int | MissingValue:
    """The loops per jiffy that a kernel found out by itself."""
    if isinstance(boot, MissingValue):
        return MissingValue(f"the boot that finds it out is missing: {boot.reason}")
    values = boot.facts().filter(pl.col("fact") == "kernel.lpj")["value"].to_list()
    return (
        int(values[0]) if values and values[0].isdigit() else MissingValue("the kernel did not say what it found out")
    )
