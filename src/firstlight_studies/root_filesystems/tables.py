"""The tables of the roots themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from firstlight.study import Chart, Field, KernelRoot, MissingValue, Series, Table, Value, find_format, time_text
from firstlight_studies.root_filesystems.arms import Way, arm_name
from firstlight_studies.root_filesystems.content import FILES
from firstlight_studies.root_filesystems.measures import COMMON, FilesystemTimings

Arms = Mapping[str, FilesystemTimings | MissingValue]
"""By the arms' names."""

_KD_ROWS = 26
#: Of a comparison of two tables.
_MORE_ROWS = 10


def start_table(arms: Arms, kinds: Sequence[str]) -> Table:
    """How long each root takes to the first program, and what of that is its own."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds:
        match arms[kind]:
            case MissingValue() as gap:
                rows.append((kind, *[gap] * 8))
            case measured:
                rows.append((
                    kind, measured.from_power_on, measured.from_start_kernel, measured.to_ready, measured.device,
                    measured.mount,
                    measured.first_exec, measured.reading, measured.boot.manifest.totals.idle_ns,
                ))  # fmt: skip
    return Table(
        "start",
        "From power on and from start_kernel to the first program",
        (
            Field("Root"), Field("Power on to program", "time"), Field("start_kernel to program", "time"),
            Field("start_kernel to ready", "time"), Field("Device", "time"), Field("Mount", "time"),
            Field("First exec", "time"), Field("Read everything", "time"), Field("Idle", "time"),
        ),
        tuple(rows),
        (
            "Program: the first line of the first process. Device: to find persistent memory (nfit_init, "
            "nd_pmem_driver_init), which the findings leave out of every comparison.",
            "Mount: prepare_namespace with all below it (a RAM disk is filled there), and do_populate_rootfs, which "
            "unpacks an archive and puts the image of a RAM disk aside. First exec: from run_init_process to the "
            f"program's first line, with the pages that it needs. Read everything: {FILES} texts, summed by md5sum.",
            "Kernel, archive and image are in memory at power on, so nothing has to be loaded before.",
            *_common(arms, kinds),
        ),
    )  # fmt: skip


def _common(arms: Arms, kinds: Sequence[str]) -> list[str]:
    measured = next((each for kind in kinds if isinstance(each := arms[kind], FilesystemTimings)), None)
    if measured is None or isinstance(start := measured.from_start_kernel, MissingValue):
        return []
    parts = [f"{name} {time_text(measured.total(name))}" for name in COMMON]
    share = sum(map(measured.total, COMMON)) / start
    return [
        f"With every root, this kernel spends {' and '.join(parts)} of each start: "
        f"{share * 100:.0f} % of the first one here. Without them every change in per cent would be "
        f"{1 / (1 - share):.1f} times as large."
    ]


def image_table(arms: Arms, images: Mapping[str, KernelRoot | MissingValue], kinds: Sequence[str]) -> Table:
    """How large each image is, and what memory it takes."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds:
        image, measured = images[kind], arms[kind]
        sizes: tuple[Value, ...] = (image, image) if isinstance(image, MissingValue) else (image.size, image.filled)
        if isinstance(measured, MissingValue):
            rows.append((kind, find_format(kind).what, *sizes, *[measured] * 5))
            continue
        requests = measured.requests if find_format(kind).device == "pmem" else None
        rows.append((
            kind, find_format(kind).what, *sizes, measured.used, measured.memory.get("MemAvailable"),
            *(requests or (None, None)), measured.kept_number("data"),
        ))  # fmt: skip
    return Table(
        "images",
        "Image and memory",
        (
            Field("Root"), Field("What it is"), Field("Image", "bytes"), Field("Not zero", "bytes"),
            Field("Memory used", "bytes"), Field("MemAvailable", "bytes"), Field("Reads", "count"),
            Field("Pieces read", "count"), Field("Texts complete", "count"),
        ),
        tuple(rows),
        (
            "Memory once userspace is up: MemTotal minus MemAvailable, without persistent memory and flash. Reads: "
            "requests to the block device until everything was read. Pieces: the parts of these requests, each of a "
            "page or less.",
        ),
    )  # fmt: skip


def ways_table(arms: Arms, kinds: Sequence[str], ways: Sequence[Way]) -> Table:
    """To the first program from power on and from `start_kernel`, for each way to start."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds:
        found = [arms.get(arm_name(kind, way)) for way in ways]
        rows.append((
            kind,
            *(each if isinstance(each, MissingValue) or each is None else each.from_power_on for each in found),
            *(each if isinstance(each, MissingValue) or each is None else each.from_start_kernel for each in found),
        ))  # fmt: skip
    names = [way.name.replace("-", ", ") or "plain" for way in ways]
    return Table(
        "ways",
        "To the first program: plain, quiet, with a preset lpj",
        (
            Field("Root"), *(Field(f"Power on: {name}", "time") for name in names),
            *(Field(f"start_kernel: {name}", "time") for name in names),
        ),
        tuple(rows),
        (
            "The emulated port takes no time except the kernel's own; the findings state what a real one would add.",
            "Empty cells were not requested: `--full` starts every root in every way.",
        ),
    )  # fmt: skip


_KD_FIELDS = (
    Field("Function"), Field("Count", "count"), Field("Time", "time"), Field("Average", "time"),
    Field("Local", "time"), Field("Max-sub"), Field("Ms count", "count"),
)  # fmt: skip
_KD_COLUMNS = ("function", "count", "total_ns", "average_ns", "self_ns", "max_sub", "max_sub_count")


def kd_tables(arms: Arms, kinds: Sequence[str], base: str = "initramfs") -> tuple[Table, ...]:
    """The first rows of one root's kd table, then of each root those of which it has more than the archive has."""
    other = arms[base]
    there = {kind: each for kind in kinds if isinstance(each := arms[kind], FilesystemTimings)}
    first = next(iter(there.items()), None)
    whole = () if first is None else (kd_table(*first),)
    if isinstance(other, MissingValue):
        return whole
    return (*whole, *(more_table(kind, each, other, base) for kind, each in there.items() if kind != base))


def kd_table(kind: str, measured: FilesystemTimings) -> Table:
    """The functions that take the most time from `start_kernel` to user mode, as kd has them."""
    rows = _kernel(measured.start_functions)
    below = (
        "From start_kernel to user mode, in virtual time: as many rows as the old table had. `firstlight functions` "
        "prints the complete table of each bundle.",
    )
    shown = tuple(rows.select(_KD_COLUMNS).head(_KD_ROWS).iter_rows())
    return Table(f"kd-{kind}", f"{kind}: the first rows of kd's table", _KD_FIELDS, shown, below)


def more_table(kind: str, measured: FilesystemTimings, base: FilesystemTimings, beside: str) -> Table:
    """The kd rows of the functions that themselves take most more than in another boot."""
    rows = _kernel(measured.more_than(base))
    return Table(
        f"kd-more-{kind}",
        f"{kind}: functions with more local time than with {beside}",
        (*_KD_FIELDS, Field("Local, more", "change")),
        tuple(rows.select(*_KD_COLUMNS, "more").head(_MORE_ROWS).iter_rows()),
        (f"Of the entire boot, in virtual time. More: the local time minus that in the boot of `{beside}`.",),
    )


def _kernel(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(~pl.col("function").str.starts_with("["))


def start_chart(arms: Arms, kinds: Sequence[str]) -> Chart:
    """What is the root's own in each start."""

    def points(what: str) -> tuple[tuple[str, float], ...]:
        measured = ((kind, arms[kind]) for kind in kinds)
        values = ((kind, getattr(each, what)) for kind, each in measured if not isinstance(each, MissingValue))
        return tuple((kind, value) for kind, value in values if isinstance(value, int))

    return Chart(
        "own", "What the root itself takes", "stacked", "Root", "Virtual time", "time",
        (
            Series("Mount", points("mount")), Series("First exec", points("first_exec")),
            Series("Read everything", points("reading")),
        ),
    )  # fmt: skip
