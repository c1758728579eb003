"""The formats of a boot's messages: a pure function for each, from the stream of messages to lines."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from corpus.lines import Event, Line

#: When the kernel's clock began, by the wall clock.
_ZERO = datetime(2026, 1, 2, 3, 4, 1, tzinfo=UTC)
#: Boots of one record follow one another at this distance.
_NEXT_BOOT_US = 600_000_000
_BOOT_ID = "0f1e2d3c4b5a69788796a5b4c3d2e1f{boot:x}"


class Family(StrEnum):
    """What can happen to a record depends on what wrote it."""

    CONSOLE = "console"
    """What a serial line delivered, userspace and boot loader included."""
    TEXT = "text"
    """Lines that a tool printed of the kernel's messages."""
    STRUCTURED = "structured"
    """Objects or entries."""


@dataclass(frozen=True)
class Format:
    """How a tool shows the messages of a boot."""

    show: Callable[[Iterable[Event]], list[Line]]
    family: Family
    step_us: int | None = 1
    """The resolution of its times; none without times."""


def _stamp(us: int) -> str:
    return f"{us // 10**6:5d}.{us % 10**6:06d}"


def _at(event: Event) -> datetime:
    return _ZERO + timedelta(microseconds=event.host_us + event.boot * _NEXT_BOOT_US)


def console_text(event: Event) -> str:
    """A message as the console shows it.

    >>> console_text(Event("gizmo: bound", 1_500_000)), console_text(Event("login:", None))
    ('[    1.500000] gizmo: bound', 'login:')
    """
    return event.text if event.stamp_us is None else f"[{_stamp(event.stamp_us)}] {event.text}"


def _line(event: Event, text: bytes, end: bytes = b"\n") -> Line:
    return Line(text, event.message, event.boot, end, event.host_us)


def _of_ring(show: Callable[[int, int, Event], str]) -> Callable[[Iterable[Event]], list[Line]]:
    """A format of the kernel's own messages; *show* gets the number in the ring, the time and the message."""

    def lines(events: Iterable[Event]) -> list[Line]:
        return [_line(one, show(place, us, one).encode()) for place, us, one in _ring(events)]

    return lines


def _ring(events: Iterable[Event]) -> Iterator[tuple[int, int, Event]]:
    place = boot = 0
    for event in events:
        if event.stamp_us is not None and event.is_kernel:
            place, boot = (place if event.boot == boot else 0), event.boot
            yield place, event.stamp_us, event
            place += 1


def _console(before: Callable[[Event, float], str], end: bytes = b"\n") -> Callable[[Iterable[Event]], list[Line]]:
    """A capture of the console; *before* gets a line and the seconds since the line before."""

    def lines(events: Iterable[Event]) -> list[Line]:
        rows: list[Line] = []
        last: datetime | None = None
        for event in events:
            delta = (_at(event) - last).total_seconds() if last else 0.0
            last = _at(event)
            text = f"{before(event, delta)}{console_text(event)}"
            rows.append(_line(event, text.encode(), end))
        return rows

    return lines


def _journal_fields(number: int, us: int, event: Event) -> dict[str, str]:
    return {
        "__CURSOR": f"s=1;i={number:x}",
        "__REALTIME_TIMESTAMP": str(round(_at(event).timestamp() * 10**6)),
        "__MONOTONIC_TIMESTAMP": str(us),
        "_BOOT_ID": _BOOT_ID.format(boot=event.boot),
        "_TRANSPORT": "kernel",
        "_SOURCE_MONOTONIC_TIMESTAMP": str(us),
        "PRIORITY": "6",
        "SYSLOG_IDENTIFIER": "kernel",
        "MESSAGE": event.text,
    }


def _journal_export(events: Iterable[Event]) -> list[Line]:
    return [
        _line(row[2], b"".join(_exported(name, value) for name, value in _journal_fields(*row).items()))
        for row in _ring(events)
    ]


def _exported(name: str, value: str) -> bytes:
    content = value.encode()
    if value.isprintable():
        return f"{name}={value}\n".encode()
    return name.encode() + b"\n" + struct.pack("<Q", len(content)) + content + b"\n"


def _journal_short(events: Iterable[Event]) -> list[Line]:
    """`journalctl -o short-monotonic` prints a line between two boots."""
    rows: list[Line] = []
    for _, us, event in _ring(events):
        if rows and rows[-1].boot != event.boot:
            rows.append(Line(f"-- Boot {_BOOT_ID.format(boot=event.boot)} --".encode(), boot=event.boot))
        rows.append(_line(event, f"[{_stamp(us)}] box kernel: {event.text}".encode()))
    return rows


def _dmesg_json(events: Iterable[Event]) -> list[Line]:
    rows = [Line(b'{\n   "dmesg": [')]
    for place, (_, us, event) in enumerate(_ring(events)):
        fields = f'         "pri": 6,\n         "time": {_stamp(us)},\n         "msg": {json.dumps(event.text)}'
        rows.append(_line(event, f"      {'},{' if place else '{'}\n{fields}".encode()))
    return [*rows, Line(b"      }\n   ]\n}")]


_TEXT, _CONSOLE, _STRUCTURED = Family.TEXT, Family.CONSOLE, Family.STRUCTURED

FORMATS: Mapping[str, Format] = {
    "dmesg": Format(_of_ring(lambda _, us, one: f"[{_stamp(us)}] {one.text}"), _TEXT),
    "dmesg -x": Format(_of_ring(lambda _, us, one: f"kern  :info  : [{_stamp(us)}] {one.text}"), _TEXT),
    "dmesg iso": Format(_of_ring(lambda _, us, one: f"{_at(one):%Y-%m-%dT%H:%M:%S,%f}+00:00 {one.text}"), _TEXT),
    "kern.log": Format(
        _of_ring(lambda _, us, one: f"{_at(one):%b %e %H:%M:%S} box kernel: [{_stamp(us)}] {one.text}"), _TEXT
    ),
    "journal short": Format(_journal_short, _TEXT),
    "kmsg": Format(_of_ring(lambda place, us, one: f"6,{place},{us},-;{one.text}"), _STRUCTURED),
    "dmesg json": Format(_dmesg_json, _STRUCTURED),
    "journal json": Format(_of_ring(lambda *row: json.dumps(_journal_fields(*row))), _STRUCTURED),
    "journal export": Format(_journal_export, _STRUCTURED),
    "serial": Format(_console(lambda event, delta: "", end=b"\r\n"), _CONSOLE),
    "grabserial": Format(
        _console(lambda event, delta: f"[{_at(event).timestamp() % 10**5:.6f} {delta:.6f}] "), _CONSOLE
    ),
    "ts": Format(_console(lambda event, delta: f"{_at(event):%Y-%m-%dT%H:%M:%S.%f} "), _CONSOLE),
    "bare console": Format(lambda events: [_line(one, one.text.encode()) for one in events], _CONSOLE, step_us=None),
}
