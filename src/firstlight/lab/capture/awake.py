"""Processors that stay awake while a console is read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends with the process that started it, also where that one is killed.
_BUSY = """
import os, sys
parent, cpu = map(int, sys.argv[1:])
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


@contextmanager
def kept_awake(*, wanted: bool) -> Iterator[None]:
    """Keep the processors that this process may use from sleeping.

    A sleeping processor needs some tenths of a millisecond before it runs whoever waits for a byte; in a virtual
    machine, the host has to give it back first. So one process for each processor loops without doing anything. Its
    scheduling policy is `SCHED_IDLE`: it runs only when the processor would otherwise be idle.

    :param wanted: without it, nothing is done.

    Source: sched(7), "SCHED_IDLE"; the kernel's `idle=poll` does the same for a whole machine.

    >>> with kept_awake(wanted=False):
    ...     pass
    """
    processes = [_busy(cpu) for cpu in os.sched_getaffinity(0)] if wanted else []
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _busy(cpu: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-I", "-c", _BUSY, str(os.getpid()), str(cpu)]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
