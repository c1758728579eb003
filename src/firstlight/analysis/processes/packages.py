"""The distribution's bill: the instructions of a boot by the packages whose programs they were executed for."""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from firstlight.analysis.processes.work import work
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns

HINT = (
    "the root file system that was booted had no package database that Firstlight reads (dpkg, rpm, apk, opkg, "
    "pacman), or an older Firstlight recorded the boot: record it again, or give the root with `--root`"
)
"""Why no file has a package, and what to do about it."""

LINKER = r"/ld(?:-[^/]*|\d*)\.so[^/]*$|/ld-musl-[^/]*$"
"""How the files of the dynamic linkers of glibc, musl, uClibc and the BSDs are named, as a regular expression."""


class Payer(StrEnum):
    """Who pays for instructions."""

    PACKAGE = "package"
    LINKER = "dynamic linker"
    """Linking programs with their libraries when they begin; known where user code was followed."""
    NO_PACKAGE = "no package"
    """Code that belongs to no package."""
    KERNEL = "kernel"
    """A thread of the kernel, idle and the kernel before the first program among them."""


class GroupBill(StrEnum):
    """By what the bill is summed."""

    PACKAGE = "package"
    FILE = "file"


_SCHEMA = columns(
    "payer package version file processes:int instructions:int user_instructions:int kernel_instructions:int"
)
_KEYS = {GroupBill.PACKAGE: ["payer", "package", "version"], GroupBill.FILE: ["payer", "package", "version", "file"]}


def packages(boot: Boot, by: GroupBill = GroupBill.PACKAGE, owners: pl.DataFrame | None = None) -> pl.DataFrame:
    """Who pays for the instructions of a boot, from the kernel's first instruction on, the largest sum first.

    Columns: `payer` (of :class:`Payer`), `package`, `version`, `file` (null in sums by package, and of the kernel),
    `processes` (how many executed it), `instructions`. The rows sum up to the instructions of all processes.

    Where user code was followed, `instructions` consist of `user_instructions`, which the code of the file itself
    executed, whatever program called it, and `kernel_instructions`, which the kernel and interrupts executed while a
    process ran the file as its program. Code without a file has its kind in brackets, such as `[vdso]`. Elsewhere these
    two are null, and all instructions of a process count for its program.

    :param by: one row for each package, or for each file of it.
    :param owners: the table `packages` of another root; by default the boot's own.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> packages(firstlight.open(bundle)).height
    0
    """
    rows = _bills(boot, owners, _code(boot))
    if rows.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    parts = ("user_instructions", "kernel_instructions")
    sums = rows.group_by(_KEYS[by]).agg(
        pl.col("process").n_unique().cast(pl.Int64).alias("processes"),
        pl.col("instructions").sum(),
        *(pl.when(pl.lit(_followed(boot))).then(pl.col(part).sum()).alias(part) for part in parts),
    )
    if by is GroupBill.PACKAGE:
        sums = sums.with_columns(file=pl.lit(None, pl.String))
    order = ["instructions", "payer", "package", "file"]
    return sums.sort(order, descending=[True, False, False, False]).select(*_SCHEMA)


def packages_of_processes(boot: Boot, *, by_code: bool = False) -> pl.DataFrame:
    """What each process executed for each package: `process`, `name`, `instructions`; nothing without packages.

    `name` is that of the package, or in brackets who pays instead. The sum is that of :func:`packages`.

    :param by_code: a library counts for its own package, which needs user code that was followed; else all of a process
        counts for its program, so that boots with and without user code have the same figures.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> packages_of_processes(firstlight.open(bundle)).height
    0
    """
    schema = columns("process:int name instructions:int")
    if boot.table("packages").is_empty():
        return pl.DataFrame(schema=schema)
    rows = _bills(boot, None, _code(boot) if by_code else None)
    if rows.is_empty():
        return pl.DataFrame(schema=schema)
    paid = pl.when(pl.col("payer") == Payer.PACKAGE).then("package").otherwise(pl.format("[{}]", "payer"))
    sums = rows.group_by("process", name=paid).agg(pl.col("instructions").sum())
    return sums.sort("process", "name").select(*schema)


def _bills(boot: Boot, owners: pl.DataFrame | None, code: pl.DataFrame | None) -> pl.DataFrame:
    """What is to be paid, and who pays."""
    rows = _charges(boot, code)
    if rows.is_empty():
        return rows
    owned = (boot.table("packages") if owners is None else owners).select("package", "version", file="path")
    user = pl.col("user_instructions").is_not_null()
    payer = (
        pl.when(pl.col("file").is_null())
        .then(pl.lit(Payer.KERNEL))
        .when(user & pl.col("file").str.contains(LINKER))
        .then(pl.lit(Payer.LINKER))
        .when(pl.col("package").is_null())
        .then(pl.lit(Payer.NO_PACKAGE))
        .otherwise(pl.lit(Payer.PACKAGE))
    )
    return rows.join(owned, on="file", how="left").with_columns(payer=payer)


def _code(boot: Boot) -> pl.DataFrame | None:
    """What each thread executed in user mode by file, where that was followed."""
    code = boot.table("user_functions")
    return None if code.is_empty() else code


def _followed(boot: Boot) -> bool:
    return _code(boot) is not None


def _charges(boot: Boot, code: pl.DataFrame | None) -> pl.DataFrame:
    """What is to be paid: `process`, `file`, `instructions`, and those in user mode or else in the kernel."""
    done = work(boot).rename({"image": "file"}).group_by("process", "file").agg(pl.col("instructions").sum())
    none = pl.lit(None, pl.Int64)
    if code is None:
        return done.with_columns(user_instructions=none, kernel_instructions=none)
    # By the program that called it, to be taken from the program's instructions.
    by_program = code.group_by("process", file="image").agg(user=pl.col("self_instructions").sum())
    kernel = done.join(by_program, on=["process", "file"], how="full", coalesce=True, nulls_equal=True)
    kernel = kernel.select(
        "process", "file", kernel_instructions=pl.col("instructions").fill_null(0) - pl.col("user").fill_null(0)
    )
    kernel = kernel.with_columns(instructions="kernel_instructions", user_instructions=none)
    # A file may have been unlinked; code without a file has its kind.
    place = pl.coalesce("file", pl.format("[{}]", "kind"))
    ran = code.group_by("process", file=place).agg(instructions=pl.col("self_instructions").sum())
    ran = ran.with_columns(user_instructions="instructions", kernel_instructions=none)
    names = ["process", "file", "instructions", "user_instructions", "kernel_instructions"]
    return pl.concat([kernel.select(names), ran.select(names)])
