"""What one legacy pseudo-terminal makes programs and the kernel do: exact counts, by differences of boots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firstlight.study import Field, Table, Value
from firstlight_studies.udev_ptys.counts import IN_KERNEL, PARTS, Counted


@dataclass(frozen=True)
class Call:
    """A kind of call."""

    name: str
    pattern: str
    """A regular expression over whole names of kernel functions; architectures' and compilers' endings are cut off."""
    then: str = ""
    """What it was in the old study, for one pseudo-terminal."""


SYSTEM_CALLS = "system calls"
MKNOD, STAT, FORK, EXEC = "mknod", "stat", "fork", "exec"
UEVENTS = "uevents asked for"
CALLS = (
    Call(SYSTEM_CALLS, "entry_SYSCALL_64"),
    Call(MKNOD, "__x64_sys_mknod(at)?", "2"),
    Call(STAT, "__x64_sys_(stat|lstat|fstat|statx|new(l|f)?stat|newfstatat)", "2"),
    Call(FORK, "__x64_sys_(clone3?|v?fork)", "4, each with an exec"),
    Call(EXEC, "__x64_sys_execve(at)?", "4, each after a fork"),
    Call("open", "__x64_sys_open(at2?)?"),
    Call("close", "__x64_sys_close"),
    Call("read", "__x64_sys_p?read(v|64)?"),
    Call("readlink", "__x64_sys_readlink(at)?"),
    Call("write", "__x64_sys_p?write(v|64)?"),
    Call("access", "__x64_sys_f?access(at2?)?"),
    Call("rename", "__x64_sys_rename(at2?)?"),
    Call("symlink", "__x64_sys_symlink(at)?"),
    Call("unlink", "__x64_sys_unlink(at)?"),
    Call("mkdir", "__x64_sys_mkdir(at)?"),
    Call("chmod and chown", "__x64_sys_(f?ch(mod|own)|fch(mod|own)at)"),
    Call("send to a socket", "__x64_sys_send(to|m?msg)"),
    Call("receive from a socket", "__x64_sys_recv(from|m?msg)"),
    Call("wait for events", "__x64_sys_(epoll_p?wait2?|p?poll|p?select6?)"),
    Call(UEVENTS, "kobject_uevent_env"),
    Call("nodes made by devtmpfs", "devtmpfs_create_node"),
)


def calls_of(counted: Counted, call: Call, part: str) -> int:
    """How often that was called in a part of a boot."""
    pattern = re.compile(call.pattern)
    return counted.called(part, lambda name: pattern.fullmatch(name.split(".", 1)[0]) is not None)


def per_count(sizes: Mapping[int, Counted], call: Call, part: str | None, low: int, high: int) -> float | None:
    """Calls for one pseudo-terminal more, between two counts of them; `None` where one was not booted.

    :param part: of the boot; all of it when not given.
    """
    if low not in sizes or high not in sizes or low >= high:
        return None
    parts = PARTS if part is None else (part,)
    more = sum(calls_of(sizes[high], call, each) - calls_of(sizes[low], call, each) for each in parts)
    return more / (high - low)


def per_device_table(sizes: Mapping[int, Counted]) -> Table:
    """Calls of one pseudo-terminal, between the smallest and the largest count, and at both ends.

    :param sizes: counts of boots by the number of pseudo-terminals, at least two.
    """
    known = sorted(sizes)
    low, high = known[0], known[-1]
    fields = (
        Field("For each pseudo-terminal"), Field("Then"), *(Field(f"In the {part}", "number") for part in PARTS),
        Field("In all", "number"), Field(f"From {low} to {known[1]}", "number"),
        Field(f"From {known[-2]} to {high}", "number"),
    )  # fmt: skip
    rows = []
    for call in CALLS:
        figures: Sequence[Value] = [
            *(_rounded(per_count(sizes, call, part, low, high)) for part in PARTS),
            _rounded(per_count(sizes, call, None, low, high)),
            _rounded(per_count(sizes, call, None, low, known[1])),
            _rounded(per_count(sizes, call, None, known[-2], high)),
        ]
        if any(figures) or call.then:
            rows.append((call.name, call.then or None, *figures))
    below = (
        f"A pseudo-terminal is two devices, master and slave. Exact: calls of the boot with {high}, less those of the "
        f"boot with {low}, divided by {high - low}; by all programs, without an observer. Then: the figure of the old "
        f"study.",
        "The kernel's own part has no system calls. It requests two uevents for each terminal and suppresses the "
        "first; udevadm requests those of initramfs and system.",
    )
    return Table("per-device", "The work for one legacy pseudo-terminal", fields, tuple(rows), below)


def payers_table(few: Counted, many: Counted, count: int) -> Table:
    """Which program executes the instructions that pseudo-terminals cost; the rows add up.

    :param count: how many pseudo-terminals the second boot has more.
    """
    more = {name: many.program(name) - few.program(name) for name in few.programs | many.programs}
    total = sum(more.values())
    named = sorted((name for name in more if abs(more[name]) * 200 >= abs(total)), key=lambda name: -abs(more[name]))
    rows: list[tuple[Value, ...]] = [
        (
            name,
            few.program(name),
            many.program(name),
            more[name],
            more[name] / total if total else None,
            more[name] // count,
        )
        for name in named
    ]
    rest = [sum(each.program(name) for name in more if name not in named) for each in (few, many)]
    change = rest[1] - rest[0]
    rows.append(("all others", *rest, change, change / total if total else None, change // count))
    whole = [sum(each.program(name) for name in more) for each in (few, many)]
    rows.append(("all", *whole, total, 1.0, total // count))
    fields = (
        Field("Who"), Field("Without", "count"), Field(f"With {count}", "count"), Field("More", "count"),
        Field("Of all that is more", "share"), Field("For each", "count"),
    )  # fmt: skip
    below = (
        "Instructions. A program's row is what it executes in user mode, by the name of its process; "
        f"`{IN_KERNEL}` is all work of the kernel, for any program.",
    )
    return Table("payers", "Who pays for legacy pseudo-terminals", fields, tuple(rows), below)


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)
