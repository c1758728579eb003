"""What each process executed by itself, as stacks: user functions, the calls that they make, the rest of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import polars as pl

from firstlight.analysis.processes import sliced
from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.processes import processes
from firstlight.analysis.processes.user_functions import base_name, code_name
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.bundle.slices import Interval
from firstlight.schema.spans import CallKind, CallRow

#: A process of a longer chain of parents stands below the outermost ones.
_DEEPEST = 500


class Frame(NamedTuple):
    """One frame of a stack."""

    name: str
    kind: CallKind


class Stack(NamedTuple):
    """What one place executed by itself."""

    #: The outermost first.
    frames: tuple[Frame, ...]
    #: How often the system call was made; 0 for what is not counted.
    calls: int
    instructions: int
    ns: int


_BOOT = Frame(CallRow.BOOT, CallKind.ROOT)
_USER = Frame(CallRow.USER, CallKind.USER)
_KERNEL = Frame("[kernel]", CallKind.GROUP)
_INTERRUPTS = Frame(CallRow.INTERRUPTS, CallKind.INTERRUPT)
_IDLE = Frame(CallRow.IDLE, CallKind.IDLE)
_BEFORE = Frame("[before the kernel]", CallKind.FIRMWARE)

_Own = dict[tuple[Frame, ...], tuple[int, int]]
"""Calls and instructions by the frames below a process."""


def process_stacks(boot: Boot, interval: Interval | None = None) -> Iterator[Stack]:
    """The stacks of a recorded boot, each process below the one that created it; nothing for a boot without processes.

    The instructions sum to those of the boot, and so does the time: interrupts, idle time and what ran before the
    kernel have stacks of their own.

    :param interval: only what was executed in these slices of time; a call counts where it began.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> list(process_stacks(firstlight.open(bundle)))
    []
    """
    if boot.table("processes").is_empty():
        return
    step = 1 << (boot.manifest.clock.icount_shift or 0)
    code, calls = _executed(boot, interval)
    stacks = _stacks_of_processes(boot)
    interrupts = executed = 0
    columns = ("process", "user_instructions", "kernel_instructions", "interrupt_instructions")
    for process, user, kernel, came in sliced.modes(boot, interval).select(columns).iter_rows():
        stack = stacks[process]
        for within in (code.get(process, {}), calls.get(process, {})):
            for below, (count, instructions) in sorted(within.items()):
                yield Stack((*stack, *below), count, instructions, instructions * step)
        for frame, whole, seen in ((_USER, user, code.get(process, {})), (_KERNEL, kernel, calls.get(process, {}))):
            rest = whole - sum(instructions for _, instructions in seen.values())
            yield Stack((*stack, frame), 0, rest, rest * step)
        interrupts += came
        executed += user + kernel + came
    yield Stack((_BOOT, _INTERRUPTS), 0, interrupts, interrupts * step)
    totals = boot.manifest.totals if interval is None else interval
    idle = totals.idle_ns or 0
    lasts = (boot.manifest.totals.virtual_ns or 0) if interval is None else interval.end_ns - interval.start_ns
    yield Stack((_BOOT, _IDLE), 0, 0, idle)
    before = (totals.instructions or 0) - executed
    yield Stack((_BOOT, _BEFORE), 0, before, lasts - idle - executed * step)


def stack_parts(boot: Boot, place: Callable[[tuple[Frame, ...]], int]) -> pl.DataFrame:
    """What each stack of :func:`process_stacks` did by itself in each slice of time, but for idling: `slice`, `node`,
    `calls`, `self_instructions`, only rows that are not zero.

    :param place: the number of a stack; it gets each stack of :func:`process_stacks`, perhaps several times.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> stack_parts(firstlight.open(bundle), len).height
    0
    """
    figures = ("calls", "self_instructions")
    if not sliced.is_sliced(boot):
        return pl.DataFrame(schema=dict.fromkeys(("slice", "node", *figures), pl.Int64))
    stacks, makers = _stacks_of_processes(boot), _makers(boot)
    none = pl.lit(0, pl.Int64)
    modes, made = sliced.slice_modes(boot), sliced.slice_calls(boot).drop_nulls("process")
    kinds = call_places(boot, made, place)
    functions = boot.table("user_functions").select("row", "process")
    places = [place((*stacks[process], *makers[row])) for row, process in functions.iter_rows()]
    own = boot.table("slice_user_functions").join(
        functions.with_columns(node=pl.Series(places, dtype=pl.Int64)), on="row", how="inner"
    )
    made = made.join(kinds, on=["process", "name", "user_function"], how="inner", nulls_equal=True)
    parts = [
        own.select("slice", "node", calls=none, self_instructions="self_instructions"),
        made.select("slice", "node", calls="began", self_instructions="own"),
    ]
    # The rest of user mode and of the kernel.
    for frame, column, less in (
        (_USER, "user_instructions", own.select("slice", "process", own=-pl.col("self_instructions"))),
        (_KERNEL, "kernel_instructions", made.select("slice", "process", own=-pl.col("own"))),
    ):
        rest = pl.concat([modes.select("slice", "process", own=column), less])
        at = {process: place((*stacks[process], frame)) for process in rest["process"].unique(maintain_order=True)}
        node = pl.col("process").replace_strict(at, return_dtype=pl.Int64)
        parts.append(rest.select("slice", node=node, calls=none, self_instructions="own"))
    executed = pl.sum_horizontal("user_instructions", "kernel_instructions", "interrupt_instructions")
    for frame, rows in (
        (_INTERRUPTS, modes.select("slice", own="interrupt_instructions")),
        (_BEFORE, boot.slices().select("slice", own="instructions")),
        (_BEFORE, modes.select("slice", own=-executed)),
    ):
        node = pl.lit(place((_BOOT, frame)), pl.Int64)
        parts.append(rows.select("slice", node=node, calls=none, self_instructions="own"))
    sums = pl.concat(parts).group_by("slice", "node").agg(pl.col(figures).sum())
    return sums.filter(pl.any_horizontal(pl.col(figures) != 0)).sort("slice", "node")


def call_places(boot: Boot, made: pl.DataFrame, place: Callable[[tuple[Frame, ...]], int]) -> pl.DataFrame:
    """The number of the stack of each kind of call: `process`, `name`, `user_function`, `node`.

    :param made: system calls, with these three columns.
    :param place: the number of a stack.
    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> from firstlight.analysis.processes import sliced
    >>> boot = firstlight.open(bundle)
    >>> call_places(boot, sliced.slice_calls(boot), len).columns
    ['process', 'name', 'user_function', 'node']
    """
    stacks, makers = _stacks_of_processes(boot), _makers(boot)
    kinds = made.select("process", "name", "user_function").unique(maintain_order=True)
    places = [
        place((*stacks[process], *makers.get(maker, (_KERNEL,)), Frame(name, CallKind.SYSCALL)))
        for process, name, maker in kinds.iter_rows()
    ]
    return kinds.with_columns(node=pl.Series(places, dtype=pl.Int64))


@once
def _stacks_of_processes(boot: Boot) -> dict[int, tuple[Frame, ...]]:
    """The frames of each process, below those that created it."""
    names = process_names_of(boot)
    parents = dict(processes(boot).select("process", "parent").iter_rows())
    chains = {process: _chain(process, parents) for process in parents}
    return {
        process: (_BOOT, *(Frame(names[each].text, CallKind.TASK) for each in chains[process])) for process in parents
    }


@once
def _makers(boot: Boot) -> dict[int, tuple[Frame, ...]]:
    """The frames of each row of the user functions, below its process."""
    makers: dict[int, tuple[Frame, ...]] = {}
    for row in boot.table("user_functions").iter_rows(named=True):
        file = base_name(row["file"]) if row["file"] else f"[{row['kind']}]"
        makers[row["row"]] = (_USER, Frame(file, CallKind.USER), Frame(code_name(row), CallKind.USER))
    return makers


def _executed(boot: Boot, interval: Interval | None) -> tuple[dict[int, _Own], dict[int, _Own]]:
    """By process, what its user functions executed, and what the kernel executed in their system calls."""
    code: dict[int, _Own] = {}
    makers = _makers(boot)
    for row, process, instructions in sliced.code(boot, interval).select("row", "process", "self_instructions").rows():
        _add(code, process, makers[row], 0, instructions)
    calls: dict[int, _Own] = {}
    for process, name, maker, count, instructions in _calls(boot, interval).iter_rows():
        _add(calls, process, (*makers.get(maker, (_KERNEL,)), Frame(name, CallKind.SYSCALL)), count, instructions)
    return code, calls


def _add(found: dict[int, _Own], process: int, stack: tuple[Frame, ...], count: int, instructions: int) -> None:
    own = found.setdefault(process, {})
    known = own.get(stack, (0, 0))
    own[stack] = known[0] + count, known[1] + instructions


def _calls(boot: Boot, interval: Interval | None) -> pl.DataFrame:
    """The system calls: process, name, row of the function that made them, number and instructions."""
    keys = ["process", "name", "user_function"]
    calls = sliced.calls(boot, interval)
    sums = calls.group_by(keys).agg(calls=pl.col("began").sum(), own=pl.col("kernel_instructions").sum())
    return sums.sort(keys).select(*keys, "calls", "own")


def _chain(process: int, parents: dict[int, int | None]) -> list[int]:
    """A process and those that created it, the outermost first."""
    chain, seen = [process], {process}
    above = parents.get(process)
    while above is not None and above in parents and above not in seen:
        chain.append(above)
        seen.add(above)
        above = parents[above]
    return chain[::-1][:_DEEPEST]
