"""The study: boots its arms, measures them, and says what holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firstlight import FirstlightError
from firstlight.study import Boot, Chart, Extent, Lab, MissingArm, MissingValue, Outcome, Table, noise_band
from firstlight_studies.catalogue import UDEV_PTYS
from firstlight_studies.udev_ptys import arms as arm
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.competitors import (
    CompetitorTimings,
    measured,
    observers_table,
    relatives_table,
    waiting_table,
    workers_table,
)
from firstlight_studies.udev_ptys.counts import Counted
from firstlight_studies.udev_ptys.figures import PtyEvidence, figures_of
from firstlight_studies.udev_ptys.latency import latency_chart, latency_table
from firstlight_studies.udev_ptys.model import COSTS, law_chart, law_of, law_table, sizes_table
from firstlight_studies.udev_ptys.per_device import payers_table, per_device_table
from firstlight_studies.udev_ptys.queue import queue_chart, queue_table
from firstlight_studies.udev_ptys.recipe import recipe
from firstlight_studies.udev_ptys.share import share_chart, share_table
from firstlight_studies.udev_ptys.udev_end import done_table
from firstlight_studies.udev_ptys.watched import LEFT_OUT, STAGES
from firstlight_studies.udev_ptys.watched import done as when_done
from firstlight_studies.udev_ptys.watched import latencies as latencies_of
from firstlight_studies.udev_ptys.watched import queues as queues_of

Lookup = Callable[[str], CompetitorTimings | MissingValue]

_NOTES = (
    "A and B have 256 legacy pseudo-terminals, C has none. B→C is the change without them.",
    "Virtual time: one instruction takes one nanosecond on one processor without caches; compare figures with each "
    "other, not with the seconds of a machine of 2009.",
    "A program notes each instant in the initramfs; it runs in every arm.",
    "The lab's kernel has the tracers of interrupts and preemption built in, which cost instructions.",
    "Userspace has no modules of this kernel: each request of udev to load one fails quickly.",
)


def check(extent: Extent) -> None:
    """Refuse sizes that are not numbers of legacy pseudo-terminals.

    :raises UsageError: naming the size.
    """
    extent.counts(arm.MOST)


def run(lab: Lab) -> Outcome:
    """Boot every arm, and return what they show."""
    arms = arm.arms(lab)
    boots = lab.boot_all(arms)
    base = next(each for each in arms if each.name == arm.PLAIN.b)
    band = noise_band(lab, base, boots[base.name], lambda boot: stages.stages(boot)[stages.WHOLE])
    known = {name: _measured(name, boot, lab) for name, boot in boots.items()}

    def of(name: str) -> CompetitorTimings | MissingValue:
        return known.get(name, LEFT_OUT)

    sizes = {count: of(arm.plain(count)) for count in arm.counts(lab)}
    times = {count: each if isinstance(each, MissingValue) else each.stages for count, each in sizes.items()}
    booted = {count: each for count, each in sizes.items() if isinstance(each, CompetitorTimings)}
    counts = {count: each.counted for count, each in booted.items()}
    laws = {name: law_of(_costs(times, name)) for name in COSTS}
    latencies, queues = latencies_of(lab, boots), queues_of(lab, boots)
    dones = when_done(lab, boots)
    three = [_stages(of(name)) for name in (arm.PLAIN.a, arm.PLAIN.b, arm.PLAIN.c)]
    tables = [
        *_stage_tables(three),
        *(latency_table(stage, [latencies[stage, name] for name in "ABC"]) for stage in STAGES),
        done_table(dones),
        queue_table(queues, latencies),
        *([per_device_table(counts)] if len(counts) > 1 else []),
        *_payers(of(arm.PLAIN.c), of(arm.PLAIN.b)),
        share_table({"C": _counted(of(arm.PLAIN.c)), "B": _counted(of(arm.PLAIN.b))}),
        sizes_table(times, {count: each.left.numbers for count, each in booted.items()}),
        law_table(laws),
        *_further(lab, of),
        _observers(of),
        band.table(),
    ]
    evidence = PtyEvidence(
        a=three[0],
        b=three[1],
        c=three[2],
        sizes=counts,
        terminals={count: each.left.numbers.get("/sys/class/tty", 0) for count, each in booted.items()},
        latency={(stage, name): latencies[stage, name] for stage in STAGES for name in "BC"},
        done=dones["B"],
        law=laws[stages.WHOLE],
        free=(_whole(of(arm.FREE[0])), _whole(of(arm.FREE[1]))),
        band=band.relative,
    )
    charts: list[Chart | None] = [
        law_chart(times),
        *(latency_chart(stage, {name: latencies[stage, name] for name in "BC"}) for stage in STAGES),
        queue_chart(queues),
        share_chart({"C": _counted(of(arm.PLAIN.c)), "B": _counted(of(arm.PLAIN.b))}),
    ]
    return UDEV_PTYS.outcome(
        lab,
        recipe=recipe(boots[arm.PLAIN.b]),
        tables=tables,
        figures=figures_of(evidence),
        charts=charts,
        notes=_NOTES,
    )


def _measured(name: str, boot: Boot | MissingValue, lab: Lab) -> CompetitorTimings | MissingValue:
    try:
        found = measured(boot)
    except FirstlightError as error:
        lab.missing.append(MissingArm(name, error.message))
        return MissingValue(error.message)
    if isinstance(found, CompetitorTimings) and name not in arm.FREE:
        gaps = {each.reason: stage for stage, each in found.stages.items() if isinstance(each, MissingValue)}
        lab.missing.extend(MissingArm(f"{name}: {stage}", reason) for reason, stage in gaps.items())
    return found


def _stages(each: CompetitorTimings | MissingValue) -> Mapping[str, int | MissingValue] | MissingValue:
    return each if isinstance(each, MissingValue) else each.stages


def _counted(each: CompetitorTimings | MissingValue) -> Counted | MissingValue:
    return each if isinstance(each, MissingValue) else each.counted


def _whole(each: CompetitorTimings | MissingValue) -> int | MissingValue:
    return each if isinstance(each, MissingValue) else each.stages[stages.WHOLE]


def _costs(times: Mapping[int, Mapping[str, int | MissingValue] | MissingValue], name: str) -> dict[int, float]:
    """A stage by size, where it is known."""
    found = {}
    for count, each in times.items():
        time = each if isinstance(each, MissingValue) else each[name]
        if not isinstance(time, MissingValue):
            found[count] = float(time)
    return found


def _stage_tables(three: list[Mapping[str, int | MissingValue] | MissingValue]) -> list[Table]:
    title = "Three arms: 256 legacy pseudo-terminals (A, B), and none (C)"
    below = (
        "Virtual time. A percentage of a change is trunc(100 * new / old), as in the old table. Then, udev's part was "
        "its processing time divided by the row above. Here it is the instructions of udev's programs divided by "
        "those of all programs in that part of the boot.",
        "Processing in the initramfs is from the end of the trigger until udev has settled; in the system it is the "
        "time that the waiter waits. In the system udevd starts while udevadm already requests events, and both run "
        "at the same time. The rest that the waiter waits for depends on when the first process starts it.",
    )
    more = (
        "Rows that the old table lacks. In the initramfs udevd works during the trigger, so start, trigger and "
        "processing belong together. In the system the span from the trigger until the waiter is notified has three "
        "parts that add up "
        "to it: trigger and processing (above), and between them the time until the first process starts the waiter.",
    )
    return [
        stages.stage_table("stages", title, three, stages.ROWS, below),
        stages.stage_table("more-stages", "The same arms, the rest", three, stages.MORE_ROWS, more),
    ]


def _payers(few: CompetitorTimings | MissingValue, many: CompetitorTimings | MissingValue) -> list[Table]:
    if isinstance(few, MissingValue) or isinstance(many, MissingValue):
        return []
    return [payers_table(few.counted, many.counted, arm.MOST)]


def _further(lab: Lab, of: Lookup) -> list[Table]:
    """The arms beside the question itself; a quick run has none of them."""
    if lab.quick:
        return []
    legacy = (arm.MOST * arm.DEVICES_PER_COUNT, of(arm.PLAIN.b))
    relatives = [(each, of(each.arm)) for each in arm.RELATIVES]
    waiting = {
        "sysinit.target, for systemd-udev-settle.service": (of(arm.PLAIN.b), of(arm.PLAIN.c)),
        "nobody": (of(arm.FREE[0]), of(arm.FREE[1])),
    }
    workers = {str(most): of(arm.workers(most)) for most in arm.WORKERS}
    return [
        relatives_table(of(arm.PLAIN.c), legacy, relatives),
        waiting_table(waiting),
        workers_table({"udev's own choice": of(arm.PLAIN.b), **workers}),
    ]


def _observers(of: Lookup) -> Table:
    return observers_table(
        [
            ("udevadm monitor, 256", of(arm.PLAIN.b), of(arm.MONITORED.b)),
            ("udevadm monitor, none", of(arm.PLAIN.c), of(arm.MONITORED.c)),
            ("monitor and udevd's debug log, 256", of(arm.PLAIN.b), of(arm.LOGGED.b)),
            ("monitor and udevd's debug log, none", of(arm.PLAIN.c), of(arm.LOGGED.c)),
        ]
    )
