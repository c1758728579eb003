"""Writing a boot as a page, or in the format of another program."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from firstlight.errors import FirstlightError, UsageError
from firstlight.exporters.formats import FORMATS
from firstlight.exporters.formats import To as ExportFormat

if TYPE_CHECKING:
    from firstlight.analysis.function_options import Unit
    from firstlight.bundle.boot import Boot
    from firstlight.exporters.write import By

BootLike: TypeAlias = "Boot | str | os.PathLike[str]"
"""A boot, or the path of its bundle."""


@dataclass(frozen=True)
class Export:
    """What an export wrote."""

    path: Path
    size: int
    """In bytes, of all files together."""
    counts: dict[str, int]
    """What is in it, by what it counts."""
    notes: list[str]
    """What the format cannot hold."""


def page(boot: BootLike, other: BootLike | None = None, *, align: str | None = None, all_paths: bool = False) -> str:
    """A boot as the text of one self-contained HTML page; or two boots on one axis, with their comparison.

    :param boot: the boot, or its path.
    :param other: another boot, which the page compares with the first.
    :param align: of two boots: the mark that has the same place on both axes; by default the first that both have.
    :param all_paths: of one boot: draw every call path, also those that hold next to nothing; the page becomes larger.
    :raises UsageError: when one of two boots has no such mark, `align` is given for one boot, or `all_paths` for two.
    :raises BundleError: when a table of the bundle cannot be read.
    :raises LabError: when the page has not been built.

    >>> import firstlight
    >>> firstlight.page(bundle).startswith("<!doctype html>")
    True
    """
    from firstlight.render.page.html import page_html

    if other is not None:
        if all_paths:
            raise UsageError("a page with all call paths has one boot", hint="write a page of each boot")
        from firstlight.render.page.pair import pair_html

        return pair_html(_opened(boot), _opened(other), align)
    if align is not None:
        raise UsageError("`align` is for two boots", hint="give a second boot")
    return page_html(_opened(boot), all_paths=all_paths)


def _opened(boot: BootLike) -> Boot:
    from firstlight.bundle.open import open

    return open(boot) if isinstance(boot, (str, os.PathLike)) else boot


def report(
    boot: BootLike,
    output: str | os.PathLike[str] | None = None,
    *,
    other: BootLike | None = None,
    align: str | None = None,
    all_paths: bool = False,
    force: bool = False,
) -> Path:
    """Write a boot as one self-contained HTML page, which needs no network; or two boots on one axis.

    :param boot: the boot, or its path.
    :param output: the page; by default `NAME.html`, here; of two boots `NAME-OTHER.html`.
    :param other: another boot, which the page compares with the first.
    :param align: of two boots: the mark that has the same place on both axes; by default the first that both have.
    :param all_paths: of one boot: draw every call path, also those that hold next to nothing; the page becomes larger.
    :param force: replace a file that is there.
    :returns: the page's path.
    :raises UsageError: when one of two boots has no such mark, or `all_paths` is given for two.
    :raises FirstlightError: when the file is there already or cannot be written.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> firstlight.report(bundle, bundle.parent / "report.html", force=True).name
    'report.html'
    """
    from firstlight.render.page.html import write_page

    names = "-".join(_name(directory_of(each)) for each in (boot, other) if each is not None)
    out = Path(output) if output is not None else Path(f"{names}.html")
    check_free(out, force=force)
    write_page(page(boot, other, align=align, all_paths=all_paths), out)
    return out


def export(
    boot: BootLike,
    to: ExportFormat | str,
    output: str | os.PathLike[str] | None = None,
    *,
    unit: Unit = "time",
    by: By = "function",
    table: str | None = None,
    exact: bool = False,
    origin: str = "firstlight",
    build: str | None = None,
    force: bool = False,
    progress: bool = False,
) -> Export:
    """Write a boot in the format of another program.

    :param boot: the boot, or its path.
    :param to: `perfetto`, `firefox`, `speedscope`, `folded`, `uftrace`, `bootchart`, `csv`, `json`,
        `svg`, `timeline-svg`, `lava`, `kcidb`, `openmetrics` or `influx`.
    :param output: the file or directory; by default NAME with the format's suffix, here.
    :param unit: what call stacks are weighed by.
    :param by: of folded stacks: their frames are functions, or processes with user mode and system calls in them.
    :param table: of CSV: this table alone.
    :param exact: of CSV: leave texts as they are that a spreadsheet would take for formulas.
    :param origin: of KernelCI: the name under which the CI system submits.
    :param build: of KernelCI: the id of the build that booted, as it was submitted.
    :param force: replace what is there.
    :param progress: show on a terminal that it takes long.
    :raises UsageError: for a format that there is not.
    :raises BundleError: when the bundle cannot be read, or has nothing that the format holds.
    :raises FirstlightError: when the file is there already or cannot be written.

    >>> import firstlight
    >>> firstlight.export(bundle, "folded", bundle.parent / "x.folded", force=True).notes
    []
    """
    from firstlight.atomic import atomic_write
    from firstlight.exporters.write import write_export
    from firstlight.ingest.progress import ImportProgress

    try:
        kind = ExportFormat(to)
    except ValueError as error:
        raise UsageError(f"no format is called `{to}`", hint=f"there are {', '.join(ExportFormat)}") from error
    directory = directory_of(boot)
    suffix = FORMATS[kind].suffix if table is None else f".{table}.csv"
    out = Path(output) if output is not None else Path(f"{_name(directory)}{suffix}")
    folder = FORMATS[kind].directory or (kind is ExportFormat.csv and table is None and out.suffix != ".zip")
    check_free(out, force=force)
    with (
        atomic_write(out, directory=folder, force=force) as written,
        ImportProgress() if progress else nullcontext() as shown,
    ):
        if shown is not None:
            shown.step("writing the export")
        if kind is ExportFormat.timeline_svg:
            from firstlight.render.svg.timeline import timeline_svg

            document, exported = timeline_svg(_opened(boot))
            written.write_text(document, encoding="utf-8", newline="\n")
        else:
            exported = write_export(directory, kind, written, unit=unit, table=table, exact=exact, by=by,
                                origin=origin, build=build)  # fmt: skip
    size = sum(file.stat().st_size for file in (out.iterdir() if folder else [out]))
    return Export(out, size, exported.counts, exported.notes)


def directory_of(boot: BootLike) -> Path:
    """Where a boot is.

    >>> directory_of(bundle) == bundle
    True
    """
    return Path(boot) if isinstance(boot, (str, os.PathLike)) else boot.directory


def check_free(path: Path, *, force: bool) -> None:
    """Check that a file may be written.

    :raises FirstlightError: when something is there already and *force* is not given, or there is no such directory.

    >>> check_free(bundle.parent / "new.html", force=False)
    """
    import shlex

    if not path.parent.is_dir():
        hint = f"`mkdir -p {shlex.quote(str(path.parent))}` makes it"
        raise FirstlightError("there is no such directory", where=str(path.parent), hint=hint)
    if path.exists() and not force:
        raise FirstlightError("this path already exists", where=str(path), hint="`--force` replaces it")


def _name(directory: Path) -> str:
    return directory.resolve().name.removesuffix(".boot")
