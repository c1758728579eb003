"""What a boot loader says of its own time (U-Boot's bootstage), against what was seen from outside the guest."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.recipe.mode import RecordMode
from firstlight.schema.marks import Mark

#: `bootstage_report` of U-Boot's common/bootstage.c.
_HEAD = re.compile(r"Timer summary in microseconds \(\d+ records\):")
_ROW = re.compile(r"([\d,]{1,16}) +([\d,]{1,16}) {2}(\S.*)")
_NS_PER_US = 1000
#: U-Boot gives this stage when it hands over to the kernel.
_HAND_OVER = "start_kernel"
_MOST_STAGES = 200


@dataclass(frozen=True)
class ReportedStage:
    """One stage of a loader's own record, which is named after its end."""

    name: str
    reported_ns: int
    """From the loader's zero, the reset of its timer."""
    seen_ns: int | None = None
    """From power-on, as it was seen from outside; none where nothing outside shows this stage."""
    seen_by: str | None = None

    @property
    def difference_ns(self) -> int | None:
        """How much more was reported than was seen."""
        return None if self.seen_ns is None else self.reported_ns - self.seen_ns

    @property
    def difference(self) -> float | None:
        """The same as a part of what was seen.

        >>> ReportedStage("start_kernel", 990, 1000).difference
        -0.01
        """
        return self.difference_ns / self.seen_ns if self.seen_ns and self.difference_ns is not None else None


def reported_by_loader(boot: Boot) -> tuple[ReportedStage, ...]:
    """The stages that the loader of an exact boot printed before the kernel, in their order.

    The last one before the report is also that of its first line. The one that hands over to the kernel has a second
    row: that of the mark `kernel_entry`.

    :returns: nothing where no loader printed a report.
    """
    entered = boot.marks().filter(pl.col("mark") == Mark.KERNEL_ENTRY)["time_ns"].to_list()
    if boot.manifest.mode != RecordMode.EXACT or not entered or entered[0] is None:
        return ()
    # What is printed later may be anybody's.
    before = boot.log().filter(pl.col("source") == "console", pl.col("time_ns") < entered[0])
    lines = before.sort("line").select("time_ns", "text").rows()
    begins = next((place for place, (_, text) in enumerate(lines) if _HEAD.fullmatch(text.strip())), None)
    if begins is None:
        return ()
    stages: list[ReportedStage] = []
    # Below the head is a line of the columns' names.
    for _, text in lines[begins + 2 : begins + 2 + _MOST_STAGES]:
        found = _ROW.fullmatch(text.strip())
        if found is None:
            break
        stages.append(ReportedStage(found[3], int(found[1].replace(",", "")) * _NS_PER_US))
    if not stages:
        return ()
    last = max(range(len(stages)), key=lambda place: (stages[place].reported_ns, place))
    final = stages[last]
    stages[last] = ReportedStage(final.name, final.reported_ns, lines[begins][0], "first line of the report")
    if final.name == _HAND_OVER:
        stages.append(ReportedStage(final.name, final.reported_ns, entered[0], f"mark {Mark.KERNEL_ENTRY}"))
    return tuple(stages)
