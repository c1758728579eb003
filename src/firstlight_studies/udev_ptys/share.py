"""udev's share of each part of a boot."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study import Chart, Field, MissingValue, Series, Table, Value
from firstlight_studies.udev_ptys import stages
from firstlight_studies.udev_ptys.counts import IN_KERNEL, INITRAMFS, KERNEL, SYSTEM, Counted

#: Processes of udev, as the kernel names them.
UDEV = ("systemd-udevd", "(udev-worker)", "udevadm", "(md-udevd)", "(udevadm)")
#: The first process.
FIRST = ("systemd", "init")


def programs_of(counted: Counted) -> dict[str, int]:
    """What udev's programs and all programs execute in user mode, by the names that :mod:`stages` has for it.

    >>> programs_of(Counted({}, {"system": {"udevadm": 3, "systemd": 5, "the kernel": 9}}))[stages.PROGRAMS]
    8
    """
    found: dict[str, int] = {}
    for part, udev, programs in (
        (INITRAMFS, stages.UDEV_EARLY, stages.PROGRAMS_EARLY),
        (SYSTEM, stages.UDEV, stages.PROGRAMS),
    ):
        of_udev, first, others, _ = _parts(counted.instructions.get(part, {}))
        found |= {udev: of_udev, programs: of_udev + first + others}
    return found


def share_table(arms: Mapping[str, Counted | MissingValue]) -> Table:
    """Instructions of each part of a boot by who executes them."""
    fields = (
        Field("Arm"), Field("Part"), Field("Instructions", "count"), Field("udev's programs, user mode", "share"),
        Field("First process, user mode", "share"), Field("Other programs, user mode", "share"),
        Field("Kernel, for whomever", "share"), Field("udev's, of all user mode", "share"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for arm, counted in arms.items():
        if isinstance(counted, MissingValue):
            rows.append((arm, None, counted, *([None] * 5)))
            continue
        for part in (KERNEL, INITRAMFS, SYSTEM):
            rows.append((arm, part, *_shares(counted.instructions.get(part, {}))))
    below = (
        "Programs in user mode, by the names of their processes. The profile does not show for which program the "
        "kernel works: "
        "system calls of all programs are one branch of its tree. A process that is about to become udevd counts as "
        "udev.",
    )
    return Table("shares", "udev's share of each part of a boot, in instructions", fields, tuple(rows), below)


def share_chart(arms: Mapping[str, Counted | MissingValue]) -> Chart | None:
    """The same as stacked bars."""
    kinds = ("udev's programs, user mode", "first process, user mode", "other programs, user mode", "kernel")
    points: dict[str, list[tuple[str, float]]] = {kind: [] for kind in kinds}
    for arm, counted in arms.items():
        if isinstance(counted, MissingValue):
            continue
        for part in (KERNEL, INITRAMFS, SYSTEM):
            parts = _parts(counted.instructions.get(part, {}))
            for kind, figure in zip(kinds, parts, strict=True):
                points[kind].append((f"{arm}, {part}", float(figure)))
    if not points[kinds[0]]:
        return None
    series = tuple(Series(kind, tuple(of)) for kind, of in points.items())
    return Chart(
        "shares", "Instructions by who executes them", "stacked", "arm and part", "instructions", "count", series
    )


def _parts(of: Mapping[str, int]) -> tuple[int, int, int, int]:
    udev, first = (sum(of.get(name, 0) for name in names) for names in (UDEV, FIRST))
    kernel = of.get(IN_KERNEL, 0)
    return udev, first, sum(of.values()) - udev - first - kernel, kernel


def _shares(of: Mapping[str, int]) -> tuple[Value, ...]:
    total, parts = sum(of.values()), _parts(of)
    user = sum(parts[:3])
    return (total, *(part / total if total else None for part in parts), parts[0] / user if user else None)
