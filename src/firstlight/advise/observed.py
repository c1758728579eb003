"""What a boot shows, read once for all entries of the catalogue: parameters, facts, log, processes, configuration."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from firstlight.advise.contexts import Contexts
from firstlight.analysis.initcalls import initcalls
from firstlight.analysis.path.critical import CriticalPath, find_path
from firstlight.analysis.processes.processes import processes
from firstlight.analysis.processes.system_calls import system_calls
from firstlight.analysis.uevents import uevents
from firstlight.analysis.units import failed_units, units
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from firstlight.lab.kernel.kconfig import settings
from firstlight.recipe.isa import architecture_named

_LARGEST_CONFIG = 4 << 20


class LogLine(NamedTuple):
    """A line of the log, with the instant of it and of the next one that has an instant."""

    time_ns: int | None
    text: str


class ObservedRow(NamedTuple):
    """A part of the critical path."""

    kind: str
    name: str
    start_ns: int
    end_ns: int
    process: str | None
    service: str | None
    span: int | None
    thread: int | None

    @property
    def is_wait(self) -> bool:
        """Whether the thread on the path slept."""
        return self.kind in ("waiting", "idle")


class Observed:
    """One boot for the evidence of the catalogue. Each part is read when an entry needs it."""

    def __init__(self, boot: Boot, to: str | None = None, path: CriticalPath | None = None) -> None:
        """:param to: the mark or unit that costs are counted until; by default the end of the critical path.

        :param path: the critical path until there, where the caller has it.
        """
        self.boot = boot
        self._to = to
        self._path = path

    @cached_property
    def path(self) -> CriticalPath | None:
        """The critical path; none where the boot has no times."""
        if self._path is not None:
            return self._path
        try:
            return find_path(self.boot, self._to)
        except BundleError:
            if self._to is not None:
                raise
            return None

    @cached_property
    def rows(self) -> tuple[ObservedRow, ...]:
        """The parts of the path in order of time."""
        if self.path is None:
            return ()
        columns = ("kind", "name", "start_ns", "end_ns", "process", "service", "span", "track")
        found = []
        for kind, name, start, end, process, service, span, track in self.path.rows.select(columns).iter_rows():
            number = re.fullmatch(r"task (\d+)", track or "")
            found.append(
                ObservedRow(kind, name, start, end, process, service, span, int(number[1]) if number else None)
            )
        return tuple(found)

    @property
    def whole_ns(self) -> int:
        """The length of the path: the base of shares."""
        return 0 if self.path is None else self.path.goal_ns - self.path.first_ns

    @property
    def goal_ns(self) -> int | None:
        """The end of the path."""
        return None if self.path is None else self.path.goal_ns

    @cached_property
    def contexts(self) -> Contexts | None:
        """The calling-context tree; none without a profile."""
        if self.boot.calls().is_empty():
            return None
        return Contexts(self.boot, self.goal_ns, self.asleep)

    @cached_property
    def facts(self) -> dict[str, str]:
        """The facts by their names."""
        return self.boot.fact_values()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the kernel's command line."""
        recipe = self.boot.manifest.recipe_text("command_line") or ""
        return tuple((self.facts.get("kernel.command_line") or recipe).split())

    @cached_property
    def log(self) -> tuple[LogLine, ...]:
        """The lines of the log, in their order."""
        return tuple(LogLine(*row) for row in self.boot.log().select("time_ns", "text").iter_rows())

    @cached_property
    def initcalls(self) -> pl.DataFrame:
        """As :func:`~firstlight.analysis.initcalls.initcalls`."""
        return initcalls(self.boot)

    @cached_property
    def units(self) -> pl.DataFrame:
        """As :func:`~firstlight.analysis.units.units`."""
        return units(self.boot)

    @cached_property
    def failed_units(self) -> frozenset[str]:
        """The names of the units that failed."""
        return frozenset(failed_units(self.boot))

    @cached_property
    def processes(self) -> list[dict[str, Any]]:
        """Every process as a record."""
        return list(processes(self.boot).iter_rows(named=True))

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The processes that each process created, by their numbers."""
        found: dict[int, list[int]] = {}
        for each in self.processes:
            if each["parent"] is not None:
                found.setdefault(each["parent"], []).append(each["process"])
        return found

    @cached_property
    def calls(self) -> pl.DataFrame:
        """As :func:`~firstlight.analysis.processes.system_calls.system_calls`."""
        return system_calls(self.boot, None)

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Every device that a fact or a uevent names, once."""
        names = {name.removeprefix("device.") for name in self.facts if name.startswith("device.")}
        events = uevents(self.boot)
        if not events.is_empty():
            pairs = events.select("subsystem", "device").unique().iter_rows()
            names |= {f"{subsystem}/{device}" if subsystem else str(device) for subsystem, device in pairs}
        return tuple(sorted(names))

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """What is known to be installed: packages of the facts, and programs that ran."""
        names = {name.removeprefix("package.") for name in self.facts if name.startswith("package.")}
        names |= {each["image"] for each in self.processes if each["image"]}
        names |= set(self.boot.table("packages")["package"].to_list())
        return tuple(sorted(names))

    @cached_property
    def kconfig(self) -> dict[str, str]:
        """The kernel's configuration: from a record, otherwise from the file next to the recorded kernel."""
        text = self.facts.get("kernel.config") or _beside(self._kernel)
        return settings(text) if text else {}

    @cached_property
    def true_lpj(self) -> int | None:
        """Turns of the delay loop in a jiffy; known for an exact boot, where all instructions take the same time."""
        clock, recipe = self.boot.manifest.clock, self.boot.manifest.recipe
        architecture = architecture_named(getattr(recipe, "architecture", None) or "")
        loop = None if architecture is None else architecture.delay_loop_instructions
        ticks = self.kconfig.get("CONFIG_HZ", "")
        if clock.icount_shift is None or loop is None or not ticks.isdecimal():
            return None
        return 1_000_000_000 // max(1, int(ticks)) // (loop << clock.icount_shift)

    @property
    def _kernel(self) -> Path | None:
        named = getattr(getattr(self.boot.manifest.recipe, "files", None), "kernel", None)
        return None if named is None else Path(str(named))

    @cached_property
    def thread_runs(self) -> dict[int, list[tuple[int, int]]]:
        """The intervals in which each thread had the processor, without idle."""
        found: dict[int, list[tuple[int, int]]] = {}
        runs = self.boot.runs().filter(pl.col("idle_ns") == 0)
        for thread, start, end in runs.select("thread", "start_ns", "end_ns").iter_rows():
            found.setdefault(thread, []).append((start, end))
        return found

    @cached_property
    def thread_process(self) -> dict[int, int]:
        """The process that each thread belongs to."""
        frame = self.boot.threads()
        if "process" not in frame.columns:
            return {}
        return dict(frame.select("thread", "process").drop_nulls().iter_rows())

    @cached_property
    def asleep(self) -> tuple[tuple[int, int], ...]:
        """Sleeps of the path until a timer or device while other threads execute: their work then costs nothing.

        Without wake-ups nobody knows what the path sleeps for, and all that executes holds the boot.
        """
        if self.path is None or self.path.threads is None:
            return ()
        return tuple((row.start_ns, row.end_ns) for row in self.rows if row.kind == "waiting")

    @cached_property
    def free(self) -> tuple[tuple[int, int], ...]:
        """Where the path sleeps, or nothing executes."""
        return tuple((row.start_ns, row.end_ns) for row in self.rows if row.is_wait)

    @cached_property
    def _times(self) -> list[int]:
        return sorted(line.time_ns for line in self.log if line.time_ns is not None)

    def next_line(self, time_ns: int) -> int | None:
        """The instant of the first line after an instant."""
        place = bisect_right(self._times, time_ns)
        return self._times[place] if place < len(self._times) else None


def _beside(kernel: Path | None) -> str | None:
    """The configuration next to a kernel, where distributions and builds leave it."""
    if kernel is None:
        return None
    names: Sequence[str] = (kernel.name.replace("vmlinuz", "config", 1), "config", ".config")
    for name in names:
        path = kernel.with_name(name)
        try:
            if path != kernel and path.is_file() and path.stat().st_size <= _LARGEST_CONFIG:
                return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return None
