"""How much of each kernel runs at all, by phase."""

from __future__ import annotations

import polars as pl

from firstlight import FirstlightError
from firstlight.study import (
    NO_FUNCTION,
    SHARED_NAME,
    Boot,
    Chart,
    Field,
    MissingValue,
    Recipe,
    Series,
    Table,
    Value,
    architecture_of,
    find_qemu,
    kernel_symbols,
    made_here,
    missing_row,
    open_kernel,
)
from firstlight_studies.kernel_hotspots.coverage import Coverage, Covered, coverage
from firstlight_studies.kernel_hotspots.linked import Linked, linked_functions

_FIELDS = (
    Field("Phase"), Field("Functions executed", "count"), Field("First here", "count"),
    Field("Bytes of these functions", "bytes"), Field("Bytes of those first here", "bytes"),
    Field("Their share of the bytes linked", "share"), Field("Of these functions freed later", "count"),
)  # fmt: skip


def linked_of(boot: Boot | MissingValue) -> Linked | MissingValue:
    """The functions that the kernel of a boot is linked of, as the kernel itself reports them."""
    if isinstance(boot, MissingValue):
        return boot
    recipe = boot.manifest.recipe
    if not isinstance(recipe, Recipe) or not made_here(boot.manifest):
        return MissingValue("which kernel the bundle booted is known only where it was recorded")
    try:
        symbols = kernel_symbols(open_kernel(recipe.files.kernel), find_qemu(architecture_of(recipe.architecture)))
        return linked_functions(symbols.read_text(encoding="utf-8", errors="replace"))
    except FirstlightError as error:
        return MissingValue(error.message)
    except OSError as error:
        return MissingValue(f"the kernel's symbols cannot be read: {error.strerror}")


def coverage_of(boot: Boot | MissingValue, linked: Linked | MissingValue) -> Coverage | MissingValue:
    """What of these functions the boot ran."""
    if isinstance(boot, MissingValue):
        return boot
    if isinstance(linked, MissingValue):
        return linked
    try:
        tables = boot.phase_functions(raw_names=True)
    except FirstlightError as error:
        return MissingValue(error.message)
    ran = pl.col("module").is_null() & ~pl.col("kind").is_in(NO_FUNCTION)
    name = pl.col("function").str.replace(SHARED_NAME, "")
    return coverage(linked, [(phase, rows.filter(ran).select(name).to_series()) for phase, rows in tables.items()])


def coverage_table(kernel: str, found: Coverage | MissingValue) -> Table:
    """A row for each phase, and one for all."""
    title = f"How much of the {kernel} kernel runs"
    if isinstance(found, MissingValue):
        return Table(f"coverage-{kernel}", title, _FIELDS, (("whole boot", *missing_row(found, 6)),))
    rows = [_row(each, found) for each in (*found.stages, found.whole) if each.functions]
    rows.append(("linked", found.linked, None, found.linked_size, None, 1.0, found.linked_init))
    below = [
        "A function that was entered counts with its full size, up to the next symbol. Which of its bytes ran is "
        "unknown: a profile has the numbers of entries and of instructions of a function, but not the instructions "
        "themselves.",
        "Freed later: in the part of the text that the kernel frees once it is up.",
    ]
    if found.ambiguous:
        below.append(
            f"{found.ambiguous} names that ran are shared by several functions: each counts as one, the smallest."
        )
    if found.unknown:
        below.append(f"{len(found.unknown)} functions ran that are not linked: code of modules, or made at run time.")
    return Table(f"coverage-{kernel}", title, _FIELDS, tuple(rows), tuple(below))


def _row(covered: Covered, whole: Coverage) -> tuple[Value, ...]:
    return (
        covered.stage, covered.functions, covered.first, covered.size, covered.first_size,
        covered.size / whole.linked_size if whole.linked_size else 0.0, covered.init,
    )  # fmt: skip


def coverage_chart(found: dict[str, Coverage | MissingValue]) -> Chart:
    """How the share of the text whose functions ran grows along the boot."""
    series = []
    for kernel, each in found.items():
        if isinstance(each, MissingValue) or not each.linked_size:
            continue
        points, seen = [], 0
        for stage in each.stages:
            seen += stage.first_size
            if stage.functions:
                points.append((stage.stage, seen / each.linked_size))
        series.append(Series(kernel, tuple(points)))
    title = "Share of the linked bytes in functions entered so far"
    return Chart("coverage", title, "bars", "Phase", "Share of the text", "share", tuple(series))
