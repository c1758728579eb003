"""The delay of the stamps of a capture on this machine, measured by a loop-back.

A child writes chunks of a UART's FIFO into a pseudo-terminal at the pace of a baud rate and notes the instant before
each write. Like an interrupt, it comes before the reader where the system allows that, or the load would delay the
write after its instant was noted. The reader of captures stamps what it reads. The difference bounds the error of a
stamp from above: it contains the write. The error of an adapter is not part of it.
"""

from __future__ import annotations

import os
import pty
import statistics
import subprocess
import sys
import tty
from dataclasses import dataclass

from firstlight.errors import LabError
from firstlight.lab.capture.awake import kept_awake
from firstlight.lab.capture.reader import Chunk, StampingReader

FIFO_BYTES = 16
_CHUNKS = 700
_QUICK_CHUNKS = 200
_FEWEST_CHUNKS = 30
_QUICK_BAUD = 4800
_TIMEOUT_S = 60.0

_WRITER = """
import os, sys, time
descriptor, chunks, size, baud = map(int, sys.argv[1:])
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
except OSError:
    pass
written, due = [], time.monotonic_ns()
for number in range(chunks):
    due += size * 10 * 10**9 // baud
    rest = due - time.monotonic_ns()
    if rest > 0:
        time.sleep(rest / 1e9)
    written.append((time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), time.time_ns()))
    os.write(descriptor, b"%0*d\\n" % (size - 1, number))
for monotonic, real in written:
    print(monotonic, real)
"""


@dataclass(frozen=True)
class StampError:
    """The delay of a stamp after the true instant, in nanoseconds."""

    p50_ns: int
    p99_ns: int
    max_ns: int
    chunks: int
    baud: int
    priority: int | None
    """The reader's real-time priority; none where the system does not allow one."""
    load: float
    """The machine's load of the last minute."""
    awake: bool
    """Whether its processors were kept awake."""


def stamp_error(baud: int, *, quick: bool = False, awake: bool = False) -> StampError:
    """Measure the error of stamps.

    :param baud: the rate to imitate, in bits per second.
    :param quick: measure for one second at most, at 115,200 baud for a third of a second, instead of all chunks.
    :param awake: keep the processors awake meanwhile.
    :raises LabError: when the child fails.
    """
    chunks = _CHUNKS
    if quick:
        # A slow rate would take minutes. The delay of a stamp does not depend on it.
        baud = max(baud, _QUICK_BAUD)
        chunks = max(_FEWEST_CHUNKS, min(_QUICK_CHUNKS, baud // (FIFO_BYTES * 10)))
    master, slave = pty.openpty()
    tty.setraw(slave)
    reader = StampingReader(master)
    reader.start()
    try:
        with kept_awake(wanted=awake):
            written = [monotonic_ns for monotonic_ns, _ in write_paced(slave, chunks, baud)]
            late = lateness(written, _taken(reader, chunks * FIFO_BYTES))
    except (OSError, subprocess.SubprocessError) as error:
        raise LabError("the self-test failed", hint="run it again on a quieter machine") from error
    finally:
        reader.stop()
        os.close(master)
        os.close(slave)
    cuts = statistics.quantiles(late, n=100, method="inclusive")
    load = os.getloadavg()[0]
    return StampError(round(cuts[49]), round(cuts[98]), max(late), len(late), baud, reader.priority, load, awake)


def write_paced(descriptor: int, chunks: int, baud: int) -> list[tuple[int, int]]:
    """Write chunks of a FIFO at the pace of a baud rate, from a process of its own.

    :param descriptor: where they go. Each chunk is a line with its number.
    :returns: the instants before each write, by the raw monotonic clock and by the real clock, in nanoseconds.
    :raises OSError: when the process cannot be started.
    :raises subprocess.SubprocessError: when it fails or takes too long.

    >>> import os
    >>> reads, writes = os.pipe()
    >>> len(write_paced(writes, 2, 921600)), os.read(reads, 100)
    (2, b'000000000000000\\n000000000000001\\n')
    """
    done = subprocess.run(
        [sys.executable, "-I", "-c", _WRITER, *map(str, (descriptor, chunks, FIFO_BYTES, baud))],
        pass_fds=(descriptor,),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S + chunks * FIFO_BYTES * 10 / baud,
        check=True,
    )
    return [(int(monotonic), int(real)) for monotonic, real in map(str.split, done.stdout.splitlines())]


def _taken(reader: StampingReader, size: int) -> list[Chunk]:
    taken: list[Chunk] = []
    while sum(len(content) for _, content in taken) < size:
        taken.append(reader.chunks.get(timeout=_TIMEOUT_S))
    return taken


def lateness(written: list[int], taken: list[Chunk]) -> list[int]:
    """The time from the write of each chunk to the read of its first byte, in nanoseconds.

    >>> lateness([100, 200, 300], [(110, b"x" * 16), (350, b"x" * 32)])
    [10, 150, 50]
    """
    reads = iter(taken)
    late, end, time_ns = [], 0, 0
    for number, truth in enumerate(written):
        while end <= number * FIFO_BYTES:
            time_ns, content = next(reads)
            end += len(content)
        late.append(time_ns - truth)
    return late
