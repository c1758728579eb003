"""The further arms: other populations of devices, nothing waiting for udev, fewer workers, and what observers cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from firstlight.study import Boot, Field, MissingValue, SpanKind, Table, Value, first_missing, missing_row
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.arms import Relative
from firstlight_studies.udev_ptys.counts import Counted, counted
from firstlight_studies.udev_ptys.per_device import CALLS, SYSTEM_CALLS, calls_of
from firstlight_studies.udev_ptys.residual_files import Left, left_by
from firstlight_studies.udev_ptys.share import programs_of


@dataclass(frozen=True)
class CompetitorTimings:
    """What is known of one arm."""

    boot: Boot
    stages: dict[str, int | MissingValue]
    """And what programs execute meanwhile, in instructions."""
    left: Left
    counted: Counted

    def time(self, stage: str) -> int | None:
        """A stage's time, where it is known."""
        value = self.stages[stage]
        return None if isinstance(value, MissingValue) else value

    def initcall(self, name: str) -> int | None:
        """What an initcall took; nothing where the kernel has none of that name."""
        spans = self.boot.spans().filter((pl.col("kind") == SpanKind.INITCALL) & (pl.col("name") == name))
        return None if spans.is_empty() or spans["duration_ns"].null_count() else int(spans["duration_ns"].sum())

    @property
    def system_calls(self) -> int:
        """Of the whole boot."""
        call = next(each for each in CALLS if each.name == SYSTEM_CALLS)
        return sum(calls_of(self.counted, call, part) for part in self.counted.calls)


def measured(boot: Boot | MissingValue) -> CompetitorTimings | MissingValue:
    """Measure an arm."""
    if isinstance(boot, MissingValue):
        return boot
    counts = counted(boot)
    return CompetitorTimings(boot, {**stages.stages(boot), **programs_of(counts)}, left_by(boot), counts)


def relatives_table(
    none: CompetitorTimings | MissingValue,
    legacy: tuple[int, CompetitorTimings | MissingValue],
    relatives: Sequence[tuple[Relative, CompetitorTimings | MissingValue]],
) -> Table:
    """What one device of each population costs, by the difference of two boots.

    :param none: the arm without legacy pseudo-terminals, with the few of everything else.
    :param legacy: how many devices the arm with legacy pseudo-terminals has more, and that arm.
    """
    fields = (
        Field("Devices"), Field("More of them", "count"), Field("Boot, more", "change"), Field("For each", "time"),
        Field("Kernel, for each", "time"), Field("Initramfs, for each", "time"), Field("System, for each", "time"),
        Field("Its initcall, for each", "time"), Field("Uevents, for each", "number"),
        Field("System calls, for each", "number"), Field("Device units, more", "count"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for what, devices, arm, initcall in (
        ("legacy pseudo-terminals, halves", legacy[0], legacy[1], "pty_init"),
        *((f"{each.what} (`{each.word}={each.many}`)", each.devices, arm, each.initcall) for each, arm in relatives),
    ):
        if isinstance(none, MissingValue) or isinstance(arm, MissingValue):
            rows.append((what, devices, *missing_row(first_missing(none, arm), len(fields) - 2)))
            continue

        def each_of(stage: str, arm: CompetitorTimings = arm, devices: int = devices) -> int | None:
            few, many = none.time(stage), arm.time(stage)
            return None if few is None or many is None else round((many - few) / devices)

        few, many = none.time(stages.WHOLE), arm.time(stages.WHOLE)
        calls = [one.initcall(initcall) for one in (none, arm)]
        own = round((calls[1] - calls[0]) / devices) if calls[0] is not None and calls[1] is not None else None
        units = [each.left.numbers.get("/run/udev/tags/systemd") for each in (none, arm)]
        events = [each.left.numbers.get("uevents") for each in (none, arm)]
        rows.append(
            (
                what, devices, None if few is None or many is None else many - few, each_of(stages.WHOLE),
                each_of(stages.KERNEL), each_of(stages.INITRAMFS), each_of(stages.SYSTEM), own,
                None if None in events else round((int(events[1] or 0) - int(events[0] or 0)) / devices, 3),
                round((arm.system_calls - none.system_calls) / devices, 3),
                None if None in units else int(units[1] or 0) - int(units[0] or 0),
            )
        )  # fmt: skip
    below = (
        "By the difference from the boot without legacy pseudo-terminals, and with as few of the others as the kernel "
        "has by default.",
    )
    return Table("relatives", "The cost of one device made in advance, by kind", fields, tuple(rows), below)


def waiting_table(
    arms: Mapping[str, tuple[CompetitorTimings | MissingValue, CompetitorTimings | MissingValue]],
) -> Table:
    """Does it matter whether anybody waits for udev?

    :param arms: by who waits: with the most pseudo-terminals, and without any.
    """
    fields = (
        Field("Who waits"), Field("With", "time"), Field("Without", "time"), Field("Saved", "change"),
        Field("Saved of it", "percent"), Field("udev done at ready, with"), Field("udev done at ready, without"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for who, pair in arms.items():
        many, few = pair
        if isinstance(many, MissingValue) or isinstance(few, MissingValue):
            rows.append((who, *missing_row(first_missing(many, few), len(fields) - 1)))
            continue
        one, other = many.time(stages.WHOLE), few.time(stages.WHOLE)
        done = ["yes" if each.left.numbers.get("settled") else "no" for each in (many, few)]
        saved = None if one is None or other is None else one - other
        rows.append((who, one, other, saved, None if saved is None or not one else saved / one, *done))
    below = ("From power on to ready, which is when the default target is reached.",)
    return Table("waiting", "The entire boot, with and without waiting for udev", fields, tuple(rows), below)


def workers_table(arms: Mapping[str, CompetitorTimings | MissingValue]) -> Table:
    """The same boot with other numbers of workers."""
    shown = (stages.COLDPLUG_EARLY, stages.COLDPLUG, stages.SYSTEM, stages.WHOLE)
    fields = (Field("udev.children_max"), *(Field(name, "time") for name in shown))
    rows = tuple(
        (name, *([arm] * len(shown) if isinstance(arm, MissingValue) else [arm.stages[stage] for stage in shown]))
        for name, arm in arms.items()
    )
    below = ("One processor: more workers than one only wait for one another, unless a worker sleeps.",)
    return Table("workers", "How many workers udev may have", fields, rows, below)


def observers_table(
    arms: Sequence[tuple[str, CompetitorTimings | MissingValue, CompetitorTimings | MissingValue]],
) -> Table:
    """What watching costs: the same boot with an observer and without.

    :param arms: what it is, the boot without an observer, the boot with it.
    """
    fields = (
        Field("Observer"), Field("Boot without", "time"), Field("Boot with", "time"), Field("More", "change"),
        Field("Of it", "percent"), Field("Instructions, more", "percent"), Field("System calls, more", "percent"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for what, plain, watched in arms:
        if isinstance(plain, MissingValue) or isinstance(watched, MissingValue):
            rows.append((what, plain if isinstance(plain, MissingValue) else None,
                         watched if isinstance(watched, MissingValue) else None, None, None, None, None))  # fmt: skip
            continue
        one, other = plain.time(stages.WHOLE), watched.time(stages.WHOLE)
        more = None if one is None or other is None else other - one
        rows.append(
            (
                what, one, other, more, None if more is None or not one else round(more / one, 6),
                _relative(_instructions(plain), _instructions(watched)),
                _relative(plain.system_calls, watched.system_calls),
            )
        )  # fmt: skip
    below = (
        "All tables except those of latencies and of the queue are from boots without an observer inside. The "
        "profile, which gives calls and instructions, is taken from outside and does not affect the guest.",
    )
    return Table("observers", "What the observers cost", fields, tuple(rows), below)


def _instructions(arm: CompetitorTimings) -> int:
    return sum(sum(of.values()) for of in arm.counted.instructions.values())


def _relative(one: int, other: int) -> float | None:
    return round((other - one) / one, 6) if one else None
