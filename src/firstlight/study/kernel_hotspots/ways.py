"""Four ways of timing one boot, and the arms that tell what each costs it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import polars as pl

from firstlight.boot.boot import Boot
from firstlight.lab.report import read_report
from firstlight.study.kept import kept_text
from firstlight.study.kernel_hotspots.window import window_of

_TRACE = "/run/firstlight/keep/trace"
_EVENTS = "trace_event=initcall:initcall_start,initcall:initcall_finish"
_KEEP_TRACE = f"mkdir /t; mount -t tracefs t /t && cat /t/trace >{_TRACE}; umount /t"

_CALLING = re.compile(r"calling  (\S+?)\+0x\S+ @ \d+")
_INIT = re.compile(r"Run \S+ as init process")
_RETURNED = re.compile(r"initcall (\S+?)\+0x\S+ returned ")
_STAMP = re.compile(r"\[ *\d+\.\d{6}\] (.*)")
_EVENT = re.compile(
    r"\s(\d+)\.(\d{6}): initcall_(start|finish): (?:level=\S+ )?func=(\S+?)(?:\+0x\S+)?(?: ret=-?\d+)?$"
)
_KMSG = re.compile(r"\d+,\d+,(\d+),[^;]*;(.*)")

#: The boot that all four ways time.
ALL = "all-ways"


@dataclass(frozen=True)
class Way:
    """A way of timing, as the words that it needs on the command line."""

    arm: str
    title: str
    words: str = ""
    against: str = "plain"
    """The boot that lacks it."""
    commands: tuple[str, ...] = ()
    profile: bool = True
    takes_away: bool = False
    """The arm lacks the way, which the boot beside it has."""
    quick: bool = True


_WAYS = (
    Way("no-profile", "function profile (against a boot without it)", profile=False, takes_away=True),
    Way(
        "no-stamps", "printk stamps alone (against lines without stamps)", "printk.time=0", takes_away=True, quick=False
    ),
    Way("ring", "printk stamps of every initcall, read from the ring", "initcall_debug log_buf_len=4M quiet", "quiet"),
    Way("port", "port writes of every initcall's lines", "initcall_debug loglevel=8"),
    Way("events", "kernel tracer, events of initcalls", _EVENTS, commands=(_KEEP_TRACE,)),
    Way(
        "graph",
        "kernel tracer, function graph of the initcalls",
        "ftrace=function_graph ftrace_graph_filter=do_one_initcall ftrace_graph_max_depth=4",
        quick=False,
    ),
    Way("graph-all", "kernel tracer, function graph of everything", "ftrace=function_graph", quick=False),
    Way(ALL, "all of them in one boot", f"initcall_debug loglevel=8 {_EVENTS}", commands=(_KEEP_TRACE,)),
)


def ways_on(*, quick: bool) -> tuple[Way, ...]:
    """The arms of the ways of timing.

    >>> [each.arm for each in ways_on(quick=True)]
    ['no-profile', 'ring', 'port', 'events', 'all-ways']
    """
    return tuple(each for each in _WAYS if each.quick or not quick)


Intervals = dict[str, int]
"""What each initcall took, in nanoseconds; of one that ran twice the name stands for none."""
Line = tuple[int, str]
"""When, in nanoseconds, and what the kernel said."""


@dataclass(frozen=True)
class Seen:
    """What one way saw of a boot."""

    intervals: Intervals
    window_ns: int | None
    """From the first to the last that it sees of start_kernel to user mode."""


def by_profile(boot: Boot) -> Seen:
    """From outside: an initcall's first to its last instruction."""
    spans = boot.spans().filter((pl.col("kind") == "initcall") & pl.col("end_ns").is_not_null())
    rows = spans.select("name", "start_ns", "end_ns").iter_rows()
    return Seen(_once([(name, end - start) for name, start, end in rows]), window_of(boot).length_ns)


def by_stamps(boot: Boot) -> Seen:
    """From within: the stamps that printk gives the two lines of an initcall, from the kernel's ring."""
    lines = (read_report((boot.path / "raw" / "report.bin").read_bytes()).text("kmsg") or "").splitlines()
    stamped = [(int(match[1]) * 1000, match[2]) for match in map(_KMSG.fullmatch, lines) if match is not None]
    return Seen(of_lines(stamped), _until_init(stamped))


def by_port(boot: Boot) -> Seen:
    """From outside: when the first byte of each of the two lines was written to the serial port."""
    rows = boot.log().filter(pl.col("time_ns").is_not_null() & (pl.col("source") == "console"))
    lines: list[Line] = []
    for time, text in rows.select("time_ns", "text").iter_rows():
        match = _STAMP.fullmatch(text)
        lines.append((time, match[1] if match is not None else text))
    return Seen(of_lines(lines), _until_init(lines))


def by_tracer(boot: Boot) -> Seen:
    """From within: the tracer's events at the start and the end of each initcall."""
    trace = kept_text(boot, "trace")
    times = [_event_ns(match) for match in map(_EVENT.search, trace.splitlines()) if match is not None]
    return Seen(of_trace(trace), max(times) - min(times) if times else None)


def of_trace(trace: str) -> Intervals:
    """What a trace of the kernel's events of initcalls says.

    >>> of_trace(" a-1 [0] .... 1.000001: initcall_start: func=f+0x0/0x9\\n"
    ...          " a-1 [0] .... 1.000003: initcall_finish: func=f+0x0/0x9 ret=0\\n")
    {'f': 2000}
    """
    started: dict[str, int] = {}
    found = []
    for line in trace.splitlines():
        if (match := _EVENT.search(line)) is None:
            continue
        time = _event_ns(match)
        if match[3] == "start":
            started[match[4]] = time
        elif match[4] in started:
            found.append((match[4], time - started.pop(match[4])))
    return _once(found)


def _event_ns(match: re.Match[str]) -> int:
    return (int(match[1]) * 1_000_000 + int(match[2])) * 1000


def _until_init(lines: list[Line]) -> int | None:
    """From the first line to the one that says which program becomes the first process."""
    last = next((time for time, text in lines if _INIT.fullmatch(text)), None)
    return None if last is None else last - lines[0][0]


def of_lines(lines: Iterable[Line]) -> Intervals:
    """What the lines of `initcall_debug` say, each with its instant in nanoseconds.

    >>> of_lines([(10, "calling  f+0x0/0x9 @ 1"), (14, "initcall f+0x0/0x9 returned 0 after 0 usecs")])
    {'f': 4}
    """
    started: dict[str, int] = {}
    found = []
    for time, text in lines:
        if (match := _CALLING.match(text)) is not None:
            started[match[1]] = time
        elif (match := _RETURNED.match(text)) is not None and match[1] in started:
            found.append((match[1], time - started.pop(match[1])))
    return _once(found)


def _once(found: list[tuple[str, int]]) -> Intervals:
    intervals: Intervals = {}
    twice = set()
    for name, length in found:
        if name in intervals:
            twice.add(name)
        intervals[name] = length
    return {name: length for name, length in intervals.items() if name not in twice}


@dataclass(frozen=True)
class Deviation:
    """One way beside the profile of the same boot."""

    intervals: int
    """Initcalls that both saw."""
    sum_ns: int
    """Of these, by this way."""
    profile_ns: int
    """Of these, by the profile."""
    middle_ns: float
    """The deviation that half of them stay below."""
    largest_ns: int
    largest: str
    """Whose deviation is the largest."""


def deviation(seen: Intervals, profile: Intervals) -> Deviation | None:
    """Hold what one way saw beside the profile.

    >>> deviation({"a": 5, "b": 9, "c": 1}, {"a": 4, "b": 9}).largest
    'a'
    """
    both = sorted(seen.keys() & profile.keys())
    if not both:
        return None
    off = {name: seen[name] - profile[name] for name in both}
    largest = max(both, key=lambda name: (abs(off[name]), name))
    return Deviation(
        len(both),
        sum(seen[name] for name in both),
        sum(profile[name] for name in both),
        median(abs(value) for value in off.values()),
        off[largest],
        largest,
    )
