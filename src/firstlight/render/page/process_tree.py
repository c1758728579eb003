"""Userspace as the report page has it: kernel and user functions in one tree of processes, and the user functions."""

from __future__ import annotations

from typing import Any

from firstlight.analysis.processes.process_stacks import process_stacks
from firstlight.analysis.processes.user_functions import user_functions
from firstlight.bundle.boot import Boot
from firstlight.bundle.slices import Interval
from firstlight.render.page.process_functions import add_functions
from firstlight.render.page.process_nodes import ProcessTree
from firstlight.render.page.text import shortened
from firstlight.render.page.tree import CALL_FUNCTION_SHARE, FOLD_SHARE, NO_SHARE, PageTree, fold

#: Characters of a name.
NAME = 300
#: A page has no more user functions: those that executed most.
MOST_FUNCTIONS = 5_000

Json = dict[str, Any]


def process_tree(boot: Boot, interval: Interval | None = None, share: float = NO_SHARE) -> ProcessTree:
    """The tree of processes with what each executed; empty without processes.

    Below a process stand the processes that it created, its user functions by file with the system calls that they
    made, the kernel functions of these calls as far as it is known whose they are, and the rest of the kernel. The sums
    of `self_instructions` and `self_ns` are those of the boot.

    :param interval: only what was executed in these slices of time.
    :param share: as for :func:`~firstlight.render.page.process_functions.add_functions`.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> process_tree(firstlight.open(bundle)).calls.height
    0
    """
    tree = ProcessTree()
    for stack in process_stacks(boot, interval):
        tree.add(stack)
    add_functions(tree, boot, interval, share)
    return tree


def folded_processes(tree: ProcessTree, share: float = FOLD_SHARE) -> PageTree:
    """The tree of processes as a page has it.

    :param share: as for :func:`~firstlight.render.page.tree.fold`; functions below system calls have a larger one.

    >>> folded_processes(ProcessTree()).nodes
    0
    """
    folded = fold(tree.calls, share, function_share=share if share < 0 else function_share(share))
    folded.nodes += tree.merged
    return folded


def function_share(share: float) -> float:
    """The share of the boot below which kernel functions of system calls are put together.

    :param share: that of other nodes.

    >>> function_share(-1), function_share(0.5)
    (0.0, 0.5)
    """
    return 0.0 if share < 0 else max(share, CALL_FUNCTION_SHARE)


def page_user_functions(boot: Boot) -> Json:
    """The functions of user mode as columns; no rows where user code was not followed.

    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> page_user_functions(firstlight.open(bundle))["rows"]
    0
    """
    every = user_functions(boot)
    shown = every.head(MOST_FUNCTIONS)
    figures = ("self_instructions", "self_ns", "calls", "call_instructions")
    return {
        "rows": every.height,
        "instructions": every["self_instructions"].sum(),
        "name": [shortened(name, NAME) for name in shown["name"]],
        "file": [shortened(file or f"[{kind}]", NAME) for file, kind in shown.select("file", "kind").iter_rows()],
        **{figure: shown[figure].to_list() for figure in figures},
    }
