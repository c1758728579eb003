"""The boots of a walk, and what runs in each."""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from firstlight import RecordOptions
from firstlight.study import DEFAULT, Architecture, MachineFeature, MissingValue, StudyArm
from firstlight_studies.tree_walk import guest, trap_script, unit_script
from firstlight_studies.tree_walk.guest import Run
from firstlight_studies.tree_walk.workload import NOTHING, WALK, WALK_AGAIN, Command, Shape, Workload

Manner = Literal["without", "with"]
MANNERS: tuple[Manner, Manner] = ("without", "with")

STOCK = "tmpfs, stock kernel"
"""The alternation with the distribution's own kernel, which comes first; it needs no module for tmpfs."""
BASE, AUDIT, UNIT = "count-nothing", "audit", "automount-unit"
#: Boots that only count need no time of their own: the calibration of this timer takes a third of such a boot.
_UNTIMED = "nolapic_timer"
DISK_DRIVER = "brd"
"""Of disks in memory."""
TRAP_DRIVERS = ("autofs4", "overlay")
"""Of what the audit looks at."""
#: The process's name of the one run that is counted.
COUNTED = "counted"
#: A disk in memory takes only what was written to it. XFS wants 300 MB at least.
_DISK_KIB = 384 * 1024
_KIB_BY_DIRECTORY = 8
_MEMORY_MIB = 768
#: For the law, of trees so small that a single interrupt matters; larger ones are walked once in each manner.
_ALTERNATIONS, _FEW = 3, 5000


@dataclass(frozen=True)
class Alternated:
    """One run of an alternation."""

    command: Command
    manner: Manner
    number: int
    name: str
    """The process's, in its boot."""


@dataclass(frozen=True)
class Sized:
    """One run for the law."""

    shape: Shape
    manner: Manner
    name: str


@dataclass
class WalkPlan:
    """Arms, and how their runs are found again."""

    arms: list[StudyArm] = field(default_factory=list)
    alternations: dict[str, list[Alternated]] = field(default_factory=dict)
    """By file system."""
    laws: dict[str, list[Sized]] = field(default_factory=dict)
    missing: dict[str, MissingValue] = field(default_factory=dict)
    """Programs that are not run, because the guest has not got them."""
    counts: dict[tuple[str, Command], str] = field(default_factory=dict)
    """Arms that run one command once, by file system and command."""


@dataclass(frozen=True)
class Ground:
    """What the arms are made of."""

    kernel: Path | MissingValue | None
    """None is the distribution's own."""
    overlay: Path | MissingValue
    debian: Path | MissingValue
    missing: dict[str, MissingValue] = field(default_factory=dict)
    """Programs that the guest has not."""
    stock: bool = False
    """The distribution's own kernel is booted beside it."""
    architecture: Architecture = DEFAULT
    """Of the guests."""
    loads: frozenset[str] = frozenset()
    """Drivers that are modules in the overlay."""
    lacking: dict[str, MissingValue] = field(default_factory=dict)
    """Drivers that the kernel has not."""

    @property
    def untimed(self) -> str:
        """Words of a boot whose times do not matter."""
        return _UNTIMED if MachineFeature.LOCAL_APIC in self.architecture.features else ""


def plan_of(work: Workload, ground: Ground) -> WalkPlan:
    """Every boot that a workload asks for."""
    plan = WalkPlan(missing=ground.missing)
    order = _alternation(work)
    if ground.stock and "tmpfs" in work.file_systems:
        plan.alternations[STOCK] = order
        stock = replace(ground, kernel=None, loads=frozenset())
        _add(plan, stock, work.shape, arm_of(STOCK), "tmpfs", _runs(order, ground))
    for kind in work.file_systems:
        plan.alternations[kind] = order
        _add(plan, ground, work.shape, arm_of(kind), kind, _runs(order, ground))
    for kind in work.law_on:
        plan.laws[kind] = _sized(work.sizes)
        steps = [step for shape in work.sizes for step in _law_steps(shape, plan.laws[kind])]
        largest = max(work.sizes, key=lambda shape: shape.directories)
        _arm(plan, ground, f"law-{kind}", kind, largest, [*guest.file_system(kind, largest.directories), *steps])
    for kind in work.counts_on:
        _add(plan, ground, work.shape, _count_name(kind, BASE), kind, [Run(COUNTED, NOTHING)], ground.untimed)
        for place, command in enumerate((WALK, WALK_AGAIN, *work.commands)):
            name = _count_name(kind, f"count-{place:02}-{_plain(command)}")
            plan.counts[kind, command] = name
            _add(plan, ground, work.shape, name, kind, [Run(COUNTED, command)], ground.untimed)
    if work.audit:
        steps = [
            *trap_script.mount_everything(work.file_systems),
            *trap_script.audit(),
            *trap_script.wakes(ground.missing),
        ]
        _arm(plan, ground, AUDIT, "tmpfs", work.shape, steps, needs=("autofs4",), loads=True)
    if work.automount_unit:
        plan.arms.append(unit_script.arm(UNIT, ground.kernel, ground.debian))
    return plan


def arm_of(kind: str) -> str:
    """The arm that alternates on a file system.

    >>> arm_of("xfs"), arm_of(STOCK)
    ('alternation-xfs', 'alternation-tmpfs-stock-kernel')
    """
    return f"alternation-{_dashed(kind)}"


def _dashed(name: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))


def base_of(kind: str) -> str:
    """The arm that makes the tree and runs a program that does nothing."""
    return _count_name(kind, BASE)


def _count_name(kind: str, name: str) -> str:
    return f"{name}-{kind}"


def _plain(command: Command) -> str:
    """The command's name as part of a file's; what the further stat of ours adds to it."""
    more = "-again" if command == WALK_AGAIN else ""
    return "".join(sign if sign.isalnum() else "-" for sign in command.name.lower())[:40] + more


def _alternation(work: Workload) -> list[Alternated]:
    order: list[Alternated] = []
    for place, command in enumerate((WALK, *work.commands)):
        for number in range(1, work.alternations_of(command) + 1):
            for manner in MANNERS:
                order.append(Alternated(command, manner, number, f"{place}.{number}-{manner}"))
    return order


def _runs(order: list[Alternated], ground: Ground) -> list[Run]:
    """The runs of an alternation, each program's after one that is not reported.

    What a program does for the first time costs more than later, or less: what it changes is changed afterwards.
    """
    runs: list[Run] = []
    for command, group in itertools.groupby(order, key=lambda each: each.command):
        # The small guest's own programs may bear the same names: they shall not stand in for those that are missing.
        if command.program not in ground.missing:
            runs.append(_run(command, "without", "warm", kept=False))
            runs += [_run(command, each.manner, each.name) for each in group]
    return runs


def _run(command: Command, manner: Manner, name: str, *, kept: bool = True) -> Run:
    if command == WALK:
        return Run(name, WALK if manner == "without" else WALK_AGAIN, kept=kept)
    return Run(name, command, "0" if manner == "without" else "1", kept=kept)


def _sized(sizes: tuple[Shape, ...]) -> list[Sized]:
    return [
        Sized(shape, manner, f"{shape.directories}.{number}{'+' if manner == 'with' else '-'}")
        for shape in sizes
        for number in range(1, (_ALTERNATIONS if shape.directories <= _FEW else 1) + 1)
        for manner in MANNERS
    ]


def _law_steps(shape: Shape, order: list[Sized]) -> list[str]:
    runs = [_run(WALK, each.manner, each.name) for each in order if each.shape == shape]
    warm = _run(WALK, "without", "warm", kept=False)
    return [*guest.tree(shape), *guest.runs([warm, *runs]), "busybox rm -rf /t/z; sync"]


def _add(plan: WalkPlan, ground: Ground, shape: Shape, name: str, kind: str, runs: list[Run], words: str = "") -> None:
    steps = [*guest.file_system(kind, shape.directories), *guest.tree(shape), *guest.runs(runs)]
    wanted = {run.command.program for run in runs}
    _arm(plan, ground, name, kind, shape, steps, wanted, words)


def _arm(
    plan: WalkPlan, ground: Ground, name: str, kind: str, shape: Shape, steps: list[str],
    programs: set[str] | None = None, words: str = "", *, needs: tuple[str, ...] = (), loads: bool = False,
) -> None:  # fmt: skip
    on_disk = kind != "tmpfs"
    making = ground.missing.get(f"mkfs.{kind}")
    drivers = (*needs, *((kind, DISK_DRIVER) if on_disk else ()))
    driving = next((ground.lacking[each] for each in drivers if each in ground.lacking), None)
    lacking = (programs or set()) & ground.missing.keys()
    # A boot with several programs goes on without one of them; its runs show that.
    alone = ground.missing[min(lacking)] if lacking and lacking == programs else None
    gap = making or driving or alone
    if gap is not None:
        plan.arms.append(StudyArm(name, gap))
    elif isinstance(ground.kernel, MissingValue):
        plan.arms.append(StudyArm(name, ground.kernel))
    elif isinstance(ground.overlay, MissingValue):
        plan.arms.append(StudyArm(name, ground.overlay))
    else:
        before = guest.drivers(_disk_kib(shape)) if ground.loads and (on_disk or loads) else []
        # A disk that is a module does not read its size there, and the distribution's kernel has none built in.
        disk = "" if ground.kernel is None or DISK_DRIVER in ground.loads else f"ramdisk_size={_disk_kib(shape)}"
        words = " ".join(filter(None, (disk, words)))
        plan.arms.append(StudyArm(name, _options(name, ground.kernel, ground.overlay, shape, [*before, *steps], words)))


def _disk_kib(shape: Shape) -> int:
    return _DISK_KIB + shape.directories * _KIB_BY_DIRECTORY


def _options(
    name: str, kernel: Path | None, overlay: Path, shape: Shape, steps: list[str], words: str
) -> RecordOptions:
    more = shape.directories * _KIB_BY_DIRECTORY
    return RecordOptions(
        output=Path(f"{name}.boot"),
        kernel=kernel,
        overlay=overlay,
        guest_commands=(guest.script(steps),),
        append=words,
        memory=f"{_MEMORY_MIB + 2 * more // 1024}M",
        timeout_wall_s=3600.0,
        timeout_virtual_s=3600.0,
    )


def line(command: Command) -> str:
    """A command as the user would type it."""
    return " ".join(map(shlex.quote, command.words)).replace(shlex.quote("{}"), "z")
