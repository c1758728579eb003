"""The tree of processes as columns: a node for each frame of a stack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from firstlight.analysis.processes.process_stacks import Frame, Stack

#: The columns of what nodes did in slices.
PARTS = dict.fromkeys(("slice", "node", "calls", "self_instructions"), pl.Int64)


@dataclass
class ProcessTree:
    """Stacks merged into a tree; a parent comes before its children."""

    parent: list[int | None] = field(default_factory=list)
    frame: list[Frame] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    instructions: list[int] = field(default_factory=list)
    ns: list[int] = field(default_factory=list)
    known: dict[tuple[int | None, Frame], int] = field(default_factory=dict)
    merged: int = 0
    """Call paths that are in a node of small functions."""
    parts: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PARTS))
    """By slice of time, by how much the nodes differ from the stacks that were added: what functions below system
    calls executed is theirs, and not the call's."""

    def add(self, stack: Stack) -> None:
        node: int | None = None
        for frame in stack.frames:
            node = self.child(node, frame)
        if node is not None:
            self.count[node] += stack.calls
            self.instructions[node] += stack.instructions
            self.ns[node] += stack.ns

    def place(self, frames: Sequence[Frame]) -> int:
        """The node of a stack that was added.

        >>> from firstlight.schema.spans import CallKind
        >>> tree = ProcessTree()
        >>> tree.add(Stack((Frame("[boot]", CallKind.ROOT), Frame("init", CallKind.TASK)), 0, 7, 7))
        >>> tree.place([Frame("[boot]", CallKind.ROOT), Frame("init", CallKind.TASK)])
        1
        """
        node: int | None = None
        for frame in frames:
            node = self.known[node, frame]
        return node or 0

    def child(self, parent: int | None, frame: Frame) -> int:
        """The node of a frame below another one, which is made if there is none.

        >>> from firstlight.schema.spans import CallKind
        >>> tree = ProcessTree()
        >>> tree.child(tree.child(None, Frame("[boot]", CallKind.ROOT)), Frame("init", CallKind.TASK))
        1
        """
        node = self.known.get((parent, frame))
        if node is None:
            node = self.known[parent, frame] = len(self.parent)
            self.extend([parent], [frame])
        return node

    def extend(self, parents: Sequence[int | None], frames: Sequence[Frame]) -> None:
        """Append nodes below those that there are, each with its frame; :meth:`place` does not find them.

        >>> from firstlight.schema.spans import CallKind
        >>> tree = ProcessTree()
        >>> tree.extend([tree.child(None, Frame("[boot]", CallKind.ROOT))], [Frame("read", CallKind.SYSCALL)])
        >>> tree.parent
        [None, 0]
        """
        self.parent += parents
        self.frame += frames
        for column in (self.count, self.instructions, self.ns):
            column += [0] * len(parents)

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
