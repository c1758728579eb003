"""What a boot did, counted: calls of functions and instructions of programs, by the part of the boot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from firstlight.study import Boot, Phase

KERNEL, INITRAMFS, SYSTEM = "kernel", "initramfs", "system"
PARTS = (KERNEL, INITRAMFS, SYSTEM)
#: Phases of user space by the part they belong to; all before them are the kernel's.
_PART_OF: dict[str, str] = {Phase.USER_START: INITRAMFS, Phase.INITRAMFS: INITRAMFS, Phase.USERSPACE: SYSTEM}
IN_KERNEL = "the kernel"


@dataclass(frozen=True)
class Counted:
    """Exact counts of one boot."""

    calls: dict[str, dict[str, int]]
    """By part and function."""
    instructions: dict[str, dict[str, int]]
    """By part, of each program in user mode by its name, and of the kernel for all of them."""

    def called(self, part: str, wanted: Callable[[str], bool]) -> int:
        """How often the functions that are wanted were called in a part."""
        return sum(count for function, count in self.calls.get(part, {}).items() if wanted(function))

    def program(self, name: str) -> int:
        """What a program did in user mode, in all parts."""
        return sum(of.get(name, 0) for of in self.instructions.values())

    @property
    def programs(self) -> set[str]:
        """Every program's name, and the kernel."""
        return {name for of in self.instructions.values() for name in of}


def counted(boot: Boot) -> Counted:
    """Count a boot, by its profile.

    :raises BundleError: when it has none.
    """
    calls: dict[str, dict[str, int]] = {part: {} for part in PARTS}
    instructions: dict[str, dict[str, int]] = {part: {} for part in PARTS}
    for phase, table in boot.phase_functions().items():
        part = _PART_OF.get(phase, KERNEL)
        _add(calls[part], table.filter(pl.col("kind").is_in(["function", "syscall"])), "count")
        programs = table.filter((pl.col("kind") == "user") & pl.col("function").str.starts_with("[user "))
        named = programs.with_columns(pl.col("function").str.slice(6).str.head(-1))
        _add(instructions[part], named, "self_instructions")
        rest = int(table["self_instructions"].sum()) - int(named["self_instructions"].sum())
        instructions[part][IN_KERNEL] = instructions[part].get(IN_KERNEL, 0) + rest
    return Counted(calls, instructions)


def _add(to: dict[str, int], table: pl.DataFrame, column: str) -> None:
    for name, figure in table.select("function", column).iter_rows():
        to[name] = to.get(name, 0) + int(figure or 0)


def difference(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """What the second has more than the first, by name; names that differ in nothing are left out.

    >>> difference({"open": 5, "close": 2}, {"open": 9, "close": 2, "stat": 1})
    {'open': 4, 'stat': 1}
    """
    names = dict.fromkeys((*one, *other))
    return {name: more for name in names if (more := other.get(name, 0) - one.get(name, 0))}
