"""What the kernel noted of lvm2's programs: what each opened, how much memory all had at once."""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass, field

_LINE = re.compile(r"\s*lvm-(\d+)\s+\[\d+\]\s+\S+\s+(\d+): (\w+): (.*)")
_OPENED = re.compile(r'fs="([^"]*)" in="([^"]*)" name="([^"]*)"')
_RESIDENT = re.compile(r"mm_id=\S+ curr=1 type=MM_(\w+)PAGES size=(-?\d+)B")
_ARGUMENTS = re.compile(r'one="([^"]*)" two="([^"]*)"')
_LOST = re.compile(r"# entries-in-buffer/entries-written: (\d+)/(\d+)")

#: What lvm2-monitor.service runs, once in each boot: it looks at all devices, whatever events do.
MONITOR = "vgchange --monitor"


@dataclass
class Program:
    """One process called lvm."""

    pid: int
    began_ns: int
    """From power on."""
    command: str = ""
    """What of lvm2 it is, with its first option: `pvscan --cache`."""
    ended_ns: int | None = None
    udev_database: int = 0
    """Files of udev's run-time database that it opened."""
    sysfs: int = 0
    devices: int = 0
    """Files below /dev."""
    online: int = 0
    """Files below /run/lvm/pvs_online: lvm2's own notes, one for each physical volume that came."""
    opened: int = 0
    """All that it opened."""
    memory: int = 0
    """Bytes: the most that it had for itself at any time."""


@dataclass(frozen=True)
class Trace:
    """All of them."""

    programs: tuple[Program, ...]
    memory: int
    """Bytes that they had for themselves (anonymous pages), all together, at most."""
    at_once: int
    """So many ran at the same time, at most."""
    complete: bool
    """No note was lost."""


@dataclass
class _Reading:
    living: dict[int, Program] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    own: dict[int, int] = field(default_factory=dict)
    commands: dict[int, str] = field(default_factory=dict)
    """Of those that begin."""
    most: int = 0
    at_once: int = 0


def read_trace(content: bytes) -> Trace | None:
    """Read what `guest/trace.sh` let the kernel note.

    :param content: gzip of the tracer's text, with the processor's time stamp counter as its clock.
    :returns: nothing when it is none.

    >>> read_trace(b"no trace") is None
    True
    """
    try:
        text = gzip.decompress(content).decode("utf-8", "replace")
    except (OSError, EOFError, zlib.error):
        return None
    kept = _LOST.search(text)
    if kept is None:
        return None
    reading = _Reading()
    for line in text.splitlines():
        if (found := _LINE.match(line)) is not None:
            _note(reading, int(found[1]), int(found[2]), found[3], found[4])
    return Trace(tuple(reading.programs), reading.most, reading.at_once, kept[1] == kept[2])


def _note(reading: _Reading, pid: int, time: int, event: str, said: str) -> None:
    if event == "arguments" and (words := _ARGUMENTS.search(said)) is not None:
        reading.commands[pid] = " ".join(words.groups())
    elif event == "sched_process_exec":
        program = Program(pid, time, reading.commands.pop(pid, ""))
        reading.living[pid] = program
        reading.programs.append(program)
        reading.own[pid] = 0
        reading.at_once = max(reading.at_once, len(reading.living))
    elif (known := reading.living.get(pid)) is None:
        # A child that lvm forked and that has not executed anything yet.
        return
    elif event == "sched_process_exit":
        known.ended_ns = time
        del reading.living[pid]
        reading.own.pop(pid, None)
    elif event == "opened" and (opened := _OPENED.search(said)) is not None:
        _open(known, *opened.groups())
    elif event == "rss_stat" and (resident := _RESIDENT.search(said)) is not None and resident[1] == "ANON":
        size = max(0, int(resident[2]))
        reading.own[pid] = size
        known.memory = max(known.memory, size)
        reading.most = max(reading.most, sum(reading.own.values()))


def _open(program: Program, file_system: str, folder: str, _name: str) -> None:
    program.opened += 1
    if file_system == "sysfs":
        program.sysfs += 1
    elif file_system == "devtmpfs":
        program.devices += 1
    elif file_system == "tmpfs" and folder == "data":
        # /run/udev/data: no other folder of that name is on a tmpfs here.
        program.udev_database += 1
    elif file_system == "tmpfs" and folder == "pvs_online":
        program.online += 1
