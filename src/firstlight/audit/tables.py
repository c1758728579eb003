"""What two observers of one boot say of it, in one form."""

from __future__ import annotations

from dataclasses import dataclass, field

from firstlight.audit.layout import Layout


@dataclass(frozen=True)
class AuditFigures:
    """One function: instructions, and how often it was entered."""

    entries: int = 0
    self_instructions: int = 0
    """Of its own."""
    total_instructions: int = 0
    """With all it called; recursion counted once, as the kd table's Time."""


@dataclass(frozen=True)
class Tables:
    """A boot, function by function. Functions of one name are one, parts split off by the compiler belong to it."""

    instructions: int
    """Executed from power-on to the freeze, by the observer's own count."""
    functions: dict[str, AuditFigures] = field(default_factory=dict)
    edges: dict[tuple[str, str], int] = field(default_factory=dict)
    """Caller and callee: how often the one entered the other."""
    initcalls: frozenset[str] = frozenset()
    """The functions that ran as initcalls of the kernel itself."""
    user_instructions: int = 0
    """Executed in user mode."""
    before_kernel: int = 0
    """Executed before the kernel was entered."""


@dataclass(frozen=True)
class AuditEvidence:
    """Further evidence, from which causes of disagreement are found."""

    again: dict[str, int] = field(default_factory=dict)
    """How often a function's first instruction was reached without that being an entry."""
    elsewhere: dict[tuple[str, str], int] = field(default_factory=dict)
    """Instructions executed in a function (second) on behalf of another (first): it was entered in its middle."""
    on_behalf: dict[str, int] = field(default_factory=dict)
    """Instructions of thunks, trampolines and split-off parts executed on a function's behalf."""
    checks: dict[str, int] = field(default_factory=dict)
    """Figures that show whether the observation itself was sound."""
    happened: dict[str, int] = field(default_factory=dict)
    """Switches of tasks, entries of the kernel, tail calls."""
    uncounted: int = 0
    """Instructions that the second observer executed and has at no address: the one that ends the count."""
    layout: Layout = field(default_factory=Layout)
    """Where the kernel's functions lie."""
    lost_returns: int = 0
    """Returns that the recorder knows were never executed."""
    lost_in: frozenset[str] = frozenset()
    """The functions that it names for them."""


def folded(function: str) -> str:
    """The function that a part split off by the compiler belongs to; else the function itself.

    >>> folded("hpet_alloc.cold"), folded("set_ops.isra.0.cold.12"), folded("memcpy")
    ('hpet_alloc', 'set_ops.isra.0', 'memcpy')
    """
    return function.partition(".cold")[0]


def key(function: str, module: str | None) -> str:
    """A function's name in these tables.

    >>> key("probe", "nd_pmem"), key("memcpy", None)
    ('probe [nd_pmem]', 'memcpy')
    """
    return function if not module else f"{function} [{module}]"
