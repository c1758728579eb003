"""What an export wrote and left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firstlight.quantities import counted

if TYPE_CHECKING:
    from firstlight._core import LeftOut, Stacks


@dataclass
class Exported:
    """The counts of what is in the written file, and notes of what is not."""

    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def leave_out(self, spans: LeftOut) -> None:
        """Note the spans without a place on the axis of time."""
        for number, one, several in (
            (spans.no_start, "nothing says when it began", "nothing says when they began"),
            (spans.ends_before_start, "it ends before it begins", "they end before they begin"),
        ):
            if number:
                self.notes.append(f"{counted(number, 'span')} left out: {one if number == 1 else several}")

    def weigh(self, stacks: Stacks, unit: str) -> None:
        """Note the stacks without weight.

        :param unit: `time` or `instructions`.
        """
        if stacks.origin == "spans":
            self.notes.append("the boot has no profile: the stacks are its spans")
        what = "node" if stacks.origin == "calls" else "span"
        length = "how long it took" if unit == "time" else "how many instructions it took"
        if stacks.unknown:
            self.notes.append(f"{counted(stacks.unknown, what)} without weight: {length} is unknown")
        if stacks.overlapped:
            self.notes.append(f"{counted(stacks.overlapped, what)} without weight: those inside last longer together")
