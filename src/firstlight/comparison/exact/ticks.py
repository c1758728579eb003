"""What timer ticks did: how much of it follows from their number, and how much is another cost of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.functions import key_of_function
from firstlight.comparison.exact.rows import Key
from firstlight.comparison.sides.stable_names import stable_name
from firstlight.schema.spans import CallKind

#: What begins a timer's tick, below the entry of an interrupt.
_TICKS = frozenset(
    "hrtimer_interrupt tick_handle_periodic timer_interrupt arch_timer_handler_virt arch_timer_handler_phys "
    "riscv_timer_interrupt sysvec_apic_timer_interrupt".split()
)
#: A function did other work in the ticks where its time is more than this many times what their number explains.
_OTHER_WORK = 2


@dataclass(frozen=True)
class TickWork:
    """The ticks of one boot."""

    ticks: int
    functions: Mapping[Key, int]
    """The self of each function within them, in nanoseconds."""


def begins_tick(function: str, kind: str) -> bool:
    """Whether a node of a tree is the beginning of a timer's tick.

    >>> begins_tick("tick_handle_periodic", "function"), begins_tick("asm_sysvec_apic_timer_interrupt", "interrupt")
    (True, True)
    """
    return stable_name(function) in _TICKS or (kind == CallKind.INTERRUPT and "timer" in function)


def tick_work(boot: Boot) -> TickWork:
    """How often a timer ticked, and what the functions did in its ticks.

    >>> import firstlight
    >>> tick_work(firstlight.open(bundle)).ticks > 0
    True
    """
    ticks = 0
    functions: dict[Key, int] = {}
    within: list[bool] = []
    columns = ("parent", "function", "module", "kind", "calls", "self_ns")
    for parent, function, module, kind, calls, ns in boot.calls().select(columns).iter_rows():
        around = parent is not None and within[parent]
        begins = not around and begins_tick(function, kind)
        within.append(around or begins)
        if begins:
            ticks += calls or 0
        if within[-1] and ns:
            key = key_of_function(function, module, kind)
            functions[key] = functions.get(key, 0) + ns
    return TickWork(ticks, functions)


def is_other_work(key: Key, a: TickWork, b: TickWork, limit_ns: int) -> bool:
    """Whether a function's work in the ticks changed by far more than their number did.

    :param limit_ns: how much the function changes by itself.

    >>> f, g = Key("f"), Key("g")
    >>> one, other = TickWork(100, {f: 500, g: 500}), TickWork(150, {f: 750, g: 4_000})
    >>> is_other_work(f, one, other, 0), is_other_work(g, one, other, 0), is_other_work(g, one, other, 5_000)
    (False, True, False)
    """
    before, after = a.functions.get(key, 0), b.functions.get(key, 0)
    if abs(after - before) <= limit_ns:
        return False
    explained = before * b.ticks // a.ticks if a.ticks else before
    return after > _OTHER_WORK * max(before, explained) or _OTHER_WORK * after < min(before, explained)
