"""The tables of the roots themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from firstlight.lab.kernel_root import KernelRoot
from firstlight.lab.root_formats import find_format
from firstlight.study.root_filesystems.arms import Way, arm_name
from firstlight.study.root_filesystems.content import FILES
from firstlight.study.root_filesystems.measures import Measured
from firstlight.study.table import Chart, Field, Hole, Series, Table, Value

Arms = Mapping[str, Measured | Hole]
"""By the arms' names."""

_KD_ROWS = 10


def start_table(arms: Arms, kinds: Sequence[str]) -> Table:
    """How long each root takes to the first program, and what of that is its own."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds:
        match arms[kind]:
            case Hole() as hole:
                rows.append((kind, *[hole] * 8))
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
            "Mount: prepare_namespace with all below it (a RAM disk is filled there), or unpack_to_rootfs. First exec: "
            "from run_init_process to the program's first line, with the pages that it needs. Read everything: "
            f"{FILES} texts, read and summed by md5sum.",
        ),
    )  # fmt: skip


def image_table(arms: Arms, images: Mapping[str, KernelRoot | Hole], kinds: Sequence[str]) -> Table:
    """How large each image is, and what memory it takes."""
    rows: list[tuple[Value, ...]] = []
    for kind in kinds:
        image, measured = images[kind], arms[kind]
        sizes: tuple[Value, ...] = (image, image) if isinstance(image, Hole) else (image.size, image.filled)
        if isinstance(measured, Hole):
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
            Field("Pages read", "count"), Field("Texts whole", "count"),
        ),
        tuple(rows),
        (
            "Memory once the user land is up: MemTotal less MemAvailable. Persistent memory and flash are beside it. "
            "Reads: requests to the block device until everything was read, and the pages that they had.",
        ),
    )  # fmt: skip


def ways_table(arms: Arms, kinds: Sequence[str], ways: Sequence[Way]) -> Table:
    """From `start_kernel` to the first program, for each way to start."""
    rows = []
    for kind in kinds:
        found = [arms.get(arm_name(kind, way)) for way in ways]
        cells = [each if isinstance(each, Hole) or each is None else each.from_start_kernel for each in found]
        rows.append((kind, *cells))
    titles = [Field(way.name.replace("-", ", ") or "plain", "time") for way in ways]
    return Table(
        "ways",
        "start_kernel to the first program: plain, quiet, with a preset lpj",
        (Field("Root"), *titles),
        tuple(rows),
        ("The emulated port takes no time but the kernel's own; what a real one would add stands with the findings.",),
    )


def kd_tables(arms: Arms, kinds: Sequence[str], base: str = "initramfs") -> tuple[Table, ...]:
    """Of each root the kd rows of the functions that it has more of than the archive has."""
    other = arms[base]
    return tuple(
        kd_table(kind, measured, other)
        for kind in kinds
        if not isinstance(measured := arms[kind], Hole) and not (kind == base or isinstance(other, Hole))
    )


def kd_table(kind: str, measured: Measured, base: Measured | Hole) -> Table:
    """The kd rows of the functions whose total exceeds that of another boot the most."""
    columns = ["function", "count", "total_ns", "average_ns", "self_ns", "max_sub", "max_sub_count"]
    rows = measured.functions.filter(~pl.col("function").str.starts_with("["))
    if not isinstance(base, Hole):
        theirs = base.functions.group_by("function").agg(pl.col("total_ns").sum().alias("theirs"))
        rows = rows.join(theirs, on="function", how="left").with_columns(
            (pl.col("total_ns") - pl.col("theirs").fill_null(0)).alias("more")
        )
        rows = rows.filter(pl.col("more") > 0).sort("more", "function", descending=[True, False])
    return Table(
        f"kd-{kind}",
        f"{kind}: the functions that it has most more of than initramfs, as kd tells them",
        (
            Field("Function"), Field("Count", "count"), Field("Time", "time"), Field("Average", "time"),
            Field("Local", "time"), Field("Max-sub"), Field("Ms count", "count"),
        ),
        tuple(rows.select(columns).head(_KD_ROWS).iter_rows()),
        ("Of the whole boot, in virtual time; the whole table is in the arm's bundle: `firstlight functions`.",),
    )  # fmt: skip


def start_chart(arms: Arms, kinds: Sequence[str]) -> Chart:
    """What is the root's own in each start."""

    def points(what: str) -> tuple[tuple[str, float], ...]:
        measured = ((kind, arms[kind]) for kind in kinds)
        values = ((kind, getattr(each, what)) for kind, each in measured if not isinstance(each, Hole))
        return tuple((kind, value) for kind, value in values if isinstance(value, int))

    return Chart(
        "own", "What the root itself takes", "stacked", "Root", "Virtual time", "time",
        (
            Series("Mount", points("mount")), Series("First exec", points("first_exec")),
            Series("Read everything", points("reading")),
        ),
    )  # fmt: skip
