"""What a boot shows of the commands that it ran."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import polars as pl

from firstlight.study import DEFAULT, Boot, MissingValue, architecture_of, kept_text
from firstlight_studies.tree_walk.guest import FAILED, RUNS

_FIELDS = 11


@dataclass(frozen=True)
class WalkTimings:
    """One run, between the two readings of the guest's counter around it: from before the fork to after the wait.

    The times are exact: user, runner, idle and system add up to the elapsed one.
    """

    elapsed_ns: int
    user_ns: int
    """Of the program, in user mode."""
    runner_ns: int
    """Of the runner, in user mode, between the readings."""
    idle_ns: int
    """In which nothing was executed, because everything waited."""
    ticks_user_ns: int
    """What the guest's own accounting has: sampled by the timer's ticks, then scaled."""
    ticks_system_ns: int
    minor_faults: int
    major_faults: int
    status: int
    complaint: str

    @property
    def system_ns(self) -> int:
        """All that is neither: the kernel, interrupts and its threads in the meantime with it."""
        return self.elapsed_ns - self.user_ns - self.runner_ns - self.idle_ns

    @property
    def share(self) -> float:
        """Of the elapsed time, what the guest's own accounting calls busy."""
        return (self.ticks_user_ns + self.ticks_system_ns) / self.elapsed_ns


def runs_of(boot: Boot | MissingValue) -> dict[str, WalkTimings | MissingValue]:
    """The runs of a boot by their names; those that failed are gaps."""
    if isinstance(boot, MissingValue):
        return {}
    users = user_times(boot)
    rows = boot.counters().filter(pl.col("counter") == "idle_ns").select("time_ns", "value").sort("time_ns").rows()
    idle = ([int(time) for time, _ in rows], [int(value) for _, value in rows])
    found: dict[str, WalkTimings | MissingValue] = {}
    for line in _lines(boot, RUNS):
        fields = line.split("\t")
        if len(fields) != _FIELDS:
            continue
        name, complaint = fields[0], fields[10]
        try:
            before, after, user, system, minor, major, _, _, status = map(int, fields[1:10])
        except ValueError:
            continue
        run = WalkTimings(
            elapsed_ns=after - before,
            user_ns=users.get(name, 0),
            runner_ns=users.get(f"+{name}", 0),
            idle_ns=_idle_until(idle, after) - _idle_until(idle, before),
            ticks_user_ns=user * 1000,
            ticks_system_ns=system * 1000,
            minor_faults=minor,
            major_faults=major,
            status=status,
            complaint=complaint,
        )
        found[name] = (
            run if status == 0 else MissingValue(f"it ended with {status}: {complaint or 'without a message'}")
        )
    return found


def _idle_until(idle: tuple[list[int], list[int]], time: int) -> int:
    """The idle time until an instant, of instants and what had been idle until each.

    >>> _idle_until(([10, 20], [3, 8]), 15), _idle_until(([10, 20], [3, 8]), 5)
    (3, 0)
    """
    instants, values = idle
    place = bisect_right(instants, time)
    return values[place - 1] if place else 0


def why_nothing(boot: Boot | MissingValue) -> MissingValue:
    """Why a boot has no figures: it did not come up, or could not prepare what it was to measure."""
    if isinstance(boot, MissingValue):
        return boot
    said = _lines(boot, FAILED)
    return MissingValue(said[0] if said else "the guest left no figures")


def architecture_name(boot: Boot) -> str:
    """The architecture of a boot's guest, as manifests have it."""
    return boot.manifest.recipe_text("architecture") or DEFAULT.name


def user_times(boot: Boot) -> dict[str, int]:
    """Time in user mode by the processes' names, in ns."""
    prefix, end = "[user ", "]"
    rows = boot.calls().filter(pl.col("kind") == "user").group_by("function").agg(pl.col("self_ns").sum())
    return {
        name.removeprefix(prefix).removesuffix(end): time for name, time in rows.iter_rows() if name.startswith(prefix)
    }


def system_calls(boot: Boot) -> dict[str, int]:
    """How often each system call was made in a boot, by its name."""
    prefix = f"{architecture_of(architecture_name(boot)).system_call_prefix}sys_"
    rows = boot.functions().filter(pl.col("function").str.starts_with(prefix))
    return {str(row["function"]).removeprefix(prefix): int(row["count"]) for row in rows.iter_rows(named=True)}


def _lines(boot: Boot, name: str) -> list[str]:
    return kept_text(boot, name).splitlines()


def kept_rows(boot: Boot, name: str) -> list[list[str]]:
    """The lines of a file that the guest left, as fields."""
    return [line.split("\t") for line in _lines(boot, name)]
