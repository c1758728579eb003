"""What happens to a record before somebody sends it: changes of its lines. Each is seeded by its caller."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from random import Random

from corpus.formats import Family
from corpus.lines import Line, as_bytes

_STAMP = re.compile(rb"(\[ *\d+\.\d{3})\d{3}\]")


@dataclass(frozen=True)
class Damage:
    """A change of a record's lines."""

    change: Callable[[Sequence[Line], Random], list[Line]]
    families: frozenset[Family] = frozenset(Family)
    step_us: int = 1
    """The resolution that is left to the stamps."""


def _torn(lines: Sequence[Line], chance: Random) -> list[Line]:
    """Two processors print at once: neighbours mix, part by part."""
    rows = list(lines)
    for place in _some(len(rows) - 1, 0.01, chance):
        one, other = rows[place].text, rows[place + 1].text
        if not one or not other:
            continue
        cut, end = chance.randrange(len(one)), chance.randrange(len(other))
        rows[place] = replace(rows[place], text=one[:cut] + other[:end], is_intact=False)
        rows[place + 1] = replace(rows[place + 1], text=one[cut:] + other[end:], is_intact=False)
    return rows


def _garbage(lines: Sequence[Line], chance: Random) -> list[Line]:
    """A serial line loses its framing: bytes in a line are replaced."""
    rows = list(lines)
    for place in _some(len(rows), 0.02, chance):
        text = rows[place].text
        at = chance.randrange(len(text) + 1)
        noise = bytes(chance.choice((0x00, 0x80, 0xFE, 0xFF, 0xE0, 0x7F)) for _ in range(4))
        rows[place] = replace(rows[place], text=text[:at] + noise + text[at + 4 :], is_intact=False)
    return rows


def _dropped(lines: Sequence[Line], chance: Random) -> list[Line]:
    away = set(_some(len(lines), 0.05, chance))
    return [line for place, line in enumerate(lines) if place not in away]


def _some(number: int, share: float, chance: Random) -> list[int]:
    """A share of the places, none next to another."""
    places = sorted(chance.sample(range(max(number, 0)), int(max(number, 0) * share)))
    return [place for before, place in zip([-2, *places], places, strict=False) if place - before > 1]


def _wrapped(
    before: bytes, after: bytes, change: Callable[[bytes], bytes]
) -> Callable[[Sequence[Line], Random], list[Line]]:
    def wrap(lines: Sequence[Line], chance: Random) -> list[Line]:
        inside = [replace(line, text=change(line.text)) for line in lines]
        return [Line(before, end=b""), *inside, Line(after, end=b"")]

    return wrap


def _in_json(lines: Sequence[Line], chance: Random) -> list[Line]:
    """The record is one string of a JSON object."""
    inside = [
        replace(line, text=json.dumps(as_bytes([line]).decode("utf-8", "replace"))[1:-1].encode(), end=b"")
        for line in lines
    ]
    return [Line(b'{"job": 1234, "device": "board-7", "log": "', end=b""), *inside, Line(b'", "result": "pass"}')]


_LINES = frozenset({Family.CONSOLE, Family.TEXT})
_MAIL = (
    b"From: a@example.org\nTo: b@example.org\nSubject: Re: slow boot\nDate: Fri, 02 Jan 2026 03:04:05 +0000\n"
    b"\nOn Thu, b wrote:\n"
)

DAMAGES: Mapping[str, Damage] = {
    "head cut": Damage(lambda lines, _: list(lines[len(lines) // 3 :])),
    "tail cut": Damage(lambda lines, _: list(lines[: len(lines) * 2 // 3])),
    "middle cut": Damage(lambda lines, _: [*lines[: len(lines) * 2 // 5], *lines[len(lines) // 2 :]]),
    "dropped lines": Damage(_dropped),
    "torn lines": Damage(_torn, frozenset({Family.CONSOLE})),
    "garbage bytes": Damage(_garbage, frozenset({Family.CONSOLE})),
    "CRLF": Damage(lambda lines, _: [replace(line, end=b"\r\n") for line in lines], frozenset({Family.TEXT})),
    "milliseconds": Damage(
        lambda lines, _: [replace(line, text=_STAMP.sub(rb"\1]", line.text)) for line in lines], _LINES, step_us=1000
    ),
    "quoted in a mail": Damage(_wrapped(_MAIL, b"\nRegards\n", lambda text: b"> > " + text), _LINES),
    "fenced": Damage(_wrapped(b"It boots slowly:\n\n```\n", b"```\n\nWhat can I do?\n", lambda text: text), _LINES),
    "HTML": Damage(
        _wrapped(
            b"<!DOCTYPE html>\n<html><head><title>log</title></head>\n<body><pre>\n",
            b"</pre></body></html>\n",
            lambda text: escape(text.decode("utf-8", "replace")).encode(),
        ),
        _LINES,
    ),
    "in JSON": Damage(_in_json, _LINES),
    "escapes": Damage(_wrapped(b"", b"", lambda text: b"\x1b[32m" + text[:14] + b"\x1b[0m" + text[14:]), _LINES),
}
