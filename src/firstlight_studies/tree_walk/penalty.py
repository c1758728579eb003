"""What the further stat costs: the alternations of a boot, as the classic table has them, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from firstlight.study import Chart, Field, MissingValue, Series, Table, Value
from firstlight_studies.tree_walk.measured import WalkTimings
from firstlight_studies.tree_walk.plan import MANNERS, Alternated, Manner, arm_of
from firstlight_studies.tree_walk.workload import Command

Runs = Mapping[str, WalkTimings | MissingValue]

_FIELDS = (
    Field("Program"), Field("User", "time"), Field("System", "time"), Field("Idle", "time"), Field("Elapsed", "time"),
    Field("CPU", "share"), Field("User by ticks", "time"), Field("System by ticks", "time"),
    Field("Minor faults", "count"), Field("Major faults", "count"),
)  # fmt: skip


@dataclass(frozen=True)
class Penalty:
    """What one more stat for each directory makes of a program on a file system: the shortest of its alternations.

    What falls into a run from elsewhere only adds to it: an interrupt, a kernel's thread, or a slab of the kernel's
    allocator that is full just then, so that every directory's objects come from one and go to another.
    """

    file_system: str
    command: Command
    directories: int
    without_ns: int
    with_ns: int
    user_ns: int
    """Of what it costs, in user mode."""
    system_ns: int
    faults: int
    """Minor faults, with less without."""

    @property
    def cost_ns(self) -> int:
        """What it costs."""
        return self.with_ns - self.without_ns

    @property
    def relative(self) -> float:
        """That over the time without."""
        return self.cost_ns / self.without_ns

    @property
    def each_ns(self) -> float:
        """That for each directory."""
        return self.cost_ns / self.directories


def penalties(
    kind: str, order: Sequence[Alternated], runs: Runs, directories: int, nothing: MissingValue
) -> dict[Command, Penalty | MissingValue]:
    """What the further stat costs each command on a file system.

    :param nothing: why a run that is not among *runs* is not.
    """
    found: dict[Command, Penalty | MissingValue] = {}
    for command in dict.fromkeys(each.command for each in order):
        without, with_ = (_side(order, runs, command, manner, nothing) for manner in MANNERS)
        if isinstance(without, MissingValue):
            found[command] = without
            continue
        if isinstance(with_, MissingValue):
            found[command] = with_
            continue
        before, after = shortest(without), shortest(with_)
        found[command] = Penalty(
            file_system=kind,
            command=command,
            directories=directories,
            without_ns=before.elapsed_ns,
            with_ns=after.elapsed_ns,
            user_ns=after.user_ns - before.user_ns,
            system_ns=after.system_ns - before.system_ns,
            faults=after.minor_faults - before.minor_faults,
        )
    return found


def _side(
    order: Sequence[Alternated], runs: Runs, command: Command, manner: Manner, nothing: MissingValue
) -> list[WalkTimings] | MissingValue:
    side = [runs.get(each.name, nothing) for each in order if each.command == command and each.manner == manner]
    return next(
        (run for run in side if isinstance(run, MissingValue)), [run for run in side if isinstance(run, WalkTimings)]
    )


def shortest(runs: Iterable[WalkTimings]) -> WalkTimings:
    """The run that took the least; of equal ones the first.

    :raises ValueError: when there is none.
    """
    return min(runs, key=lambda run: run.elapsed_ns)


def alternation_table(
    kind: str, order: Sequence[Alternated], runs: Runs, shown: Sequence[Command], nothing: MissingValue
) -> Table:
    """The runs of some commands, one by one."""
    rows: list[tuple[Value, ...]] = []
    runner = set()
    for command in shown:
        for manner in MANNERS:
            for each in (each for each in order if each.command == command and each.manner == manner):
                run = runs.get(each.name, nothing)
                rows.append((f"{command.name}, {manner}, {each.number}", *_figures(run)))
                runner |= {run.runner_ns} if isinstance(run, WalkTimings) else set()
    below = [
        "User, system, elapsed: exact virtual time, from before the fork to after the wait. User is the program in "
        "user mode by the function profile; system is the kernel, with its interrupts and threads in the meantime.",
        "The runs alternated: without, with, without and so on; their numbers give the order.",
        "By ticks: the guest's own getrusage, which the timer samples. CPU is their sum divided by the elapsed time, "
        "as in the shell's `time`.",
    ]
    if runner:
        most = max(runner)
        below.append(f"The rest of the elapsed time, at most {most / 1000:,.1f} µs, is the runner in user mode.")
    title = f"Without and with one more stat per directory, on {kind}"
    return Table(arm_of(kind), title, _FIELDS, tuple(rows), tuple(below))


def _figures(run: WalkTimings | MissingValue) -> tuple[Value, ...]:
    if isinstance(run, MissingValue):
        return (run,) * (len(_FIELDS) - 1)
    return (
        run.user_ns, run.system_ns, run.idle_ns, run.elapsed_ns, run.share, run.ticks_user_ns, run.ticks_system_ns,
        run.minor_faults, run.major_faults,
    )  # fmt: skip


def penalty_table(found: Mapping[str, Mapping[Command, Penalty | MissingValue]], directories: int, shape: str) -> Table:
    """What the further stat costs every command on every file system."""
    fields = (
        Field("Program"), Field("File system"), Field("Without", "time"), Field("With", "time"),
        Field("Penalty", "change"), Field("Penalty, relative", "percent"), Field("Per directory", "time"),
        Field("Of it user", "change"), Field("Of it system", "change"), Field("Minor faults more", "number"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for kind, commands in found.items():
        for command, penalty in commands.items():
            if isinstance(penalty, MissingValue):
                rows.append((command.name, kind, *(penalty,) * (len(fields) - 2)))
                continue
            rows.append(
                (
                    command.name, kind, penalty.without_ns, penalty.with_ns, penalty.cost_ns, penalty.relative,
                    round(penalty.each_ns), penalty.user_ns, penalty.system_ns, penalty.faults,
                )
            )  # fmt: skip
    below = (
        f"Tree {shape}: {directories:,} directories, in the cache; elapsed time, the shortest of the alternations, "
        "each program's after a run that is not counted.",
        "A preloaded library makes the extra stat for programs of the distribution; it is loaded on both sides.",
    )
    return Table("penalty", "The penalty of one more stat per directory", fields, tuple(rows), below)


def penalty_chart(found: Mapping[str, Mapping[Command, Penalty | MissingValue]]) -> Chart | None:
    """The relative penalties side by side; those of one file system have its name."""
    series = tuple(
        Series(kind, points)
        for kind, commands in found.items()
        if (
            points := tuple(
                (command.name, penalty.relative)
                for command, penalty in commands.items()
                if isinstance(penalty, Penalty)
            )
        )
    )
    if not series:
        return None
    title = "What one more stat per directory adds to a walk"
    key = "penalty"
    if len(series) == 1:
        key, title = f"penalty-{arm_of(series[0].name)}", f"{title} on {series[0].name}"
    return Chart(key, title, "bars", "program", "penalty", "percent", series)
