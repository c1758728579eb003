"""What each of four ways of timing saw of one boot."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from firstlight.study import Boot, SpanKind, kept_text, read_report
from firstlight_studies.kernel_hotspots.window import window_of

_CALLING = re.compile(r"calling  (\S+?)\+0x\S+ @ \d+")
_INIT = re.compile(r"Run \S+ as init process")
_RETURNED = re.compile(r"initcall (\S+?)\+0x\S+ returned ")
_STAMP = re.compile(r"\[ *\d+\.\d{6}\] (.*)")
_EVENT = re.compile(
    r"\s(\d+)\.(\d{6}): initcall_(start|finish): (?:level=\S+ )?func=(\S+?)(?:\+0x\S+)?(?: ret=-?\d+)?$"
)
_KMSG = re.compile(r"\d+,\d+,(\d+),[^;]*;(.*)")
#: From here on a line is printed as it is said.
_CONSOLE = re.compile(r"printk: console \[tty[A-Z]+\d+\] enabled")
#: From here on printk's clock runs as the machine's does.
_SWITCHED = re.compile(r"clocksource: Switched to clocksource \S+")

Intervals = dict[str, int]
"""What each initcall took, in nanoseconds; of one that ran twice the name stands for none."""
Line = tuple[int, str]
"""When, in nanoseconds, and what the kernel said."""


@dataclass(frozen=True)
class Seen:
    """What one way saw of a boot."""

    intervals: Intervals
    window_ns: int | None
    """From the first to the last that it sees of start_kernel to user mode, as far as its clock runs evenly."""


def by_profile(boot: Boot) -> Seen:
    """From outside: an initcall's first to its last instruction."""
    spans = boot.spans().filter((pl.col("kind") == SpanKind.INITCALL) & pl.col("end_ns").is_not_null())
    rows = spans.select("name", "start_ns", "end_ns").iter_rows()
    return Seen(_once([(name, end - start) for name, start, end in rows]), window_of(boot).length_ns)


def by_stamps(boot: Boot) -> Seen:
    """From within: the stamps that printk gives the two lines of an initcall, from the kernel's ring."""
    lines = _ring(boot)
    switched = next((place for place, (_, text) in enumerate(lines) if _SWITCHED.fullmatch(text)), len(lines))
    return Seen(of_lines(lines), _until_init(lines[switched + 1 :]))


def by_port(boot: Boot) -> Seen:
    """From outside: when the first byte of each of the two lines was written to the serial port."""
    lines = _printed(boot)
    return Seen(of_lines(lines), _until_init(lines))


def _ring(boot: Boot) -> list[Line]:
    lines = (read_report((boot.directory / "raw" / "report.bin").read_bytes()).text("kmsg") or "").splitlines()
    return [(int(match[1]) * 1000, match[2]) for match in map(_KMSG.fullmatch, lines) if match is not None]


def _printed(boot: Boot) -> list[Line]:
    rows = boot.log().filter(pl.col("time_ns").is_not_null() & (pl.col("source") == "console"))
    lines: list[Line] = []
    for time, text in rows.select("time_ns", "text").iter_rows():
        match = _STAMP.fullmatch(text)
        lines.append((time, match[1] if match is not None else text))
    return lines


@dataclass(frozen=True)
class Uneven:
    """How long the same part of a boot is by printk's stamps, and seen from outside, in nanoseconds."""

    stamps_ns: int
    port_ns: int


def uneven_of(boot: Boot) -> Uneven | None:
    """From the line that enables the console to the one that switches the clock source; nothing where one is missing.

    :raises OSError: when the bundle cannot be read.
    """
    return uneven(_ring(boot), _printed(boot))


def uneven(ring: Iterable[Line], printed: Iterable[Line]) -> Uneven | None:
    """The same of lines with their instants.

    >>> ring = [(5, "printk: console [ttyS0] enabled"), (90, "clocksource: Switched to clocksource tsc-early")]
    >>> uneven(ring, [(40, ring[0][1]), (70, ring[1][1])])
    Uneven(stamps_ns=85, port_ns=30)
    """
    stamps, port = _between(ring), _between(printed)
    return None if stamps is None or port is None else Uneven(stamps, port)


def _between(lines: Iterable[Line]) -> int | None:
    first = None
    for time, text in lines:
        if first is None and _CONSOLE.fullmatch(text):
            first = time
        elif first is not None and _SWITCHED.fullmatch(text):
            return time - first
    return None


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
