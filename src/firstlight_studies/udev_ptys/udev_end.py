"""When udev is done in the system, and when the first process starts the one that waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from firstlight import FirstlightError
from firstlight.study import Boot, Field, MissingValue, Table, Value, missing_row, union_ns
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.events import observed
from firstlight_studies.udev_ptys.residual_files import left_by
from firstlight_studies.udev_ptys.system_files import MONITORS, SETTLE_UNIT


@dataclass(frozen=True)
class Done:
    """Of the events that the trigger asks for; times in nanoseconds from its beginning."""

    events: int
    first: int
    """The first event is sent."""
    up: int
    """udevd is up."""
    asked: int
    """The trigger returns."""
    done: int
    """udev has passed the last of them on."""
    waiter: int
    """The waiter is started."""
    notified: int
    """The waiter is notified that udev is done."""
    busy: int
    """How long there was an event that udev had not done with."""
    system: int
    """The whole stage."""


def done_of(boot: Boot, scratch: Path) -> Done | MissingValue:
    """Of a boot with the monitor.

    :param scratch: where a bundle is made of the monitor's output.
    """
    events = observed(boot, MONITORS["system"], scratch)
    if isinstance(events, MissingValue):
        return events
    left = left_by(boot)
    whole = stages.stages(boot)[stages.SYSTEM]
    if isinstance(whole, MissingValue):
        return whole
    try:
        began, asked = (left.unit(stages.TRIGGER_UNIT, what) for what in (stages.BEGAN, stages.ACTIVE))
        waiter, notified = (left.unit(SETTLE_UNIT, what) for what in (stages.BEGAN, stages.ACTIVE))
        up = left.unit(stages.UDEVD_UNIT, stages.ACTIVE)
    except FirstlightError as error:
        return MissingValue(error.message)
    known = events.drop_nulls(["arrival_ns", "end_ns"]).filter(pl.col("arrival_ns").is_between(began, asked))
    spans = list(known.select("arrival_ns", "end_ns").iter_rows())
    if not spans:
        return MissingValue("no event was seen while the trigger asked for them")
    return Done(
        events=len(spans),
        first=min(sent for sent, _ in spans) - began,
        up=up - began,
        asked=asked - began,
        done=max(end for _, end in spans) - began,
        waiter=waiter - began,
        notified=notified - began,
        busy=union_ns(spans),
        system=whole,
    )


def done_table(arms: Mapping[str, Done | MissingValue]) -> Table:
    """A row for each arm."""
    fields = (
        Field("Arm"), Field("Events", "count"), Field("First event", "change"), Field("udevd up", "change"),
        Field("All asked for", "change"), Field("udev done", "change"), Field("Waiter started", "change"),
        Field("Waiter notified", "change"), Field("Nothing to do before the waiter starts", "time"),
        Field("udev has events to do", "time"), Field("Of the system", "share"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for arm, each in arms.items():
        if isinstance(each, MissingValue):
            rows.append((arm, *missing_row(each, len(fields) - 1)))
            continue
        share = each.busy / each.system if each.system else None
        idle = max(0, each.waiter - each.done)
        rows.append(
            (arm, each.events, each.first, each.up, each.asked, each.done, each.waiter, each.notified, idle, each.busy,
             share)
        )  # fmt: skip
    below = (
        "Boots with the monitor. From the beginning of the trigger, for the events that were sent before it returned. "
        "udev is done when it has passed the last of them on; the first process decides when the waiter starts.",
        "udev has events to do from an event's uevent until it is passed on, all events together; other programs run "
        "meanwhile, on the same processor.",
    )
    return Table("done", "When udev is done, system", fields, tuple(rows), below)
