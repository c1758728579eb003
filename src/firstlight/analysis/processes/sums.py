"""What user mode of a boot executed, by the names that other boots have, too."""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.packages import packages_of_processes
from firstlight.analysis.processes.processes import hint_for, processes
from firstlight.analysis.processes.user_functions import user_functions_of_threads
from firstlight.bundle.boot import Boot
from firstlight.bundle.manifest import Concern
from firstlight.bundle.reliability import check_reliable
from firstlight.errors import BundleError
from firstlight.recipe.mode import RecordMode

_OWN = pl.sum_horizontal("user_instructions", "kernel_instructions")


class UserspaceKind(StrEnum):
    """What of user mode has a figure of its own."""

    PROCESS = "process"
    """All processes of one program."""
    SERVICE = "service"
    """All processes of one unit of systemd."""
    SYSTEM_CALL = "system_call"
    """The kernel's part of all calls of one name."""
    FILE = "file"
    """The kernel's part of all calls on one path."""
    PACKAGE = "package"
    """What a package's programs executed; a library counts for the program that calls it."""
    USER_FUNCTION = "user_function"
    """What a function of user mode executed itself, in all processes."""


#: The kinds of which a boot has few enough to store each.
STORED = tuple(kind for kind in UserspaceKind if kind is not UserspaceKind.FILE)


def userspace_sums(boot: Boot, kind: UserspaceKind) -> dict[str, int]:
    """The nanoseconds that each name of a kind executed, without interrupts and idle time; in order of names.

    A process goes by its program: what it was called as, or in brackets the kernel's name for a thread of the kernel.
    The sums of processes and what came before the kernel, interrupts and idle time add up to the boot. Packages include
    the interrupts that came while their programs ran. A boot without a package database, or in which user code was
    not followed, has no packages or functions.

    :raises BundleError: when the boot has no processes, or its recording of them is not reliable.

    >>> import firstlight
    >>> userspace_sums(firstlight.open(bundle), UserspaceKind.PROCESS)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    firstlight.errors.BundleError: ... this boot has no processes
    """
    where = str(boot.directory)
    if boot.table("processes").is_empty() or boot.manifest.mode != RecordMode.EXACT:
        raise BundleError("this boot has no processes", where=where, hint=hint_for(boot))
    check_reliable(boot.manifest, where, Concern.PROCESSES)
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    if kind in (UserspaceKind.PROCESS, UserspaceKind.SERVICE):
        rows = processes(boot)
        if kind is UserspaceKind.PROCESS:
            programs = {process: name.program for process, name in process_names_of(boot).items()}
            named = rows.with_columns(name=pl.col("process").replace_strict(programs, return_dtype=pl.String))
        else:
            named = rows.with_columns(name="service")
        sums = named.drop_nulls("name").group_by("name").agg(ns=_OWN.sum() * step)
    elif kind is UserspaceKind.PACKAGE:
        sums = packages_of_processes(boot).group_by("name").agg(ns=pl.col("instructions").sum() * step)
    elif kind is UserspaceKind.USER_FUNCTION:
        sums = user_functions_of_threads(boot).group_by("name").agg(ns=pl.col("self_instructions").sum() * step)
    else:
        column = "name" if kind is UserspaceKind.SYSTEM_CALL else "path"
        calls = boot.table("system_calls").drop_nulls(column)
        sums = calls.group_by(name=column).agg(ns=pl.col("kernel_instructions").sum() * step)
    return {str(name): int(ns or 0) for name, ns in sums.sort("name").iter_rows()}
