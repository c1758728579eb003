"""The stages of a boot as the classic table has them, and the table of three arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from firstlight import FirstlightError
from firstlight.study import Boot, Field, Mark, MissingValue, Table, Value, percent_of
from firstlight_studies.udev_ptys.residual_files import NotLeftError, left_by
from firstlight_studies.udev_ptys.system_files import SETTLE_UNIT

UDEVD_UNIT, TRIGGER_UNIT = "systemd-udevd.service", "systemd-udev-trigger.service"
BEGAN, ACTIVE = "InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic"
EXECUTED = "ExecMainStartTimestampMonotonic"

START_EARLY, START = "udev start, initramfs", "udev start, system"
TRIGGER_EARLY, TRIGGER = "trigger, initramfs", "trigger, system"
PROCESSING_EARLY, PROCESSING = "processing, initramfs", "processing, system"
NOT_YET = "the waiter not yet started, system"
COLDPLUG_EARLY, COLDPLUG = "udev start until settled, initramfs", "trigger until settled, system"
#: Instructions in user mode: of udev's programs, and of all programs.
UDEV_EARLY, UDEV = "udev's programs, initramfs (instructions)", "udev's programs, system (instructions)"
PROGRAMS_EARLY, PROGRAMS = "all programs, initramfs (instructions)", "all programs, system (instructions)"
KERNEL, INITRAMFS, SYSTEM, WHOLE = "in kernel", "in initramfs", "booting system", "from power on"


@dataclass(frozen=True)
class StageShare:
    """A row below another one: which part of it another stage is."""

    title: str
    part: str
    whole: str


#: As in the old table, but for udev's share: where udev works while it is asked and its waiter starts late, what the
#: waiter waits is not a measure of udev; what its programs execute means the same in every arm.
ROWS: tuple[str | StageShare, ...] = (
    START_EARLY, START, TRIGGER_EARLY, TRIGGER, PROCESSING_EARLY, PROCESSING, KERNEL,
    INITRAMFS, StageShare("(of which udev)", UDEV_EARLY, PROGRAMS_EARLY),
    SYSTEM, StageShare("(of which udev)", UDEV, PROGRAMS),
)  # fmt: skip
#: What the old table does not distinguish.
MORE_ROWS: tuple[str | StageShare, ...] = (
    COLDPLUG_EARLY, StageShare("(of the initramfs)", COLDPLUG_EARLY, INITRAMFS),
    COLDPLUG, StageShare("(of the system)", COLDPLUG, SYSTEM),
    NOT_YET, StageShare("(of the system)", NOT_YET, SYSTEM),
    WHOLE,
)  # fmt: skip


def stages(boot: Boot) -> dict[str, int | MissingValue]:
    """What each stage took, in virtual nanoseconds, or why that is not known.

    In the initramfs instants are noted by a program that each of them runs; in the system they are those of systemd's
    own units, in its microseconds.
    """
    left = left_by(boot)
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())

    def marked(first: str, last: str) -> int:
        for name in (first, last):
            if name not in marks:
                raise NotLeftError(f"the boot did not come to `{name}`")
        return int(marks[last]) - int(marks[first])

    def unit(first: tuple[str, str], last: tuple[str, str]) -> int:
        return left.unit(*last) - left.unit(*first)

    ways: dict[str, Callable[[], int]] = {
        START_EARLY: lambda: left.between("udev-start", "udev-started"),
        START: lambda: unit((UDEVD_UNIT, EXECUTED), (UDEVD_UNIT, ACTIVE)),
        TRIGGER_EARLY: lambda: left.between("trigger", "triggered"),
        TRIGGER: lambda: unit((TRIGGER_UNIT, BEGAN), (TRIGGER_UNIT, ACTIVE)),
        PROCESSING_EARLY: lambda: left.between("triggered", "settled"),
        NOT_YET: lambda: unit((TRIGGER_UNIT, ACTIVE), (SETTLE_UNIT, BEGAN)),
        PROCESSING: lambda: unit((SETTLE_UNIT, BEGAN), (SETTLE_UNIT, ACTIVE)),
        COLDPLUG_EARLY: lambda: left.between("udev-start", "settled"),
        COLDPLUG: lambda: unit((TRIGGER_UNIT, BEGAN), (SETTLE_UNIT, ACTIVE)),
        KERNEL: lambda: marked(Mark.KERNEL_START, Mark.USER_START),
        INITRAMFS: lambda: marked(Mark.USER_START, Mark.SWITCH_ROOT),
        SYSTEM: lambda: marked(Mark.SWITCH_ROOT, Mark.READY),
        WHOLE: lambda: marked(Mark.POWER_ON, Mark.READY),
    }
    return {name: _known(way) for name, way in ways.items()}


def _known(way: Callable[[], int]) -> int | MissingValue:
    try:
        return way()
    except FirstlightError as error:
        return MissingValue(error.message)


def stage_table(
    key: str,
    title: str,
    arms: Sequence[Mapping[str, int | MissingValue] | MissingValue],
    rows: Sequence[str | StageShare],
    below: Sequence[str],
) -> Table:
    """Three arms in the layout of the old table.

    :param arms: A, B and C: their stages.
    """
    fields = (
        Field("Stage"), Field("A", "time"), Field("B", "time"), Field("A→B"), Field("C", "time"), Field("B→C"),
        Field("A→C"),
    )  # fmt: skip
    made = []
    for row in rows:
        a, b, c = (_cell(arm, row) for arm in arms)
        texts = [_change(one, other) for one, other in ((a, b), (b, c), (a, c))]
        if isinstance(row, StageShare):
            a, b, c = (f"{each}%" if isinstance(each, int) else each for each in (a, b, c))
            texts = [None, None, None]
        made.append((row.title if isinstance(row, StageShare) else row, a, b, texts[0], c, texts[1], texts[2]))
    return Table(key, title, fields, tuple(made), tuple(below))


def _cell(arm: Mapping[str, int | MissingValue] | MissingValue, row: str | StageShare) -> Value:
    if isinstance(arm, MissingValue):
        return arm
    if isinstance(row, str):
        return arm[row]
    part, whole = arm[row.part], arm[row.whole]
    for each in (part, whole):
        if isinstance(each, MissingValue):
            return each
    return percent_of(_fraction(part), _fraction(whole))


def _change(old: Value, new: Value) -> Value:
    """The change in seconds, and the new figure in whole percent of the old one, cut off.

    >>> _change(600_000_000, 590_000_000), _change(0, 1_000_000)
    ('-0.010 s (98%)', '+0.001 s')
    """
    if not isinstance(old, int) or not isinstance(new, int):
        return None
    percent = percent_of(Fraction(new), Fraction(old))
    text = f"{(new - old) / 1e9:+.3f} s"
    return text if percent is None else f"{text} ({percent}%)"


def _fraction(value: Value) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(0)
