"""udev's share of each part of a boot."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.study.table import Chart, Field, Hole, Series, Table, Value
from firstlight.study.udev_ptys.counts import IN_KERNEL, INITRAMFS, KERNEL, SYSTEM, Counted

#: Processes of udev, as the kernel names them.
UDEV = ("systemd-udevd", "(udev-worker)", "udevadm", "(md-udevd)", "(udevadm)")
#: The first process.
FIRST = ("systemd", "init")


def share_table(arms: Mapping[str, Counted | Hole]) -> Table:
    """Instructions of each part of a boot by who executes them."""
    fields = (
        Field("Arm"), Field("Part"), Field("Instructions", "count"), Field("udev's programs", "share"),
        Field("First process", "share"), Field("Other programs", "share"), Field("Kernel", "share"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for arm, counted in arms.items():
        if isinstance(counted, Hole):
            rows.append((arm, None, counted, None, None, None, None))
            continue
        for part in (KERNEL, INITRAMFS, SYSTEM):
            rows.append((arm, part, *_shares(counted.instructions.get(part, {}))))
    below = (
        "Programs in user mode, by the names of their processes; what the kernel does for them in system calls is the "
        "kernel's. A process that is about to become udevd counts as udev.",
    )
    return Table("shares", "udev's share of each part of a boot, in instructions", fields, tuple(rows), below)


def share_chart(arms: Mapping[str, Counted | Hole]) -> Chart | None:
    """The same as stacked bars."""
    kinds = ("udev's programs", "first process", "other programs", "kernel")
    points: dict[str, list[tuple[str, float]]] = {kind: [] for kind in kinds}
    for arm, counted in arms.items():
        if isinstance(counted, Hole):
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
    total = sum(of.values())
    return (total, *(part / total if total else None for part in _parts(of)))
