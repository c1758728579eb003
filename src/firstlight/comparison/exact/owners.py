"""Who a call path belongs to: the initcall, the task, the program, the system call or the interrupt that it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.comparison.exact.rows import Key
from firstlight.comparison.exact.ticks import begins_tick
from firstlight.comparison.sides.stable_names import stable_name
from firstlight.recipe.isa import architectures
from firstlight.schema.spans import CallKind, SpanKind

#: The kernel's function that calls every initcall.
INITCALL_CALLER = "do_one_initcall"
#: Functions that only lead to what a task or an entry is there for.
WRAPPERS = frozenset(
    "ret_from_fork ret_from_fork_asm kthread startup_64 secondary_startup_64 start_kernel "
    "kernel_init kernel_init_freeable do_initcalls do_basic_setup "
    "do_syscall_64 x64_sys_call entry_SYSCALL_64 primary_entry __primary_switched el0t_64_sync "
    "el0t_64_sync_handler el0_svc do_el0_svc invoke_syscall el0_svc_common.constprop.0 el0_svc_common "
    "worker_thread process_one_work kthread_worker_fn process_scheduled_works async_run_entry_fn".split()
).union(*(architecture.start_functions for architecture in architectures().values()))


@dataclass(frozen=True)
class Owners:
    """For each node of the merged tree, by its place in the table."""

    entries: Sequence[Key]
    """The task's function, system call, interrupt or program."""
    initcalls: Sequence[Key | None]
    ticks: Sequence[bool]
    """Whether it is a part of a timer's tick."""


def owners_of(nodes: pl.DataFrame) -> Owners:
    """The owners of the nodes of a merged tree.

    :param nodes: parents first, with `parent`, `function`, `module` and `kind`.
    """
    entries: list[Key] = []
    initcalls: list[Key | None] = []
    ticks: list[bool] = []
    leading: list[bool] = []
    functions: list[str] = nodes["function"].to_list()
    for parent, function, module, kind in nodes.select("parent", "function", "module", "kind").iter_rows():
        key = Key(stable_name(function), module or "", kind)
        if parent is None:
            entries.append(key)
            initcalls.append(None)
            ticks.append(False)
            leading.append(True)
            continue
        entries.append(key if leading[parent] else entries[parent])
        leading.append(leading[parent] and (key.name in WRAPPERS or kind in (CallKind.ROOT, CallKind.GROUP)))
        called = functions[parent] == INITCALL_CALLER and key.name != INITCALL_CALLER
        initcalls.append(Key(key.name, key.module, SpanKind.INITCALL) if called else initcalls[parent])
        ticks.append(ticks[parent] or begins_tick(function, kind))
    return Owners(entries, initcalls, ticks)
