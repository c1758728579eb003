"""One boot, with the analyses as methods."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from firstlight.api.device_tables import DeviceTables
from firstlight.api.process_tables import ProcessTables
from firstlight.api.unit_tables import UnitTables
from firstlight.bundle.open import read_manifest
from firstlight.escape import printable

if TYPE_CHECKING:
    from firstlight.advise.findings import Explanation, Finding
    from firstlight.advise.prove import Tried
    from firstlight.analysis.console_cost import ConsoleCost
    from firstlight.analysis.function_options import Order, Unit
    from firstlight.analysis.functions import Selection
    from firstlight.analysis.initcall_sums import InitcallSums
    from firstlight.analysis.ledger.costs import MachineCosts
    from firstlight.analysis.path.critical import CriticalPath
    from firstlight.analysis.path.what_if import WhatIf
    from firstlight.analysis.prune import ContextRow
    from firstlight.api.compare_boots import Comparison
    from firstlight.api.write import Export
    from firstlight.exporters.formats import To as ExportFormat


#: Lanes and pixels of the picture that a notebook shows.
_NOTEBOOK_ROWS, _NOTEBOOK_WIDTH = 60, 1100

_Table = Literal[
    "initcalls",
    "devices",
    "uevents",
    "units",
    "log",
    "processes",
    "instructions",
    "packages",
    "user_functions",
    "device costs",
]


class Boot(ProcessTables, DeviceTables, UnitTables):
    """One recorded boot; :func:`firstlight.open`, ``record`` and ``import_`` make it.

    The tables of the bundle are methods (`marks`, `spans`, `phases`, `calls`, `functions`, `log`, `facts`, …), and so
    are the analyses below. Each gives a Polars frame unless it says otherwise, and reads a table when it needs it.
    Times are nanoseconds of the clock that ``manifest.clock`` names, from the first mark.

    Every method raises :class:`~firstlight.errors.BundleError` when a table that it needs is missing or damaged.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> boot
    <Boot '...': exact, complete>
    >>> boot.phases()["duration_ns"].sum() == boot.manifest.totals.virtual_ns
    True
    """

    def _repr_html_(self) -> str:
        """What a notebook shows: the boot in one line, its timeline as a picture, and its phases.

        The picture is data of an `img`: nothing in it runs, and its style stays its own.
        """
        head = f"{self.directory.name}: {self.manifest.mode}, {self.manifest.state}, {self.manifest.clock.kind} clock"
        packed = b64encode(self._repr_svg_().encode()).decode()
        picture = (
            f'<img alt="Timeline of {escape(printable(self.directory.name, 200))}" style="max-width: 100%" '
            f'src="data:image/svg+xml;base64,{packed}">'
        )
        return f"<p><b>{escape(printable(head, 300))}</b></p>{picture}{self.phases()._repr_html_()}"

    def _repr_svg_(self) -> str:
        """The timeline as a notebook shows it: the first rows of :func:`firstlight.export` to `timeline-svg`."""
        from firstlight.render.svg.timeline import timeline_svg

        return timeline_svg(self, rows=_NOTEBOOK_ROWS, width=_NOTEBOOK_WIDTH)[0]

    @cached_property
    def _every_initcall(self) -> pl.DataFrame:
        from firstlight.analysis.initcalls import initcalls

        return initcalls(self)

    def initcalls(self, *, level: str | None = None, by_level: bool = False) -> pl.DataFrame:
        """The initcalls in order of their numbers, or one row for each level.

        :param level: only initcalls of this level: `device`, `module`, …
        :param by_level: one row for each level; with the rest of the phase their times add up.

        >>> import firstlight
        >>> firstlight.open(bundle).initcalls(level="device")["function"].to_list()[:1]
        ['serial8250_init']
        """
        from firstlight.analysis.initcalls import by_level as levels_of
        from firstlight.suggest import unknown_name

        every = self._every_initcall
        if level is not None and not every.is_empty():
            known = sorted({name for name in every["level"].to_list() if name})
            unknown_name("level", level, known, str(self.directory))
        if by_level:
            return levels_of(self, every, level)
        return every if level is None else every.filter(every["level"].eq_missing(level).fill_null(False))

    def initcall_sums(self) -> InitcallSums | None:
        """How the durations of all initcalls add up to their phase; nothing without times."""
        from firstlight.analysis.initcall_sums import initcall_sums

        return initcall_sums(self, self._every_initcall)

    def initcall_remarks(self) -> dict[str, Any]:
        """What the kernel logs of its initcalls besides their times: `warnings` and `blacklisted`, where it does.

        >>> import firstlight
        >>> firstlight.open(bundle).initcall_remarks()
        {}
        """
        from firstlight.analysis.initcalls import remarks

        return dict(remarks(self))

    def path(self, to: str | None = None) -> CriticalPath:
        """The critical path: its `rows`, whose durations add up, and all `steps` with their slack.

        :param to: the mark or unit that the path leads to; by default where the boot was done.

        >>> import firstlight
        >>> path = firstlight.open(bundle).path()
        >>> path.rows["duration_ns"].sum() == path.goal_ns - path.first_ns
        True
        """
        from firstlight.analysis.path.critical import find_path

        return find_path(self, to)

    def what_if(self, changes: Mapping[str, int], *, to: str | None = None) -> WhatIf:
        """When the goal of the critical path would be reached if steps took longer or shorter.

        :param changes: nanoseconds by name of an initcall, device, unit or event; negative is shorter.
        :param to: as of :meth:`path`.

        >>> import firstlight
        >>> firstlight.open(bundle).what_if({"dh_init": -100_000_000}).change_ns
        -100000000
        """
        from firstlight.analysis.path.what_if import what_if

        return what_if(self, changes, to)

    def log_lines(
        self, *, grep: str | None = None, level: str | None = None, between: tuple[int, int] | None = None
    ) -> pl.DataFrame:
        """The lines of the log, each with the time since the line before.

        :param grep: a regular expression that a line has to contain.
        :param level: only lines of this level or a more severe one: `warning`, `4`, …
        :param between: only lines between two times, in nanoseconds.
        :raises UsageError: for a level that does not exist or an expression that is none.

        >>> import firstlight
        >>> firstlight.open(bundle).log_lines(grep="Linux version").height
        1
        """
        from firstlight.analysis.log_lines import level_number, log_lines

        return log_lines(self, grep, None if level is None else level_number(level), between)

    def gaps(self, *, least_ns: int = 0, explained: int = 20) -> pl.DataFrame:
        """The silent gaps of the log, the longest first; with those at both ends they add up to the boot.

        :param least_ns: no shorter gaps than this.
        :param explained: for this many gaps, what ran meanwhile is looked up.
        """
        from firstlight.analysis.log_lines import gaps

        return gaps(self, least_ns, explained)

    def console_cost(self) -> ConsoleCost:
        """What printing to a serial console took."""
        from firstlight.analysis.console_cost import console_cost

        return console_cost(self)

    def function_profile(
        self,
        *,
        phase: str | None = None,
        under: str | None = None,
        sort: Order = "total",
        unit: Unit = "time",
        limit: int | None = None,
        per_caller: bool = False,
        raw_names: bool = False,
        between: tuple[int, int] | None = None,
    ) -> Selection:
        """The function profile in the kd table's columns: the rows `shown` and those `left_out`.

        :param phase: only what ran in this phase.
        :param under: only what this function did, with all that it called.
        :param sort: the sort key, largest first: `self`, `total` or `count`.
        :param unit: what self and total are compared in: `time` or `instructions`.
        :param limit: maximum number of rows to show; by default all.
        :param per_caller: Max-sub by the time under its caller.
        :param raw_names: parts that a compiler split off a function (`f.cold`) stand apart.
        :param between: only what ran between two instants, in nanoseconds: in the slices of :meth:`interval`.

        >>> import firstlight
        >>> firstlight.open(bundle).function_profile(sort="self", limit=3).shown.height
        3
        """
        from firstlight.analysis.functions import select

        table = self.functions(phase, under, per_caller=per_caller, raw_names=raw_names, between=between)
        return select(table, sort, unit, limit)

    def context_tree(
        self,
        *,
        phase: str | None = None,
        under: str | None = None,
        unit: Unit = "time",
        min_share: float = 0.01,
        raw_names: bool = False,
        between: tuple[int, int] | None = None,
    ) -> list[ContextRow]:
        """The calling-context tree as a walk; callees below a share stand together in one row.

        :param phase: only what ran in this phase.
        :param under: only what this function did, with all that it called.
        :param unit: what shares are of: `time` or `instructions`.
        :param min_share: the least share of the whole, from 0 to 1, that has a row of its own.
        :param raw_names: parts that a compiler split off a function (`f.cold`) stand apart.
        :param between: only what ran between two instants, in nanoseconds: in the slices of :meth:`interval`.

        >>> import firstlight
        >>> firstlight.open(bundle).context_tree(min_share=0.5)[0].depth
        0
        """
        from firstlight.analysis.prune import context_tree

        return context_tree(self, phase, under, unit, min_share, raw_names, between)

    def machine_costs(self) -> MachineCosts | None:
        """What of the boot the emulated machine costs, by the known entries; nothing without a profile."""
        from firstlight.analysis.ledger.costs import machine_costs

        return machine_costs(self)

    def explain(self, *, to: str | None = None, catalogue: Sequence[str | os.PathLike[str]] = ()) -> Explanation:
        """Which known causes of a long boot this one has, the most expensive first, each priced from the boot itself.

        :param to: the mark or unit that costs are counted until; by default the end of the critical path.
        :param catalogue: directories with further entries, in TOML.
        :raises UsageError: when an entry of these is wrong; file, entry and field are named.

        >>> import firstlight
        >>> firstlight.open(bundle).explain().machine[0].entry.title
        'local APIC timer calibrated by waiting'
        """
        from firstlight.advise.findings import explain
        from firstlight.advise.read import catalogue as read

        return explain(self, read([Path(each) for each in catalogue]), to)

    def prove(
        self, findings: Sequence[Finding], *, to: str | None = None, trust: bool = False, progress: bool = False
    ) -> list[Tried]:
        """Boot the recipe of this boot with the remedy of each finding, alone, and compare the gain with the cost.

        :param findings: of :meth:`explain`.
        :param to: as of :meth:`explain`.
        :param trust: use the paths, guest commands and options of a bundle that was recorded elsewhere.
        :param progress: show the progress on a terminal.
        """
        from firstlight.advise.prove import prove
        from firstlight.lab.host.progress import SilentProgress, progress_for

        with progress_for() if progress else SilentProgress() as shown:
            return prove(self, findings, to, shown, trust=trust)

    def missing_hint(self, table: _Table) -> str:
        """What to record or import so that an empty table gets rows.

        >>> import firstlight
        >>> "dmesg" in firstlight.open(bundle).missing_hint("log")
        True
        """
        from firstlight.analysis import devices, initcalls, log_lines, uevents, units
        from firstlight.analysis.processes import device_costs, packages, processes, user_functions

        if table == "initcalls":
            return initcalls.hint_for(self)
        hints = {
            "devices": devices.HINT,
            "uevents": uevents.HINT,
            "units": units.HINT,
            "log": log_lines.HINT,
            "processes": processes.hint_for(self),
            "instructions": processes.hint_to_record(self),
            "packages": packages.HINT,
            "device costs": processes.hint_to_record(self) if self.table("processes").is_empty() else device_costs.HINT,
            "user_functions": user_functions.HINT,
        }
        return hints[table]

    def compare(self, other: Boot | str | os.PathLike[str]) -> Comparison:
        """Compare *other* with this boot, the baseline; see :func:`firstlight.compare`."""
        from firstlight.api.compare_boots import compare

        return compare(self, other)

    def report(
        self, output: str | os.PathLike[str] | None = None, *, all_paths: bool = False, force: bool = False
    ) -> Path:
        """Write the boot as one HTML page; see :func:`firstlight.report`."""
        from firstlight.api.write import report

        return report(self, output, all_paths=all_paths, force=force)

    def export(
        self, to: ExportFormat | str, output: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> Export:
        """Write the boot in the format of another program; see :func:`firstlight.export`."""
        from firstlight.api.write import export

        return export(self, to, output, force=force)


def open(path: str | os.PathLike[str]) -> Boot:
    """Open the boot bundle at *path*.

    :param path: a directory, conventionally `NAME.boot`.
    :raises BundleError: when there is nothing, something that is not a bundle, one of a newer schema, or a damaged one.

    >>> import firstlight
    >>> firstlight.open(bundle).manifest.totals.idle_ns
    124000527
    """
    return Boot(Path(path), read_manifest(Path(path)))
