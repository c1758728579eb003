"""The source of a console's bytes: a port, a TCP connection, a pseudo-terminal, standard input, a command."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import socket
import subprocess
import sys
import tty
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from firstlight.errors import LabError, UsageError
from firstlight.lab.capture.port import close_port, open_port, programs_with
from firstlight.lab.capture.reader import StampingReader
from firstlight.lab.capture.telnet import Telnet, escaped, opening

_CONNECT_S = 10.0
_END_S = 5.0


@dataclass(frozen=True)
class Source:
    """A console that can be read."""

    name: str
    """The name that the user gave."""
    descriptor: int
    baud: int | None
    close: Callable[[], None]
    writable: bool = False
    typed: Callable[[bytes], object] | None = None
    """Writes bytes, where no descriptor does."""
    decode: Callable[[bytes], bytes] | None = None
    """Takes what is not of the console out of what was read."""
    others: Callable[[], list[str]] = list
    """The other programs that have it open."""

    def reader(self) -> StampingReader:
        """A reader of this console, which has not started."""
        return StampingReader(self.descriptor, self.decode)

    def write(self, content: bytes) -> None:
        """Write to the console.

        :raises LabError: when it is read-only, or the connection ended.
        """
        if not self.writable:
            raise LabError(
                "this console can only be read",
                where=self.name,
                hint="use a port, `tcp://HOST:PORT` or `rfc2217://HOST:PORT`",
            )
        try:
            if self.typed is not None:
                self.typed(content)
                return
            while content:
                try:
                    content = content[os.write(self.descriptor, content) :]
                except BlockingIOError:
                    select.select([], [self.descriptor], [], _END_S)
        except OSError as error:
            raise LabError(f"the console cannot be written: {error.strerror}", where=self.name) from error


def open_source(name: str, command: Sequence[str], baud: int, *, writing: bool = False) -> Source:
    """Open a console.

    :param name: a serial port, `tcp://HOST:PORT`, `rfc2217://HOST:PORT`, `pty`, or `-` for standard input; empty with a
        command.
    :param command: a command whose output is the console.
    :param baud: the rate of a serial port, also of one behind RFC 2217, in bits per second.
    :param writing: open a serial port for writing, too.
    :raises UsageError: for an invalid rate or address.
    :raises LabError: when it cannot be opened.
    """
    if command:
        return _of_command(command)
    if name == "-":
        if sys.stdin is None:
            raise LabError("standard input is closed", hint="`firstlight capture PORT`, or `-- COMMAND`")
        return Source("standard input", sys.stdin.fileno(), None, lambda: None)
    if name == "pty":
        return _of_pty(baud)
    if name.startswith("tcp://"):
        return _of_tcp(name)
    if name.startswith("rfc2217://"):
        return _of_telnet(name, baud)
    return _of_port(name, baud, writing)


def _of_command(command: Sequence[str]) -> Source:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise LabError(f"the command cannot be started: {error.strerror}", where=command[0]) from error
    assert process.stdout is not None
    output = process.stdout
    os.set_blocking(output.fileno(), False)

    def close() -> None:
        output.close()
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    return Source(shlex.join(command), output.fileno(), None, close)


def _of_pty(baud: int) -> Source:
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    print(f"capturing {os.ttyname(slave)}", file=sys.stderr, flush=True)

    def close() -> None:
        os.close(master)
        os.close(slave)

    return Source(os.ttyname(slave), master, baud, close)


def _of_tcp(name: str) -> Source:
    connection = _connected(name)
    return Source(name, connection.fileno(), None, connection.close, writable=True)


def _of_telnet(name: str, baud: int) -> Source:
    connection = _connected(name)
    telnet = Telnet(connection.sendall)
    try:
        connection.sendall(opening(baud))
    except OSError as error:
        connection.close()
        raise LabError(f"the connection ended: {error.strerror}", where=name) from error
    return Source(name, connection.fileno(), None, connection.close, writable=True, decode=telnet.decode,
                  typed=lambda content: connection.sendall(escaped(content)))  # fmt: skip


def _connected(name: str) -> socket.socket:
    try:
        parts = urlsplit(name)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None:
        raise UsageError(f"no host and port: `{name}`", hint="such as `tcp://lab:4001` or `rfc2217://lab:4001`")
    try:
        connection = socket.create_connection((host, port), timeout=_CONNECT_S)
    except OSError as error:
        hint = "check that the server of the console runs, and that no other program is connected"
        raise LabError(f"cannot connect: {error.strerror or error}", where=name, hint=hint) from error
    connection.setblocking(True)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _of_port(name: str, baud: int, writing: bool) -> Source:
    port = open_port(name, baud, writing=writing)
    return Source(name, port, baud, lambda: close_port(port), writable=writing, others=lambda: programs_with(name))
