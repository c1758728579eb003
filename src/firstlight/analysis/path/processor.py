"""Who had the processor on a path: what no step explains is charged to what ran, and only idle time is waiting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import columns
from firstlight.quantities import joined

#: What executed before the kernel had tasks.
BEFORE_TASKS = "[before the kernel]"
#: A thread whose name could not be read.
NAMELESS = "[thread without name]"

#: Columns of :func:`who_ran`.
WHO_RAN = columns("name kind threads:int run_ns:int unexplained_ns:int")


@dataclass(frozen=True)
class Stretch:
    """One thread under one name has the processor."""

    start: int
    end: int
    thread: int | None
    name: str
    kind: str


class Processor:
    """The runs of a boot, under the names that the threads had then, and when nothing ran."""

    def __init__(self, boot: Boot, *, charged: bool = True) -> None:
        """:param charged: without, it says nothing, as of a boot without runs."""
        self.stretches = list(_stretches(boot)) if charged else []
        self._starts = [stretch.start for stretch in self.stretches]
        self.idle = _idle(boot) if self.stretches else []
        self._idle_ends = [end for _, end in self.idle]

    def charge(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The parts of a path divided so that what idled is waiting, and what nothing explains is who ran.

        Parts of a boot without runs stay as they are.
        """
        if not self.stretches:
            return rows
        charged: list[dict[str, Any]] = []
        for row in rows:
            if row["end_ns"] <= row["start_ns"]:
                charged.append(row)
                continue
            first = True
            for start, end, idles in self.by_idleness(row["start_ns"], row["end_ns"]):
                piece = {**row, "start_ns": start, "end_ns": end}
                if not first:
                    # The step goes on; it waited for nothing but its turn.
                    piece["edge"] = "serial"
                first = first and idles
                if idles:
                    known = row["name"] if row["kind"] == "waiting" and row["name"] == UNKNOWN else None
                    during = None if known else f"{row['kind']} {row['name']}"
                    charged.append({**piece, "kind": "waiting", "name": UNKNOWN, "track": "", "edge": None,
                                    "grade": None, "span": None, "during": during})  # fmt: skip
                elif row["kind"] == "waiting":
                    charged.extend(self._running(piece))
                else:
                    piece["ran"] = ran_text(self.who(start, end))
                    charged.append(piece)
        return charged

    def who(self, start: int, end: int) -> dict[tuple[str, str], int]:
        """How long each name of a kind executed between two instants, the longest first; idle time is nobody's."""
        took: dict[tuple[str, str], int] = {}
        for part in self.between(start, end):
            idle = sum(high - low for low, high, idles in self.by_idleness(part.start, part.end) if idles)
            key = (part.name, part.kind)
            took[key] = took.get(key, 0) + part.end - part.start - idle
        return dict(sorted(((key, ns) for key, ns in took.items() if ns > 0), key=lambda entry: -entry[1]))

    def text(self, start: int, end: int) -> str | None:
        """Who executed between two instants, as one text; null where it is not recorded."""
        return ran_text(self.who(start, end)) if self.stretches else None

    def between(self, start: int, end: int) -> Iterator[Stretch]:
        """The stretches between two instants, cut to them; what lies before the kernel is a stretch of its own."""
        place = max(0, bisect_right(self._starts, start) - 1)
        at = start
        while at < end:
            stretch = self.stretches[place] if place < len(self.stretches) else None
            if stretch is None or stretch.start > at:
                until = end if stretch is None else min(end, stretch.start)
                yield Stretch(at, until, None, BEFORE_TASKS, "firmware")
                at = until
            else:
                until = min(end, stretch.end)
                if until > at:
                    yield Stretch(at, until, stretch.thread, stretch.name, stretch.kind)
                    at = until
                place += 1

    def _running(self, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A part that nothing explains as what ran in it: a row for every stretch under one name."""
        gathered: list[Stretch] = []
        for part in self.between(row["start_ns"], row["end_ns"]):
            last = gathered[-1] if gathered else None
            if last is not None and (last.name, last.kind) == (part.name, part.kind):
                thread = last.thread if last.thread == part.thread else None
                gathered[-1] = Stretch(last.start, part.end, thread, part.name, part.kind)
            else:
                gathered.append(part)
        during = None if row["name"] == UNKNOWN else row["name"]
        for part in gathered:
            track = "" if part.thread is None else f"task {part.thread}"
            yield {**row, "kind": "running", "name": part.name, "track": track, "start_ns": part.start,
                   "end_ns": part.end, "edge": None, "during": during, "ran": part.name}  # fmt: skip

    def by_idleness(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """The time between two instants in parts, each with whether the processor idled in it."""
        at = start
        for low, high in self.idle[bisect_right(self._idle_ends, start) :]:
            if low >= end:
                break
            if low > at:
                yield at, low, False
                at = low
            if min(high, end) > at:
                yield at, min(high, end), True
                at = min(high, end)
        if at < end:
            yield at, end, False


def who_ran(processor: Processor, rows: pl.DataFrame) -> pl.DataFrame:
    """Who executed on a path, by name and kind, the longest first.

    Columns: `name`, `kind` (`user`, `kernel`, `firmware`), `threads` (how many of that name), `run_ns`, and
    `unexplained_ns` (of it, in parts that no recorded step explains). `run_ns` and the idle time add up to the path. A
    boot without runs has no rows.
    """
    if not processor.stretches or rows.is_empty():
        return pl.DataFrame(schema=WHO_RAN)
    first, last = int(rows["start_ns"][0]), int(rows["end_ns"][-1])
    took: dict[tuple[str, str], list[int]] = {key: [ns, 0] for key, ns in processor.who(first, last).items()}
    threads: dict[tuple[str, str], set[int | None]] = {}
    for part in processor.between(first, last):
        threads.setdefault((part.name, part.kind), set()).add(part.thread)
    for name, start, end in rows.filter(pl.col("kind") == "running").select("name", "start_ns", "end_ns").iter_rows():
        for key, ns in processor.who(start, end).items():
            if key[0] == name:
                took[key][1] += ns
    table = [
        (name, kind, len(threads[(name, kind)] - {None}), ns, unexplained)
        for (name, kind), (ns, unexplained) in took.items()
    ]
    return pl.DataFrame(table, schema=WHO_RAN, orient="row")


def ran_text(took: dict[tuple[str, str], int], most: int = 3) -> str | None:
    """Who ran, in words: the longest by name with their shares; one alone without.

    >>> ran_text({("systemd", "user"): 3_000_000, ("kworker/0:1", "kernel"): 1_000_000})
    'systemd 75 %, kworker/0:1 25 %'
    >>> ran_text({("systemd", "user"): 3_000_000})
    'systemd'
    >>> ran_text({("systemd", "user"): 3_000_000, ("kworker/0:1", "kernel"): 1})
    'systemd >99 %, kworker/0:1 <1 %'
    """
    if len(took) < 2:
        return next((name for name, _ in took), None)
    whole = sum(took.values())
    return joined([f"{name} {_rounded(ns, whole)}" for (name, _), ns in took.items()], most)


def _rounded(part: int, whole: int) -> str:
    """A part of a whole in whole percent; nothing that ran is 0 %, and what was not alone is not 100 %."""
    percent = f"{100 * part / whole:.0f}"
    return {"0": "<1 %", "100": ">99 %"}.get(percent, f"{percent} %") if 0 < part < whole else f"{percent} %"


def _first_tasks(boot: Boot) -> dict[int, int | None]:
    """The threads that the kernel calls `swapper/N` at first, with their process ids: the kernel starts the first
    process before `kthreadd`, both as copies of the idle task, and neither has a name of its own then.
    """
    named = boot.threads().select("thread", "kind", "first_name").iter_rows()
    alike = {thread: kind for thread, kind, name in named if name is not None and name.startswith("swapper/")}
    later = boot.thread_names().filter(pl.col("name") == "kthreadd")["thread"].to_list()
    firsts = [thread for thread, kind in alike.items() if kind != "idle" and thread not in later]
    ids: dict[int, int | None] = {}
    for thread, kind in alike.items():
        # Of several that could be the first process it is unknown which is.
        ids[thread] = 0 if kind == "idle" else 2 if thread in later else 1 if len(firsts) == 1 else None
    return ids


def _stretches(boot: Boot) -> Iterator[Stretch]:
    """The runs in order, divided where a thread took another name.

    What has the name of the idle task has its process id, too: several threads do, and are not one.
    """
    ids = _first_tasks(boot)
    # Until a thread was first on the way to user mode, it is a kernel thread.
    user_from: dict[int, int | None] = dict(boot.threads().select("thread", "user_start_ns").iter_rows())
    times: dict[int, list[int]] = {}
    names: dict[int, list[str]] = {}
    for thread, time, name in boot.thread_names().sort("time_ns", maintain_order=True).iter_rows():
        times.setdefault(thread, []).append(time)
        names.setdefault(thread, []).append(name)
    for thread, start, end in boot.runs().select("thread", "start_ns", "end_ns").sort("start_ns").iter_rows():
        known, user = times.get(thread, []), user_from.get(thread)
        at, place = start, bisect_right(known, start)
        while at < end:
            until = min(end, known[place]) if place < len(known) else end
            name = names[thread][place - 1] if place else NAMELESS
            if thread in ids and name.startswith("swapper/"):
                name += f" (thread {thread})" if ids[thread] is None else f" (pid {ids[thread]})"
            if user is not None and at < user < until:
                yield Stretch(at, user, thread, name, "kernel")
                at = user
            if until > at:
                yield Stretch(at, until, thread, name, "kernel" if user is None or at < user else "user")
            at, place = until, place + 1


def _idle(boot: Boot) -> list[tuple[int, int]]:
    """When the processor idled: each change of the figure is the length of an interval that ended then."""
    ends = boot.counters().filter(pl.col("counter") == "idle_ns").sort("time_ns", "value")
    intervals = []
    before = 0
    for time, value in ends.select("time_ns", "value").iter_rows():
        if value > before:
            intervals.append((time - (value - before), time))
            before = value
    return intervals
