"""What else differs between two boots that came up: a device that is missing may be what made one faster."""

from __future__ import annotations

from dataclasses import dataclass

from firstlight.bundle.boot import Boot

#: Facts that are inputs, longer than anybody reads, or a figure of the boot's own clock.
_NOT_COMPARED = frozenset({"kernel.config", "kernel.command_line", "kernel.command_line.words", "kernel.clock_ns"})


@dataclass(frozen=True)
class FactChange:
    """A fact that is not the same in both boots."""

    fact: str
    a: str | None
    """None: not there."""
    b: str | None


def fact_changes(a: Boot, b: Boot) -> list[FactChange]:
    """The facts in which two boots differ, in the order of their names; none where a boot has no facts.

    >>> import firstlight
    >>> boot = firstlight.open(bundle)
    >>> fact_changes(boot, boot)
    []
    """
    one, other = ({str(fact): value for fact, value in boot.facts().iter_rows()} for boot in (a, b))
    if not one or not other:
        return []
    return [
        FactChange(fact, one.get(fact), other.get(fact))
        for fact in sorted((one.keys() | other.keys()) - _NOT_COMPARED)
        if (fact in one) != (fact in other) or one.get(fact) != other.get(fact)
    ]
