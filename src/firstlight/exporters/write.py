"""Export a boot to a format by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from firstlight.exporters.engine import Unit
from firstlight.exporters.formats import To
from firstlight.exporters.result import Exported

By = Literal["function", "process"]

#: The tables that the engine reads by itself; all others are checked when they are read.
ENGINE_READS: dict[To, tuple[str, ...]] = {
    To.perfetto: ("marks", "spans", "log", "counters", "links"),
    To.firefox: ("spans", "calls"),
    To.speedscope: ("spans", "calls"),
    To.folded: ("spans", "calls"),
    To.uftrace: ("spans", "calls"),
    To.bootchart: (),
    To.csv: (),
    To.json: (),
    To.svg: ("spans",),
    To.timeline_svg: (),
    To.lava: (),
    To.kcidb: (),
    To.openmetrics: (),
    To.influx: (),
}


def write_export(bundle: Path, to: To, out: Path, *, unit: Unit = "time", table: str | None = None,
                 exact: bool = False, by: By = "function", origin: str = "firstlight",
                 build: str | None = None) -> Exported:  # fmt: skip
    """Write the boot at *bundle* in the format *to* to *out*: a file, or an existing directory.

    The same bundle gives the same bytes. What the engine reads by itself is read as frames before, which checks it.

    :param unit: the weight of stacks.
    :param by: the frames of folded stacks.
    :param table: only this table, for CSV.
    :param exact: for CSV: keep texts that a spreadsheet would read as formulas.
    :param origin: of KernelCI: the name under which the CI system submits.
    :param build: of KernelCI: the id of the build that booted.
    :raises BundleError: when the bundle cannot be read, or has nothing that the format can contain.
    :raises FirstlightError: when the file cannot be written.

    >>> out = bundle.parent / "a.folded"
    >>> write_export(bundle, To.folded, out).notes
    []
    >>> out.read_text().splitlines()[0].split(";")[0]
    '[boot]'
    """
    from firstlight.bundle.open import open

    boot = open(bundle)
    boot.check_tables(ENGINE_READS[to])
    if to is To.perfetto:
        from firstlight.exporters.perfetto import write_perfetto

        return write_perfetto(boot, out)
    if to is To.folded:
        if by == "process":
            from firstlight.exporters.folded_processes import write_folded_processes

            return write_folded_processes(boot, out, unit)
        from firstlight.exporters.folded import write_folded

        return write_folded(bundle, out, unit)
    if to is To.firefox:
        from firstlight.exporters.firefox import write_firefox

        return write_firefox(boot, out, unit)
    if to is To.speedscope:
        from firstlight.exporters.speedscope import write_speedscope

        return write_speedscope(boot, out, unit)
    if to is To.uftrace:
        from firstlight.exporters.uftrace import write_uftrace

        return write_uftrace(boot, out)
    if to is To.bootchart:
        from firstlight.exporters.bootchart import write_bootchart

        return write_bootchart(boot, out)
    if to is To.json:
        from firstlight.exporters.json import write_json

        return write_json(boot, out)
    if to is To.svg:
        from firstlight.exporters.svg import write_svg

        return write_svg(boot, out)
    if to is To.lava:
        from firstlight.exporters.lava import write_lava

        return write_lava(boot, out)
    if to is To.kcidb:
        from firstlight.exporters.kcidb import write_kcidb

        return write_kcidb(boot, out, origin, build)
    if to is To.openmetrics:
        from firstlight.exporters.openmetrics import write_openmetrics

        return write_openmetrics(boot, out)
    if to is To.influx:
        from firstlight.exporters.influx import write_influx

        return write_influx(boot, out)
    from firstlight.exporters import csv

    if table is not None:
        return csv.write_table(boot, table, out, exact=exact)
    if out.is_dir():
        return csv.write_directory(boot, out, exact=exact)
    return csv.write_zip(boot, out, exact=exact)
