"""Servers that run on this machine for a test, and what they are waited for by."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator


def wait_for(what: Callable[[], bool], child: subprocess.Popen[bytes] | None = None) -> None:
    until = time.monotonic() + 120
    while not what():
        assert time.monotonic() < until
        assert child is None or child.poll() is None
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def ended(*commands: list[str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Programs that run within the block."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        yield started
    finally:
        for child in reversed(started):
            child.send_signal(signal.SIGTERM)
            child.wait(timeout=30)
