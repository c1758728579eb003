"""Intervals of a boot, and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from firstlight.schema.spans import SpanKind

#: An edge that no record states: the step that ended last before this one began.
INFERRED = "inferred"

_USER = frozenset({"unit", "stage", SpanKind.PROCESS})

#: Stages that systemd reports of what ran before it: no part of userspace.
_BEFORE_USERSPACE = frozenset({"firmware", "loader", "kernel"})


@dataclass(slots=True)
class Step:
    """An interval of the boot, or a part of one that waited in between."""

    kind: str
    name: str
    track: str
    start: int
    end: int
    grade: str
    span: int
    before: list[tuple[int, str]] = field(default_factory=list)
    """Steps that this one waited for, by number, each with the kind of the edge."""
    release: int | None = None
    """It cannot begin before, whatever it waits for: a uevent's arrival."""

    @property
    def of_userspace(self) -> bool:
        """Whether it is userspace's own, and not what systemd reports of the time before it."""
        return self.kind in _USER and not (self.kind == "stage" and self.name in _BEFORE_USERSPACE)

    @property
    def of_kernel(self) -> bool:
        """Whether it is the kernel's own work."""
        return self.kind not in _USER | {SpanKind.UEVENT}


@dataclass
class PathGraph:
    """Steps, and which of them belong to what name."""

    steps: list[Step]
    order: list[int]
    """The numbers of all steps, each after those that it waited for."""
    by_name: dict[str, list[int]]
    unfinished: int
    """Spans without an end: they are not steps, because it is unknown what waited for them."""
    without_start: int
    """Spans of which only the end is known, and which are not units: it is unknown what they waited for."""
    instants: frozenset[int]
    """Spans of units of which only the end is known: points, whose activation lies in what comes before them."""
