"""Userspace as the report page has it: kernel and user functions in one tree of processes, and the user functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from firstlight.analysis.processes.process_stacks import Frame, Stack, process_stacks
from firstlight.analysis.processes.user_functions import user_functions
from firstlight.bundle.boot import Boot
from firstlight.bundle.slices import Interval
from firstlight.render.page.text import shortened

#: Characters of a name.
NAME = 300
#: A page has no more user functions: those that executed most.
MOST_FUNCTIONS = 5_000

Json = dict[str, Any]


@dataclass
class ProcessTree:
    """Stacks merged into a tree; a parent comes before its children."""

    parent: list[int | None] = field(default_factory=list)
    frame: list[Frame] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    instructions: list[int] = field(default_factory=list)
    ns: list[int] = field(default_factory=list)
    known: dict[tuple[int | None, Frame], int] = field(default_factory=dict)

    def add(self, stack: Stack) -> None:
        node: int | None = None
        for frame in stack.frames:
            node = self._child(node, frame)
        if node is not None:
            self.count[node] += stack.calls
            self.instructions[node] += stack.instructions
            self.ns[node] += stack.ns

    def place(self, frames: Sequence[Frame]) -> int:
        """The node of a stack that was added.

        >>> tree = ProcessTree()
        >>> tree.add(Stack((Frame("[boot]", "root"), Frame("init", "task")), 0, 7, 7))
        >>> tree.place([Frame("[boot]", "root"), Frame("init", "task")])
        1
        """
        node: int | None = None
        for frame in frames:
            node = self.known[node, frame]
        return node or 0

    def _child(self, parent: int | None, frame: Frame) -> int:
        node = self.known.get((parent, frame))
        if node is None:
            node = self.known[parent, frame] = len(self.parent)
            self.parent.append(parent)
            self.frame.append(frame)
            for column in (self.count, self.instructions, self.ns):
                column.append(0)
        return node

    def totals(self, own: Iterable[int]) -> list[int]:
        """What each node executed with all below it."""
        sums = list(own)
        for node in range(len(sums) - 1, 0, -1):
            above = self.parent[node]
            if above is not None:
                sums[above] += sums[node]
        return sums

    @property
    def calls(self) -> pl.DataFrame:
        """The tree in the columns of the table `calls`."""
        return pl.DataFrame(
            {
                "node": range(len(self.parent)),
                "parent": self.parent,
                "function": [frame.name for frame in self.frame],
                "module": [None] * len(self.parent),
                "kind": [frame.kind for frame in self.frame],
                "calls": self.count,
                "self_instructions": self.instructions,
                "total_instructions": self.totals(self.instructions),
                "self_ns": self.ns,
                "total_ns": self.totals(self.ns),
            },
            schema_overrides={"parent": pl.Int64, "function": pl.String, "module": pl.String, "kind": pl.String},
        )


def process_tree(boot: Boot, interval: Interval | None = None) -> ProcessTree:
    """The tree of processes with what each executed; empty without processes.

    Below a process stand the processes that it created, its user functions by file with the system calls that they
    made, and the rest of the kernel. The sums of `self_instructions` and `self_ns` are those of the boot.

    :param interval: only what was executed in these slices of time.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> process_tree(firstlight.open(bundle)).calls.height
    0
    """
    tree = ProcessTree()
    for stack in process_stacks(boot, interval):
        tree.add(stack)
    return tree


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
