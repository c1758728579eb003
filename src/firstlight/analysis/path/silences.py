"""Parts of a path that no step explains, divided by the lines of the log: the silences between them."""

from __future__ import annotations

import re
from typing import Any

from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.log_lines import gaps
from firstlight.bundle.boot import Boot
from firstlight.schema.spans import Grade

_LONGEST = 48

_BRACKETED = re.compile(r"\[([\w.:-]{1,24})\] ")
_INITCALL = re.compile(r"(?:calling|initcall) +(\w+)")
_ORDINARY = re.compile(r"[A-Z][a-z]+$")
#: A driver, its device and its interface: `e1000e 0000:00:19.0 eth0`.
_MOST_WORDS = 3


def speaker(text: str) -> str | None:
    """The driver, device or program that a line of a log names in front of its message; null where it names none.

    >>> speaker("e1000e 0000:00:19.0 eth0: NIC Link is Up"), speaker("[drm] Initialized i915")
    ('e1000e 0000:00:19.0 eth0', 'drm')
    >>> speaker("sd 0:0:0:0: [sda] Attached SCSI disk"), speaker("systemd[1]: Detected architecture arm64.")
    ('sd 0:0:0:0', 'systemd[1]')
    >>> speaker("calling  pci_init+0x0/0x2a @ 1")
    'pci_init'
    >>> speaker("printk: log_buf_len: 4194304 bytes"), speaker("Kernel command line: quiet")
    ('printk', None)
    """
    if found := _BRACKETED.match(text) or _INITCALL.match(text):
        return found[1]
    named, colon, _ = text.partition(": ")
    words = named.split()
    prose = len(words) > 1 and any(_ORDINARY.match(word) for word in words)
    return named if colon and 1 <= len(words) <= _MOST_WORDS and len(named) <= _LONGEST and not prose else None


def divide_by_lines(boot: Boot, rows: list[dict[str, Any]], least_ns: int) -> list[dict[str, Any]]:
    """The rows of a path, with the longer silences of the log in place of phases and waits of unknown cause.

    A silence is *bounded*: it is the most that the work of whoever wrote the line before or after it can have taken.

    :param least_ns: shorter silences stay in the part that they are in.
    """
    wide = [row for row in rows if _unexplained(row) and row["end_ns"] - row["start_ns"] >= least_ns]
    if not wide:
        return rows
    silences = gaps(boot, least_ns, explained=0).sort("start_ns").to_dicts()
    divided: list[dict[str, Any]] = []
    place = 0
    for row in rows:
        at = row["start_ns"]
        while place < len(silences) and silences[place]["end_ns"] <= at:
            place += 1
        number = place
        while _unexplained(row) and number < len(silences) and silences[number]["start_ns"] < row["end_ns"]:
            silence = silences[number]
            start, end = max(at, silence["start_ns"]), min(row["end_ns"], silence["end_ns"])
            number += 1
            if end - start < max(least_ns, 1):
                continue
            if start > at:
                divided.append({**row, "start_ns": at, "end_ns": start})
            divided.append(_silence(row, silence, start, end))
            at = end
        if at < row["end_ns"] or at == row["start_ns"]:
            divided.append({**row, "start_ns": at})
    return divided


def _unexplained(row: dict[str, Any]) -> bool:
    return (row["kind"], row["name"]) == ("waiting", UNKNOWN) or bool(row["kind"] == "phase")


def _silence(row: dict[str, Any], silence: dict[str, Any], start: int, end: int) -> dict[str, Any]:
    name = _name(silence["before"], silence["after"])
    during = f"phase {row['name']}" if row["kind"] == "phase" else None
    return {**row, "kind": "silence", "name": name, "start_ns": start, "end_ns": end,
            "grade": Grade.BOUNDED, "during": during, "before": silence["before"],
            "after": silence["after"]}  # fmt: skip


def _name(before: str | None, after: str | None) -> str:
    """A silence by who spoke before and after it; where both are the same, by what it said.

    >>> _name("sd 0:0:0:0: [sda] Attached SCSI disk", "systemd[1]: systemd 252 running in system mode")
    'silence between sd 0:0:0:0 and systemd[1]'
    >>> _name("systemd[1]: Reached target Swaps.", "systemd[1]: Started Getty on tty1.")
    'silence of systemd[1] between “Reached target Swaps.” and “Started Getty on tty1.”'
    """
    first, last = (None if line is None else " ".join(line.split()) for line in (before, after))
    writers = [None if line is None else speaker(line) for line in (first, last)]
    if first is not None and last is not None and writers[0] is not None and writers[0] == writers[1]:
        said = [_quoted(_said(line, writers[0]), _LONGEST // 2) for line in (first, last)]
        return f"silence of {writers[0]} between {said[0]} and {said[1]}"
    begin = "the first mark" if first is None else writers[0] or _quoted(first)
    end = "the last mark" if last is None else writers[1] or _quoted(last)
    return f"silence between {begin} and {end}"


def _said(line: str, who: str) -> str:
    """A line without the name of who wrote it."""
    return next((line[len(name) :] for name in (f"{who}: ", f"[{who}] ") if line.startswith(name)), line)


def _quoted(text: str, longest: int = _LONGEST) -> str:
    return f"“{text if len(text) <= longest else text[: longest - 1] + '…'}”"
