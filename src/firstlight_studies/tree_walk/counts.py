"""How often each program makes which system call, exactly: by the profile of a boot that runs it, less that of one that
runs nothing in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from firstlight.study import Boot, Field, MissingValue, Table, Value
from firstlight_studies.tree_walk.measured import system_calls
from firstlight_studies.tree_walk.workload import WALK, WALK_AGAIN, Command

#: Every call that is a stat.
STATS = ("newfstatat", "newfstat", "newstat", "newlstat", "statx")
_SHOWN = ("newfstatat", "newfstat", "statx", "openat", "getdents64", "fcntl", "close")
_CHANGES = ("fchownat", "fchmodat", "unlinkat")
#: A program's own calls, beside those for directories, are so few for each directory of a tree; else the tree is too
#: small to distinguish them.
_OWN_AT_MOST = 0.05
_FUNCTIONS = 20


@dataclass(frozen=True)
class Counted:
    """The system calls of one program on one tree."""

    calls: Mapping[str, int]
    directories: int

    @property
    def stats(self) -> int:
        """All kinds of stat."""
        return sum(self.calls.get(name, 0) for name in STATS)

    def each(self, count: int) -> tuple[Value, Value]:
        """A count for each directory, and what is left: whole numbers, where the tree is large enough.

        >>> Counted({}, 4971).each(9968)
        (2, 26)
        """
        whole, left = divmod(count, self.directories)
        if left <= _OWN_AT_MOST * self.directories:
            return whole, left
        return round(count / self.directories, 3), None


def counted(boot: Boot | MissingValue, base: Boot | MissingValue, directories: int) -> Counted | MissingValue:
    """The calls of a boot's program.

    :param base: the same boot with a program in its place that does nothing.
    """
    if isinstance(boot, MissingValue):
        return boot
    if isinstance(base, MissingValue):
        return base
    ours, theirs = system_calls(boot), system_calls(base)
    return Counted({name: count - theirs.get(name, 0) for name, count in ours.items()}, directories)


def counts_table(found: Mapping[tuple[str, Command], Counted | MissingValue]) -> Table:
    """Stat calls for each directory, and the others by name."""
    fields = (
        Field("Program"), Field("File system"), Field("Stat calls", "count"), Field("Per directory", "number"),
        Field("And besides", "count"), *(Field(name, "count") for name in (*_SHOWN, "changes")),
        Field("All system calls", "count"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for (kind, command), each in found.items():
        name = command.name + (", stat again" if command == WALK_AGAIN else "")
        if isinstance(each, MissingValue):
            rows.append((name, kind, *(each,) * (len(fields) - 2)))
            continue
        shown = [each.calls.get(call, 0) for call in _SHOWN]
        changes = sum(each.calls.get(call, 0) for call in _CHANGES)
        rows.append((name, kind, each.stats, *each.each(each.stats), *shown, changes, sum(each.calls.values())))
    below = (
        f"Stat calls: {', '.join(STATS)}. Changes: {', '.join(_CHANGES)}.",
        "Counted from outside, as entries of the kernel's functions: a boot that runs the program, minus a boot that "
        "runs a program that does nothing. The guest has no tracer. And besides: the calls of starting and ending the "
        "program.",
    )
    return Table("calls", "System calls of a walk", fields, tuple(rows), below)


def functions_table(without: Boot | MissingValue, with_: Boot | MissingValue, directories: int) -> Table | MissingValue:
    """Where the extra stat spends its time: the profile of our walk with it less that of our walk without."""
    if isinstance(without, MissingValue):
        return without
    if isinstance(with_, MissingValue):
        return with_
    before, after = (
        # Several functions may have one name.
        side.functions().group_by("function").agg(pl.col("count").sum(), pl.col("self_ns").sum())
        for side in (without, with_)
    )
    joined = after.join(before, on="function", how="full", coalesce=True, suffix="_without").fill_null(0)
    changed = joined.select(
        "function",
        (pl.col("count") - pl.col("count_without")).alias("count"),
        (pl.col("self_ns") - pl.col("self_ns_without")).alias("self_ns"),
    ).sort(pl.col("self_ns").abs(), "function", descending=[True, False])
    changed = changed.filter(pl.col("self_ns") != 0)
    total = int(changed["self_ns"].sum())
    if total <= 0:
        return MissingValue("our walk took no longer with the further stat")
    head = changed.head(_FUNCTIONS)
    rows: list[tuple[Value, ...]] = [
        (row["function"], row["count"], row["self_ns"], round(row["self_ns"] / directories, 1), row["self_ns"] / total)
        for row in head.iter_rows(named=True)
    ]
    rest = total - int(head["self_ns"].sum())
    rows.append(
        (f"({changed.height - head.height} others, added up)", None, rest, round(rest / directories, 1), rest / total)
    )
    rows.append(("whole boot", None, total, round(total / directories, 1), 1.0))
    fields = (
        Field("Function"), Field("Calls more", "count"), Field("Self", "change"), Field("Per directory, ns", "number"),
        Field("Share", "share"),
    )  # fmt: skip
    title = "Where the extra stat spends its time"
    below = ("Self time of our walk with the extra stat minus that without it, from two boots; the rows add up.",)
    return Table("functions", title, fields, tuple(rows), below)


#: Both sides of the comparison of functions.
SIDES = (WALK, WALK_AGAIN)
