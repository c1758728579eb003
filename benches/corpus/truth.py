"""The truth of a boot: its messages, and the exact times of its initcalls and of the first instruction of userspace."""

from __future__ import annotations

import gzip
import json
import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from firstlight.api import Boot
from firstlight.cache import digest_of

_STAMPED = re.compile(r"^\[ *(\d+)\.(\d{6})\] (.*)$")
_CALLING = re.compile(r"^calling  (\S+)\+0x\S+(?: \[\w+\])? @ \d+$")
_RETURNED = re.compile(r"^initcall (\S+)\+0x\S+(?: \[\w+\])? returned -?\d+ after \d+ usecs *$")
_PROBED = re.compile(r"^probe of (.+) returned (-?\d+) after (\d+) usecs$")


#: The most that printing the first message of an initcall takes in the lab's machine.
_PRINTING_NS = 100_000


@dataclass(frozen=True)
class Message:
    """A message of the kernel, or a line that userspace wrote to the console: that has no stamp."""

    text: str
    stamp_us: int | None


@dataclass(frozen=True)
class Initcall:
    """An initcall: its two messages by number, and how long it took by the recording."""

    name: str
    calling: int
    returned: int
    duration_ns: int


@dataclass(frozen=True)
class Probe:
    """A probe: its message by number, and what the kernel printed; only the kernel's own figure is known."""

    device: str
    message: int
    returned: int
    duration_us: int

    @property
    def is_deferred(self) -> bool:
        """Whether the driver asked to be probed later."""
        return abs(self.returned) == 517


@dataclass(frozen=True)
class Truth:
    """What a record of this boot ought to yield."""

    name: str
    messages: tuple[Message, ...]
    initcalls: tuple[Initcall, ...]
    doubted: int
    """Initcalls whose time the recording contradicts itself in: they are not scored."""
    probes: tuple[Probe, ...]
    user_us: int
    """The first instruction of userspace on the clock of the kernel's stamps."""


def of_boot(boot: Boot, name: str) -> Truth:
    """Read the truth from an exact recording of a boot with ``initcall_debug``.

    :param name: what to call the boot.
    :raises ValueError: when the recording did not time them by a profile.
    """
    console = (boot.directory / "raw/console.log").read_text("utf-8", "replace").splitlines()
    messages = tuple(message(line) for line in console)
    probes = tuple(
        Probe(found[1], number, int(found[2]), int(found[3]))
        for number, one in enumerate(messages)
        if (found := _PROBED.match(one.text))
    )
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    times_ns: list[int] = boot.log().filter(boot.log()["source"] == "console").sort("line")["time_ns"].to_list()
    user_us = _user_us(messages, times_ns, marks)
    initcalls, doubted = _initcalls(messages, times_ns, boot)
    if not initcalls:
        raise ValueError("the boot has no initcalls that were timed by a profile")
    return Truth(name, messages, initcalls, doubted, probes, user_us)


def message(line: str) -> Message:
    """Split the stamp from a line of the console.

    >>> message("[    1.500000] gizmo: bound"), message("login:").stamp_us
    (Message(text='gizmo: bound', stamp_us=1500000), None)
    """
    found = _STAMPED.match(line.rstrip("\r"))
    return Message(found[3], int(found[1]) * 10**6 + int(found[2])) if found else Message(line, None)


def _initcalls(messages: tuple[Message, ...], times_ns: list[int], boot: Boot) -> tuple[tuple[Initcall, ...], int]:
    """Join the recording's initcalls with their messages: the nth of a name with the nth that the log names so."""
    recorded: dict[str, list[int]] = defaultdict(list)
    profiled = boot.initcalls().filter(pl.col("source") == "profile").sort("start_ns")
    for name, took in profiled.select("function", "duration_ns").iter_rows():
        recorded[name].append(took)
    rows = [
        Initcall(name, calling, returned, recorded[name].pop(0))
        for name, calling, returned in _message_pairs(messages)
        if recorded[name]
    ]
    sound = [row for row in rows if row.returned < len(times_ns) and _is_sound(row, times_ns)]
    return tuple(sound), len(rows) - len(sound)


def _message_pairs(messages: tuple[Message, ...]) -> list[tuple[str, int, int]]:
    """The name of each initcall that returned, with the numbers of its two messages, in the order of their starts."""
    started: dict[str, list[int]] = defaultdict(list)
    pairs = []
    for number, one in enumerate(messages):
        if found := _CALLING.match(one.text):
            started[found[1]].append(number)
        elif (found := _RETURNED.match(one.text)) and started[found[1]]:
            pairs.append((found[1], started[found[1]].pop(), number))
    return sorted(pairs, key=lambda pair: pair[1])


def _is_sound(call: Initcall, times_ns: list[int]) -> bool:
    """Whether the console's exact times of both messages leave room for the duration and little more."""
    beyond_ns = times_ns[call.returned] - times_ns[call.calling] - call.duration_ns
    return 0 <= beyond_ns <= max(_PRINTING_NS, call.duration_ns // 20)


def _user_us(messages: tuple[Message, ...], times_ns: list[int], marks: dict[str, int]) -> int:
    """The first instruction of userspace on the clock of the stamps.

    Counted from the message that the kernel prints first in `run_init_process`, where the recording has the call: the
    console of a kernel that prints by a thread is late. Otherwise from the last message before the instant.
    """
    stamp_us = next((one.stamp_us for one in reversed(messages) if one.text.startswith("Run /")), None)
    if stamp_us is None or "run_init" not in marks:
        return _on_stamps(messages, times_ns, marks["user_start"])
    return stamp_us + (marks["user_start"] - marks["run_init"]) // 1000


def _on_stamps(messages: tuple[Message, ...], times_ns: list[int], instant_ns: int) -> int:
    """An instant on the clock of the stamps, counted from the last message before it."""
    stamped = [(at, one.stamp_us) for at, one in zip(times_ns, messages, strict=False) if one.stamp_us is not None]
    at, stamp_us = stamped[max(bisect_right([at for at, _ in stamped], instant_ns) - 1, 0)]
    return stamp_us + (instant_ns - at) // 1000


def save(truth: Truth, path: Path) -> None:
    """Store a truth so that equal ones give equal bytes."""
    path.write_bytes(gzip.compress(_text(truth), mtime=0))


def digest(truth: Truth) -> str:
    """The first digits of a digest of the truth: equal ones have equal digits."""
    return digest_of(_text(truth))[:16]


def _text(truth: Truth) -> bytes:
    return json.dumps(asdict(truth), separators=(",", ":")).encode()


def load(path: Path) -> Truth:
    """Read what :func:`save` wrote."""
    stored = json.loads(gzip.decompress(path.read_bytes()))
    tables = {"messages": Message, "initcalls": Initcall, "probes": Probe}
    return Truth(**stored | {name: tuple(row(**values) for values in stored[name]) for name, row in tables.items()})
