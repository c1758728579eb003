"""Facts from the texts in which a kernel describes itself."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator

Fact = tuple[str, str]
#: Gives a record of the report by its name, or None.
Records = Callable[[str], str | None]

#: From this level on a kernel message is a warning or worse (``KERN_WARNING``).
_WARNING_LEVEL = 4
_KMSG = re.compile(r"(\d{1,6}),\d+,\d+,[^;]*;(.*)")
_CONSOLE_STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ")
_TROUBLE = re.compile(r"^(?:WARNING: |BUG: |Oops|general protection fault|Kernel panic)")
_CUT_HERE = "[ cut here ]"
_END_OF_TRACE = re.compile(r"^---\[ end (?:trace|Kernel panic)")
_VALUES = (
    ("kernel.release", re.compile(r"^Linux version (\S+) ")),
    ("kernel.command_line", re.compile(r"^(?:Kernel c|C)ommand line: (.*)$")),
    ("kernel.lpj", re.compile(r"^Calibrating delay loop.*\(lpj=(\d+)\)")),
    ("clocksource.current", re.compile(r"^clocksource: Switched to clocksource (\S+)$")),
    ("memory.present_kib", re.compile(r"^Memory: \d+K/(\d+)K available")),
)
_SINGLE = (
    "clockevent.current",
    "clocksource.available",
    "clocksource.current",
    "entropy.available",
    "error",
    "kernel.clock_ns",
    "kernel.command_line",
    "kernel.machine",
    "kernel.release",
    "kernel.tainted",
    "kernel.version",
)


def console_facts(text: str) -> Iterator[Fact]:
    """What the console shows of a boot, whose lines have no level: only marked trouble counts as a warning."""
    messages = [_CONSOLE_STAMP.sub("", line.rstrip("\r")) for line in text.splitlines()]
    yield from _values(messages)
    yield from _warnings(message for message in messages if _TROUBLE.match(message))


def kernel_facts(log: str) -> Iterator[Fact]:
    """What the kernel's log shows, in the form of ``/dev/kmsg``: ``PRIORITY,SEQUENCE,TIME,FLAGS;MESSAGE``."""
    found = [match for match in map(_KMSG.fullmatch, log.splitlines()) if match is not None]
    # The upper bits are the facility; others than the kernel's own (0) come from processes that write to the log.
    leveled = [(int(match[1]) & 7, match[2]) for match in found if int(match[1]) >> 3 == 0]
    yield from _values(message for _, message in leveled)
    yield from _warnings(_grave(leveled))


def _grave(messages: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Messages of the level of a warning or worse; of a stack trace only the line that says what it is about."""
    in_trace = False
    for level, message in messages:
        if _CUT_HERE in message:
            in_trace = True
        elif _END_OF_TRACE.match(message):
            in_trace = False
        elif _TROUBLE.match(message) or (level <= _WARNING_LEVEL and not in_trace):
            yield message


def _values(messages: Iterable[str]) -> Iterator[Fact]:
    facts: dict[str, str] = {}
    for message in messages:
        for name, pattern in _VALUES:
            if (match := pattern.match(message)) is not None:
                # The clock source changes in the course of a boot; the rest is said once, and first by the kernel.
                if name == "clocksource.current" or name not in facts:
                    facts[name] = match[1]
                break
    if (present := facts.pop("memory.present_kib", None)) is not None:
        facts["memory.present_bytes"] = str(int(present) * 1024)
    yield from facts.items()


def _warnings(messages: Iterable[str]) -> Iterator[Fact]:
    found = list(messages)
    yield "kernel.warnings", str(len(found))
    yield from ((f"kernel.warning.{number}", message) for number, message in enumerate(found, start=1))


def single_facts(records: Records) -> Iterator[Fact]:
    """Records that are one value each, and so a fact as they are."""
    for name in _SINGLE:
        if (value := records(name)) is not None:
            yield name, value.strip()


def system_facts(records: Records) -> Iterator[Fact]:
    """Records that are lists: devices, modules, mounts, memory, processors, failed units."""
    for line in (records("devices") or "").splitlines():
        bus, _, rest = line.partition("\t")
        device, tab, driver = rest.partition("\t")
        if tab:
            yield f"device.{bus}/{device}", driver
    for words in map(str.split, (records("modules") or "").splitlines()):
        if len(words) >= 2:
            yield f"module.{words[0]}", words[1]
    # Of several mounts on one point the last is the one that is seen.
    for words in map(str.split, (records("mounts") or "").splitlines()):
        if len(words) >= 4:
            yield f"mount.{words[1]}", f"{words[0]} {words[2]} {words[3]}"
    for word, name in (("MemTotal", "total"), ("MemAvailable", "available")):
        if (match := re.search(rf"^{word}:\s+(\d{{1,15}}) kB$", records("memory") or "", re.MULTILINE)) is not None:
            yield f"memory.{name}_bytes", str(int(match[1]) * 1024)
    models = re.findall(r"^model name\s*: (.*)$", records("cpu") or "", re.MULTILINE)
    if models:
        yield "cpu.count", str(len(models))
        yield "cpu.model", models[0]
    if (failed := records("systemd.failed")) is not None:
        yield "systemd.failed", " ".join(line.split()[0] for line in failed.splitlines() if line.strip())


def config_text(config: bytes) -> str | None:
    """A kernel's configuration as the report carries it (``/proc/config.gz``); None when it is damaged.

    >>> import gzip
    >>> config_text(gzip.compress(b"CONFIG_PCI=y\\n"))
    'CONFIG_PCI=y\\n'
    >>> config_text(b"no gzip") is None
    True
    """
    # A guest may send a small stream that expands without end; a real configuration has some 300 kB.
    limit = 16 << 20
    expander = zlib.decompressobj(wbits=31)
    try:
        text = expander.decompress(config, limit)
    except zlib.error:
        return None
    return text.decode("utf-8", "replace") if expander.eof else None
