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

from firstlight.bundle.boot import Boot as BundleBoot
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
    from firstlight.analysis.processes.packages import GroupBill
    from firstlight.analysis.processes.system_calls import GroupCalls
    from firstlight.analysis.prune import ContextRow
    from firstlight.analysis.udev_queue import QueueSummary
    from firstlight.analysis.unit_work import Manager
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


class Boot(BundleBoot):
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
        head = f"{self.directory.name}: {self.manifest.mode}, {self.manifest.status}, {self.manifest.clock.kind} clock"
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

    @cached_property
    def _every_uevent(self) -> pl.DataFrame:
        from firstlight.analysis.uevents import uevents

        return uevents(self)

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

    def processes(self, *, tree: bool = False) -> pl.DataFrame:
        """Every process: what it ran, from when to when, its instructions and how long it waited.

        :param tree: each process behind the one that created it, with its `depth`.

        >>> import firstlight
        >>> "user_instructions" in firstlight.open(bundle).processes().columns
        True
        """
        from firstlight.analysis.processes.processes import in_tree_order, processes

        return in_tree_order(processes(self)) if tree else processes(self)

    def system_calls(self, *, process: str | None = None, by: GroupCalls | None = None) -> pl.DataFrame:
        """Every system call, or their sums.

        :param process: only of this process: a PID, a name, an executable's path or file name, or a service.
        :param by: one row for each process, call or path.

        >>> import firstlight
        >>> "wait_ns" in firstlight.open(bundle).system_calls().columns
        True
        """
        from firstlight.analysis.processes.system_calls import sum_calls, system_calls

        calls = system_calls(self, self._known_process(process))
        return calls if by is None else sum_calls(calls, by)

    def files(self, *, process: str | None = None) -> pl.DataFrame:
        """What each process did to each path: opened, read, looked at, not found.

        :param process: as for :meth:`system_calls`.

        >>> import firstlight
        >>> "not_found" in firstlight.open(bundle).files().columns
        True
        """
        from firstlight.analysis.processes.files import files

        return files(self, self._known_process(process))

    def packages(self, *, by: GroupBill | None = None, root: str | os.PathLike[str] | None = None) -> pl.DataFrame:
        """The instructions of the boot by the packages whose programs they were executed for.

        :param by: one row for each package, which is the default, or for each file.
        :param root: a directory, a tar or an ext4 image whose package database counts instead of the boot's own.
        :raises LabError: when *root* cannot be read or has no package database.

        >>> import firstlight
        >>> firstlight.open(bundle).packages().columns[:2]
        ['payer', 'package']
        """
        from firstlight.analysis.processes.packages import GroupBill, packages

        owners = None
        if root is not None:
            from firstlight.lab.run.packages import packages_of_root

            files = packages(self, GroupBill.FILE)["file"].drop_nulls().to_list()
            owners = packages_of_root(files, Path(root))
        return packages(self, by or GroupBill.PACKAGE, owners)

    def interval_processes(self, start_ns: int, end_ns: int) -> pl.DataFrame:
        """What each process did in :meth:`interval`, those that executed most first.

        Columns: `process`, `pid`, `name`, `user_instructions`, `kernel_instructions`, `interrupt_instructions`,
        `idle_ns`, `cpu_ns` (the time that these instructions take), `calls` (of the system, that began there). Only
        processes that did something. With what ran before the kernel, the instructions sum to those of the interval.

        :param start_ns: an instant, in nanoseconds of the boot's clock.
        :param end_ns: a later one.
        :raises UsageError: when the second instant is not after the first.
        :raises BundleError: when the boot has no slices, or these have no processes.

        >>> import firstlight
        >>> firstlight.open(bundle).interval_processes(0, 50_000_000).columns[:2]
        ['process', 'pid']
        """
        from firstlight.analysis.processes.sliced import interval_processes

        return interval_processes(self, (start_ns, end_ns))

    def user_functions(
        self,
        *,
        process: str | None = None,
        symbols: str | os.PathLike[str] | None = None,
        between: tuple[int, int] | None = None,
    ) -> pl.DataFrame:
        """The functions that processes executed in user mode, with the system calls that each made itself.

        :param process: only of processes that were this at any time, from their creation on; as for
            :meth:`system_calls`.
        :param symbols: a directory with debug files, which name functions that the recording has no names for.
        :param between: only what ran between two instants, in nanoseconds: in the slices of :meth:`interval`. A call
            counts where it began.
        :raises BundleError: when the boot has no slices, or these have no processes.

        >>> import firstlight
        >>> "self_instructions" in firstlight.open(bundle).user_functions().columns
        True
        """
        from firstlight.analysis.processes.sliced import process_interval
        from firstlight.analysis.processes.user_functions import user_functions

        where, chosen = None if symbols is None else Path(symbols), process_interval(self, between)
        return user_functions(self, self._known_process(process), symbols=where, interval=chosen)

    def process_work(
        self,
        *,
        process: str | None = None,
        symbols: str | os.PathLike[str] | None = None,
        between: tuple[int, int] | None = None,
    ) -> pl.DataFrame:
        """All that processes executed: functions of user mode, each system call, the rest of the kernel, interrupts.

        :param process: as for :meth:`user_functions`.
        :param symbols: as for :meth:`user_functions`.
        :param between: as for :meth:`user_functions`.
        :raises BundleError: when the boot has no slices, or these have no processes.

        >>> import firstlight
        >>> "count" in firstlight.open(bundle).process_work().columns
        True
        """
        from firstlight.analysis.processes.sliced import process_interval
        from firstlight.analysis.processes.user_functions import process_work

        where, chosen = None if symbols is None else Path(symbols), process_interval(self, between)
        return process_work(self, self._known_process(process), symbols=where, interval=chosen)

    def _known_process(self, process: str | None) -> str | None:
        from firstlight.analysis.processes.system_calls import process_names
        from firstlight.suggest import unknown_name

        names = process_names(self) if process is not None else []
        if process is not None and names:
            unknown_name("process", process, names, str(self.directory), listed="processes")
        return process

    def devices(self) -> pl.DataFrame:
        """The devices: their probes, how long each took, how often it was deferred and for what.

        >>> import firstlight
        >>> "duration_ns" in firstlight.open(bundle).devices().columns
        True
        """
        from firstlight.analysis.devices import devices

        return devices(self)

    def device_costs(self) -> pl.DataFrame:
        """What udev's workers did for each device: system calls, instructions and time, one row for each event.

        >>> import firstlight
        >>> "mknods" in firstlight.open(bundle).device_costs().columns
        True
        """
        from firstlight.analysis.processes.device_costs import device_costs

        return device_costs(self)

    def udev_sums(self) -> pl.DataFrame:
        """What udev's processes executed instructions for: events, workers between events, the daemon.

        >>> import firstlight
        >>> firstlight.open(bundle).udev_sums().columns
        ['part', 'instructions']
        """
        from firstlight.analysis.processes.device_costs import udev_sums

        return udev_sums(self, self.device_costs())

    def uevents(self) -> pl.DataFrame:
        """The uevents: when the kernel sent each, how long udev queued and handled it.

        >>> import firstlight
        >>> "queued_ns" in firstlight.open(bundle).uevents().columns
        True
        """
        return self._every_uevent

    def udev_events(self) -> pl.DataFrame:
        """The uevents that udev's workers handled, from their system calls: arrival, the daemon's read, worker, times.

        >>> import firstlight
        >>> firstlight.open(bundle).udev_events().columns[:4]
        ['device', 'worker', 'pid', 'arrival_ns']
        """
        from firstlight.analysis.processes.udev_events import udev_events

        return udev_events(self)

    def udev_queue(self) -> QueueSummary:
        """How long uevents waited for udev and how long it handled them: figures of the whole boot."""
        from firstlight.analysis.udev_queue import queue_summary

        return queue_summary(self, self._every_uevent)

    def udev_queue_over_time(self) -> pl.DataFrame:
        """How many uevents waited and how many udev handled, at each time at which that changed."""
        from firstlight.analysis.udev_queue import queue_over_time

        return queue_over_time(self._every_uevent)

    def units(self, *, kind: str | None = None) -> pl.DataFrame:
        """The units of systemd: how long each waited, and how long its activation took.

        :param kind: only units of this type: `service`, `mount`, …

        >>> import firstlight
        >>> "waiting_ns" in firstlight.open(bundle).units().columns
        True
        """
        from firstlight.analysis.units import units
        from firstlight.suggest import unknown_name

        every = units(self)
        if kind is not None and not every.is_empty():
            unknown_name("type of unit", kind, sorted(every["type"].unique().to_list()), str(self.directory))
        return every if kind is None else every.filter(every["type"] == kind)

    def unit_work(self, *, kind: str | None = None) -> pl.DataFrame:
        """The units with their processes, instructions, waits and their time on the critical path.

        Columns: those of :meth:`units`, and `processes`, `instructions`, `before_exec_instructions`, `own_ns`,
        `manager_ns`, `others_ns`, `idle_ns` (these four add up to the activation) and `path_ns`. They are null
        without processes.

        :param kind: as of :meth:`units`.

        >>> import firstlight
        >>> "own_ns" in firstlight.open(bundle).unit_work().columns
        True
        """
        from firstlight.analysis.unit_work import unit_work

        known = self.units(kind=kind)
        return unit_work(self).filter(pl.col("span").is_in(known["span"].implode()))

    def manager(self) -> Manager | None:
        """What the service manager itself did: its `parts`, its `generators`, and the `sums` of all instructions.

        >>> import firstlight
        >>> firstlight.open(bundle).manager() is None  # a boot without systemd
        True
        """
        from firstlight.analysis.unit_work import manager

        return manager(self)

    def failed_units(self) -> list[str]:
        """The names of the failed units, sorted."""
        from firstlight.analysis.units import failed_units

        return failed_units(self)

    def stages(self) -> pl.DataFrame:
        """The stages that systemd reports of itself: firmware, loader, kernel, initramfs, userspace."""
        from firstlight.analysis.units import stages

        return stages(self)

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

    def report(self, output: str | os.PathLike[str] | None = None, *, force: bool = False) -> Path:
        """Write the boot as one HTML page; see :func:`firstlight.report`."""
        from firstlight.api.write import report

        return report(self, output, force=force)

    def export(
        self, to: ExportFormat | str, output: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> Export:
        """Write the boot in the format of another program; see :func:`firstlight.export`."""
        from firstlight.api.write import export

        return export(self, to, output, force=force)


def open(path: str | os.PathLike[str]) -> Boot:
    """Open the boot bundle at *path*.

    :param path: a directory, conventionally `NAME.boot`.
    :raises BundleError: when there is nothing, something that is no bundle, one of a newer schema, or a damaged one.

    >>> import firstlight
    >>> firstlight.open(bundle).manifest.totals.idle_ns
    124000527
    """
    return Boot(Path(path), read_manifest(Path(path)))
