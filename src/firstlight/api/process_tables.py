"""What the processes of a boot did, as methods of a boot."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from firstlight.bundle.boot import Boot

if TYPE_CHECKING:
    from firstlight.analysis.processes.packages import GroupBill
    from firstlight.analysis.processes.system_calls import GroupCalls


class ProcessTables(Boot):
    """A boot with its processes, their system calls and files, packages, and what they executed."""

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
        from firstlight.analysis.processes.user_functions import user_functions

        return self._executed(user_functions, process, symbols, between)

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
        from firstlight.analysis.processes.user_functions import process_work

        return self._executed(process_work, process, symbols, between)

    def _executed(
        self,
        analysis: Callable[..., pl.DataFrame],
        process: str | None,
        symbols: str | os.PathLike[str] | None,
        between: tuple[int, int] | None,
    ) -> pl.DataFrame:
        from firstlight.analysis.processes.sliced import process_interval

        where, chosen = None if symbols is None else Path(symbols), process_interval(self, between)
        return analysis(self, self._known_process(process), symbols=where, interval=chosen)

    def _known_process(self, process: str | None) -> str | None:
        from firstlight.analysis.processes.system_calls import process_names
        from firstlight.suggest import unknown_name

        names = process_names(self) if process is not None else []
        if process is not None and names:
            unknown_name("process", process, names, str(self.directory), listed="processes")
        return process
