"""Facts for health checks: names, sockets, protections, processes, interrupts, files."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from firstlight.lab.guest.facts import Fact, Records

#: States of a socket that waits for others, as the kernel numbers them: TCP_LISTEN, and TCP_CLOSE for UDP.
_WAITS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
_INTERRUPT = re.compile(r"^\s*(\w+):((?:\s+\d+)+)\s*(.*)$")
_ERRORS = ("ERR", "MIS")


def state_facts(records: Records) -> Iterator[Fact]:
    """The state of a system that is up, from the records of the guest's report.

    >>> records = {"vulnerabilities": "/sys/devices/system/cpu/vulnerabilities/mds\\tNot affected\\n"}
    >>> list(state_facts(records.get))
    [('vulnerability.mds', 'Not affected')]
    """
    for path, value in _pairs(records("vulnerabilities")):
        yield f"vulnerability.{PurePosixPath(path).name}", value
    for path, value in _pairs(records("filesystem.errors")):
        yield f"filesystem.errors.{PurePosixPath(path).parent.name}", value
    for name in ("policy", "block", "network"):
        yield from ((f"{name}.{key}", value) for key, value in _pairs(records(name)))
    for kind, state in _WAITS.items():
        for place in _sockets(records(f"sockets.{kind}"), state):
            yield f"socket.{kind}/{place}", ""
    # Several processes may have one name: what each of them may do, once.
    processes: dict[str, set[str]] = {}
    for name, value in _pairs(records("processes")):
        processes.setdefault(name, set()).add(value.replace("\t", " "))
    yield from ((f"process.{name}", "; ".join(sorted(values))) for name, values in sorted(processes.items()))
    if (interrupts := records("interrupts")) is not None:
        counted, errors = _interrupts(interrupts)
        yield "interrupts.counted", "\n".join(counted)
        yield "interrupts.errors", str(errors)
    if (files := records("files")) is not None:
        yield "files", files.rstrip("\n")


def _pairs(text: str | None) -> Iterator[tuple[str, str]]:
    for line in (text or "").splitlines():
        name, tab, value = line.partition("\t")
        if tab:
            yield name, value


def _sockets(text: str | None, state: str) -> list[str]:
    """The addresses of `/proc/net/tcp` and its like that wait for others."""
    found = set()
    for words in map(str.split, (text or "").splitlines()[1:]):
        if len(words) > 3 and words[3] == state and (place := _address(words[1])) is not None:
            found.add(place)
    return sorted(found)


def _address(text: str) -> str | None:
    """An address as the kernel prints it: words of four bytes in the order of the processor, then the port.

    >>> _address("0100007F:0016"), _address("00000000000000000000000000000000:0016"), _address("?")
    ('127.0.0.1:22', '[::]:22', None)
    """
    digits, colon, port = text.partition(":")
    try:
        raw = bytes.fromhex(digits)
        number = int(port, 16)
    except ValueError:
        return None
    if not colon or len(raw) not in (4, 16):
        return None
    address = ipaddress.ip_address(b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4)))
    return f"{address}:{number}" if address.version == 4 else f"[{address}]:{number}"


def _interrupts(text: str) -> tuple[list[str], int]:
    """The names of the interrupts that were counted, and the number of those that were errors."""
    counted, errors = set(), 0
    for match in map(_INTERRUPT.match, text.splitlines()):
        if match is None:
            continue
        number = sum(map(int, match[2].split()))
        if match[1] in _ERRORS:
            errors += number
        elif number:
            name = match[3].split()[-1] if match[1].isdecimal() and match[3].strip() else match[1]
            counted.add(name)
    return sorted(counted), errors
