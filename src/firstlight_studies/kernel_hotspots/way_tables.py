"""Four ways of timing one boot, side by side, and what each costs it."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight import FirstlightError
from firstlight.study import Boot, Field, MissingValue, Table, Value, first_missing, missing_row, time_text
from firstlight_studies.kernel_hotspots.boot_observations import (
    Seen,
    Uneven,
    by_port,
    by_profile,
    by_stamps,
    by_tracer,
    uneven_of,
)
from firstlight_studies.kernel_hotspots.deviation import deviation
from firstlight_studies.kernel_hotspots.timing_methods import ALL, Way
from firstlight_studies.kernel_hotspots.window import FIRST, LAST, window_of

#: The ways, with where they stand and what their step is.
_SEEN = (
    ("function profile", "outside", "1 ns", by_profile),
    ("printk stamps", "inside", "1 µs", by_stamps),
    ("port writes", "outside", "1 ns", by_port),
    ("kernel tracer", "inside", "1 µs", by_tracer),
)
_SHOWN = 12


def seen_by_ways(boot: Boot | MissingValue) -> dict[str, Seen] | MissingValue:
    """The initcalls of the boot that all ways time, by way."""
    if isinstance(boot, MissingValue):
        return boot
    try:
        return {title: read(boot) for title, _, _, read in _SEEN}
    except FirstlightError as error:
        return MissingValue(error.message)
    except OSError as error:
        return MissingValue(f"the bundle cannot be read: {error.strerror}")


def uneven_in(boot: Boot | MissingValue) -> Uneven | None:
    """How unevenly printk's clock ran in the boot that all ways time; nothing where that is unknown."""
    try:
        return None if isinstance(boot, MissingValue) else uneven_of(boot)
    except (FirstlightError, OSError):
        return None


def agreement_table(seen: dict[str, Seen] | MissingValue, uneven: Uneven | None) -> Table:
    """How far the ways agree on the initcalls of one boot."""
    fields = (
        Field("Way"), Field("Stands"), Field("Step"), Field("Sees of the window", "time"),
        Field("Initcalls timed", "count"),
        Field("Of these in the profile", "count"), Field("Their sum", "time"), Field("Sum by the profile", "time"),
        Field("Half deviate less than", "time"), Field("Largest deviation", "change"), Field("Of"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for title, stands, step, _ in _SEEN:
        if isinstance(seen, MissingValue):
            rows.append((title, stands, step, *missing_row(seen, 8)))
            continue
        one = seen[title]
        off = deviation(one.intervals, seen["function profile"].intervals)
        nothing = "it does not see the first process start, or no even clock before it"
        window = MissingValue(nothing) if one.window_ns is None else one.window_ns
        head = (title, stands, step, window, len(one.intervals))
        if off is None:
            rows.append((*head, *missing_row(MissingValue("it timed no initcall that the profile timed"), 6)))
        else:
            rows.append(
                (*head, off.intervals, off.sum_ns, off.profile_ns, round(off.middle_ns), off.largest_ns, off.largest)
            )
    below = (
        "One boot, timed in four ways at once. Port writes: the instants at which the first bytes of an initcall's two "
        "lines were written to the serial port, as seen by the machine, in virtual time.",
        *_unevenness(uneven),
        "Sees of the window: from its first to its last event between start_kernel and user mode; for printk's "
        "stamps, from the first after the kernel switched its clock source. The tracer starts late, the port with the "
        "console. Initcalls whose name several functions share are left out.",
    )
    return Table("ways", "Four ways of timing the same boot", fields, tuple(rows), below)


def _unevenness(uneven: Uneven | None) -> tuple[str, ...]:
    if uneven is None:
        return ()
    said = (
        "Printk's clock does not run evenly at first: from the line that enables the console to the one that switches "
        f"the clock source its stamps count {time_text(uneven.stamps_ns)}, and {time_text(uneven.port_ns)} "
        "passed between the same two lines at the port. An initcall before the switch may be timed wrong by them."
    )
    return (said,)


def initcall_table(seen: dict[str, Seen] | MissingValue) -> Table:
    """The longest initcalls of that boot, by each way."""
    fields = (Field("Initcall"), *(Field(title, "time") for title, _, _, _ in _SEEN))
    if isinstance(seen, MissingValue):
        return Table("initcalls", "The longest initcalls by four ways", fields, (("all", *missing_row(seen, 4)),))
    profile = seen["function profile"].intervals
    longest = sorted(profile, key=lambda name: (-profile[name], name))[:_SHOWN]
    rows = tuple(
        (name, *(seen[title].intervals.get(name, MissingValue(f"not timed by {title}")) for title, _, _, _ in _SEEN))
        for name in longest
    )
    return Table("initcalls", "The longest initcalls by four ways", fields, rows)


def cost_table(boots: Mapping[str, Boot | MissingValue], ways: tuple[Way, ...]) -> Table:
    """What each way costs the boot that it times."""
    fields = (
        Field("Way"), Field("Words"), Field("Window without", "time"), Field("Window with", "time"),
        Field("Cost", "change"), Field("Cost, share", "percent"), Field("Cost, instructions", "number"),
        Field("Cost until ready", "change"),
    )  # fmt: skip
    rows = tuple(
        (
            way.title,
            way.words,
            *_cost(
                way, boots.get(way.arm, MissingValue("not booted")), boots.get(way.against, MissingValue("not booted"))
            ),
        )
        for way in ways
    )
    below = (
        "A boot without a profile has no mark except its end, which its guest reads from its own counter. Both boots "
        "reach it at the same instant, to the step of this counter, which is the proof.",
        "The two boots of a row differ only in the method. A longer ring, which stamps may need, has a row of its "
        "own, and both boots of the next row have it.",
        "The time of a serial line is not included: see what a serial line would add.",
    )
    return Table("way-costs", "What each way of timing costs the boot", fields, rows, below)


def _cost(way: Way, arm: Boot | MissingValue, against: Boot | MissingValue) -> tuple[Value, ...]:
    if isinstance(arm, MissingValue) or isinstance(against, MissingValue):
        gap = first_missing(arm, against)
        return missing_row(gap, 6)
    # What is taken away, an arm shows by its lack: the boot beside it is the one that has it.
    lacking = way.takes_away
    without, having = (arm, against) if lacking else (against, arm)
    ready_without, ready_with = _ready(without), _ready(having)
    ready: Value = (
        MissingValue("the guest was not ready")
        if ready_without is None or ready_with is None
        else ready_with - ready_without
    )
    a, b = _length(without), _length(having)
    if a is None or b is None:
        nothing = MissingValue("a mark is missing") if way.profile else None
        return (nothing, None, None, None, None, ready)
    more = window_of(having).instructions - window_of(without).instructions
    return (a, b, b - a, (b - a) / a, more, ready)


def costs(boots: Mapping[str, Boot | MissingValue], ways: tuple[Way, ...]) -> dict[str, tuple[int, int] | None]:
    """By way, the length of the boot without it and what it adds, in nanoseconds, from power on until ready."""
    found: dict[str, tuple[int, int] | None] = {}
    for way in ways:
        arm, against = boots.get(way.arm), boots.get(way.against)
        if not isinstance(arm, Boot) or not isinstance(against, Boot):
            found[way.arm] = None
            continue
        without, having = (arm, against) if way.takes_away else (against, arm)
        a, b = _ready(without), _ready(having)
        found[way.arm] = None if a is None or b is None else (a, b - a)
    return found


def _marks(boot: Boot) -> dict[str, int | None]:
    return dict(boot.marks().select("mark", "time_ns").iter_rows())


def _length(boot: Boot) -> int | None:
    marks = _marks(boot)
    first, last = marks.get(FIRST), marks.get(LAST)
    return None if first is None or last is None else last - first


def _ready(boot: Boot) -> int | None:
    return _marks(boot).get("ready")


def timed_boot(boots: Mapping[str, Boot | MissingValue]) -> Boot | MissingValue:
    """The boot that all ways time."""
    return boots.get(ALL, MissingValue("not booted in this run"))
