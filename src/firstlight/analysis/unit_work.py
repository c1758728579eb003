"""systemd from inside: what its units, its generators and the manager itself made the processor do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import polars as pl

from firstlight.analysis.path.critical import find_path
from firstlight.analysis.processes.processes import processes, service_of
from firstlight.analysis.processes.work import work
from firstlight.analysis.units import stages, units
from firstlight.analysis.window import window
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.schema.marks import Stage

_MANAGER_GROUP = "/init.scope"
_FIRST_PID = 1
_RUNS_SYSTEMD = r"(^|/)systemd$"
_IS_GENERATOR = r"/(?:system|user)(?:-environment)?-generators/[^/]+$"


class Doer(StrEnum):
    """Who had the processor."""

    UNITS = "units"
    MANAGER = "manager"
    """The service manager itself, and its children that belong to no unit."""
    GENERATORS = "generators"
    PROGRAMS = "other programs"
    """Programs of no unit: those of an initramfs."""
    KERNEL = "kernel"
    """Threads of the kernel, and the kernel before the first program: also its start, in what becomes the idle task."""
    IDLE = "idle"


_UNIT_WORK = columns(
    "processes:int instructions:int before_exec_instructions:int own_ns:int manager_ns:int others_ns:int idle_ns:int "
    "path_ns:int"
)
_PARTS = columns(
    "stage part start_ns:int end_ns:int duration_ns:int manager_ns:int generators_ns:int units_ns:int programs_ns:int "
    "kernel_ns:int idle_ns:int"
)
_GENERATORS = columns("process:int pid:int image start_ns:int end_ns:int cpu_ns:int wait_ns:int instructions:int")
_SUMS = columns("doer processes:int instructions:int")


@dataclass(frozen=True)
class Manager:
    """What the service manager itself did."""

    parts: pl.DataFrame
    """Its time from its exec to the end of the boot, in parts that follow each other: `stage` (initrd, userspace),
    `part`, `start_ns`, `end_ns`, `duration_ns`, and who had the processor meanwhile, which adds up to the duration:
    `manager_ns`, `generators_ns`, `units_ns`, `programs_ns`, `kernel_ns`, `idle_ns`.

    The first part of a stage, `start`, is before the manager's own clock starts: `systemd-analyze` counts it for the
    stage before, the kernel or the initrd. `set-up` is what no stage of the manager names; `jobs` is from the moment
    that it has loaded the units."""
    generators: pl.DataFrame
    """Each generator: `process`, `pid`, `image`, `start_ns`, `end_ns`, `cpu_ns`, `wait_ns`, `instructions`."""
    sums: pl.DataFrame
    """Who executed the instructions of the boot: `doer` (of :class:`Doer`), `processes`, `instructions`. The sum is
    that of all processes."""


class _Timeline:
    """How long somebody had the processor before an instant."""

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._before = [0]
        for start, end in intervals:
            self._starts.append(start)
            self._ends.append(end)
            self._before.append(self._before[-1] + end - start)

    def until(self, time: int) -> int:
        place = bisect_right(self._starts, time)
        if place == 0:
            return 0
        return self._before[place] - max(0, self._ends[place - 1] - time)

    def between(self, start: int, end: int) -> int:
        return self.until(end) - self.until(start)


def _done(boot: Boot) -> pl.DataFrame:
    """The stretches of :func:`work` with their `doer`, and the `unit` of those that belong to one.

    A process belongs to the unit that it was in last, also before it was moved there.
    """
    done = work(boot)
    if done.is_empty():
        return done.with_columns(doer=pl.lit(None, pl.String), unit=pl.lit(None, pl.String))
    table = boot.table("processes").select("process", "pid", "parent", "cgroup", unit=service_of("cgroup"))
    generators = _with_parents(_generators(boot), dict(table.select("process", "parent").iter_rows()), table)
    idle = boot.table("threads").filter(pl.col("kind") == "idle")["thread"]
    first = pl.col("pid") == _FIRST_PID
    runs_systemd = pl.col("image").str.contains(_RUNS_SYSTEMD).fill_null(False)
    in_unit = pl.col("unit").is_not_null() & (pl.col("cgroup") != _MANAGER_GROUP) & ~first
    doer = (
        pl.when(pl.col("thread").is_in(idle.implode()) & (pl.col("start_ns") >= _idle_from(boot, idle)))
        .then(pl.lit(Doer.IDLE))
        .when(pl.col("image").is_null())
        .then(pl.lit(Doer.KERNEL))
        .when(pl.col("process").is_in(list(generators)))
        .then(pl.lit(Doer.GENERATORS))
        .when(in_unit)
        .then(pl.lit(Doer.UNITS))
        .when((first & runs_systemd) | (pl.col("cgroup") == _MANAGER_GROUP) & ~first)
        .then(pl.lit(Doer.MANAGER))
        .otherwise(pl.lit(Doer.PROGRAMS))
    )
    done = done.join(table, on="process", how="left", maintain_order="left").with_columns(doer=doer)
    return done.with_columns(unit=pl.when(pl.col("doer") == Doer.UNITS).then("unit"))


def _idle_from(boot: Boot, idle: pl.Series) -> int:
    """When the idle task begins to be one: until another thread runs for the first time, or it idles, it starts the
    kernel.
    """
    runs = boot.table("runs")
    starts = pl.col("thread").is_in(idle.implode()) & pl.col("idle_ns").eq(0).fill_null(False)
    others = runs.filter(~starts).sort("start_ns")["start_ns"].head(1).to_list()
    return int(others[0] if others else runs["end_ns"].sort()[-1])


def _generators(boot: Boot) -> set[int]:
    return set(boot.table("images").filter(pl.col("image").str.contains(_IS_GENERATOR))["process"])


def _with_parents(generators: set[int], parents: dict[int, int | None], table: pl.DataFrame) -> set[int]:
    """Generators with the children of the manager that started them."""
    managers = set(table.filter(pl.col("pid") <= _FIRST_PID)["process"])
    found = set(generators)
    for process in generators:
        parent = parents.get(process)
        while parent is not None and parent not in managers and parent not in found:
            found.add(parent)
            parent = parents.get(parent)
    return found


def unit_work(boot: Boot) -> pl.DataFrame:
    """One row for every start of a unit, as :func:`~firstlight.analysis.units.units` has it, with what it made the
    processor do.

    Further columns, null where the boot has no processes:

    - `processes`: that began in the unit after this start and before its next one, and their `instructions`, of which
      `before_exec_instructions` were executed by the manager's child before it ran the unit's program.
    - `own_ns`, `manager_ns`, `others_ns`, `idle_ns`: of the activation, how long the unit's own processes had the
      processor, the manager and its generators, all others, and nothing. They sum up to `duration_ns`.
    - `path_ns`: how long the unit's processes are on the critical path.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> unit_work(firstlight.open(bundle)).columns[-1]
    'path_ns'
    """
    rows = units(boot)
    done = _done(boot) if rows.height else pl.DataFrame()
    if done.is_empty():
        return rows.with_columns(pl.lit(None, type_).alias(name) for name, type_ in _UNIT_WORK.items())
    by_unit = {
        unit: _Timeline(part.select("start_ns", "end_ns").iter_rows())
        for (unit,), part in done.filter(pl.col("unit").is_not_null()).group_by("unit", maintain_order=True)
    }
    by_doer = _by_doer(done)
    began = _began(boot, done)
    on_path = _on_path(boot)
    nothing = _Timeline(())
    belonging = _belonging(rows)
    found = []
    for row in rows.iter_rows(named=True):
        unit, start, end = row["unit"], row["start_ns"], row["end_ns"]
        low, high = belonging[row["span"]]
        mine = [each for each in began.get(unit, []) if low <= each[0] < high]
        parts: dict[str, int | None] = dict.fromkeys(("own_ns", "manager_ns", "others_ns", "idle_ns"))
        if start is not None and end is not None and end >= start:
            own = by_unit.get(unit, nothing).between(start, end)
            manager = sum(by_doer[doer].between(start, end) for doer in (Doer.MANAGER, Doer.GENERATORS))
            idle = by_doer[Doer.IDLE].between(start, end)
            parts = {"own_ns": own, "manager_ns": manager, "idle_ns": idle,
                     "others_ns": row["duration_ns"] - own - manager - idle}  # fmt: skip
        found.append({
            "processes": len(mine), "instructions": sum(each[1] for each in mine),
            "before_exec_instructions": sum(each[2] for each in mine), **parts, "path_ns": on_path.get(unit, 0),
        })  # fmt: skip
    return pl.concat([rows, pl.DataFrame(found, schema=_UNIT_WORK)], how="horizontal")


def _belonging(rows: pl.DataFrame) -> dict[int, tuple[float, float]]:
    """Between which instants a process belongs to one of several starts of a unit, by the start's span.

    A unit's first process may be created just before the manager notes the start.
    """
    found: dict[int, tuple[float, float]] = {}
    for _, starts in rows.sort("start_ns", nulls_last=False).group_by("unit", maintain_order=True):
        times: list[float] = [float("-inf"), *starts["start_ns"].fill_null(-1).to_list()[1:], float("inf")]
        found.update(zip(starts["span"], pairwise(times), strict=True))
    return found


def _by_doer(done: pl.DataFrame) -> dict[Doer, _Timeline]:
    return {
        doer: _Timeline(done.filter(pl.col("doer") == doer).select("start_ns", "end_ns").iter_rows()) for doer in Doer
    }


def _began(boot: Boot, done: pl.DataFrame) -> dict[str, list[tuple[int, int, int]]]:
    """Of each unit its processes: begin, instructions, and those before the first exec."""
    execs = boot.table("images").select("process", "start_ns").sort("start_ns")
    # What a process is when it is created is an image, too: the second one is the first exec.
    second = execs.group_by("process", maintain_order=True).agg(exec_ns=pl.col("start_ns").get(1, null_on_oob=True))
    own = done.filter(pl.col("unit").is_not_null()).join(second, on="process", how="left")
    early = pl.col("start_ns") < pl.col("exec_ns")
    sums = own.group_by("unit", "process", maintain_order=True).agg(
        pl.col("instructions").sum(), before=pl.col("instructions").filter(early).sum()
    )
    starts = boot.table("processes").select("process", "start_ns", "parent")
    sums = sums.join(starts, on="process", how="left", maintain_order="left")
    managers = boot.table("processes").filter(pl.col("pid") == _FIRST_PID)["process"].to_list()
    found: dict[str, list[tuple[int, int, int]]] = {}
    names = ("unit", "start_ns", "instructions", "before", "parent")
    for unit, start, instructions, before, parent in sums.select(names).iter_rows():
        found.setdefault(unit, []).append((start, instructions, before if parent in managers else 0))
    return found


def _on_path(boot: Boot) -> dict[str, int]:
    rows = find_path(boot).rows.filter(pl.col("service").is_not_null())
    return dict(rows.group_by("service").agg(pl.col("duration_ns").sum()).iter_rows())


def manager(boot: Boot) -> Manager | None:
    """What the service manager itself did; nothing in a boot without processes or without systemd.

    :raises BundleError: when a table is missing or damaged.

    >>> import firstlight
    >>> manager(firstlight.open(bundle)) is None
    True
    """
    done = _done(boot)
    images = boot.table("images").sort("start_ns")
    pids = boot.table("processes").select("process", "pid")
    mine = images.join(pids, on="process", how="left").filter(pl.col("pid") == _FIRST_PID)
    mine = mine.filter(pl.col("image").str.contains(_RUNS_SYSTEMD)).unique("process", keep="first", maintain_order=True)
    execs = mine["start_ns"].to_list()
    if done.is_empty() or not execs:
        return None
    found = processes(boot).filter(pl.col("process").is_in(list(_generators(boot))))
    sums = done.group_by("doer").agg(
        processes=pl.col("process").n_unique().cast(pl.Int64), instructions=pl.col("instructions").sum()
    )
    return Manager(
        pl.DataFrame(_parts(boot, done, execs), schema=_PARTS, orient="row"),
        found.select(*_GENERATORS),
        sums.sort("instructions", "doer", descending=[True, False]).select(*_SUMS),
    )


def _parts(boot: Boot, done: pl.DataFrame, execs: list[int]) -> list[tuple[object, ...]]:
    by_doer = _by_doer(done)
    doers = (Doer.MANAGER, Doer.GENERATORS, Doer.UNITS, Doer.PROGRAMS, Doer.KERNEL, Doer.IDLE)
    named = stages(boot).drop_nulls("start_ns").sort("start_ns")
    begins = named.filter(pl.col("stage").is_in([Stage.INITRD, Stage.USERSPACE, Stage.SOFT_REBOOT]))
    end = window(boot).last_ns
    rows: list[tuple[object, ...]] = []

    def add(stage: str | None, part: str, start: int, stop: int) -> None:
        if stop > start:
            who = [by_doer[doer].between(start, stop) for doer in doers]
            rows.append((stage, part, start, stop, stop - start, *who))

    for begin, until in pairwise([*execs, end]):
        own = begins.filter(pl.col("start_ns").is_between(begin, until - 1)).head(1)
        if own.is_empty():
            add(None, "start", begin, until)
            continue
        stage, at = own["stage"].item(), own["start_ns"].item()
        add(stage, "start", begin, at)
        inner = named.filter((pl.col("part_of") == stage) & pl.col("end_ns").is_not_null())
        for part, start, stop in inner.select("stage", "start_ns", "end_ns").iter_rows():
            if at <= start <= stop <= until:
                add(stage, "set-up", at, start)
                add(stage, part, start, stop)
                at = stop
        add(stage, "jobs", at, until)
    return rows
