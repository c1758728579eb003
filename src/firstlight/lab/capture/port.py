"""A serial port that no other program reads meanwhile."""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import termios
import tty
from contextlib import suppress
from pathlib import Path

from firstlight.errors import LabError, UsageError
from firstlight.quantities import joined

_BUSY_HINT = "end the other program, or let it release the port"


def open_port(name: str, baud: int, *, writing: bool) -> int:
    """Open a serial port for this program alone: with a lock that other programs respect, and `TIOCEXCL`.

    Reading it never blocks.

    :param baud: its rate, in bits per second.
    :raises UsageError: for an invalid rate.
    :raises LabError: when it cannot be opened, or another program has locked it.
    """
    rate = getattr(termios, f"B{baud}", None)
    if rate is None or baud <= 0:
        raise UsageError(f"no serial port has the rate {baud}", hint="such as `--baud 115200`")
    try:
        port = os.open(name, (os.O_RDWR if writing else os.O_RDONLY) | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _not_opened(name, error) from error
    if not os.isatty(port):
        os.close(port)
        raise LabError(
            "it is not a serial port", where=name, hint=f"`firstlight import {shlex.quote(name)}` reads a log"
        )
    try:
        fcntl.flock(port, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.ioctl(port, termios.TIOCEXCL)
        tty.setraw(port)
        attributes = termios.tcgetattr(port)
        attributes[2] |= termios.CLOCAL | termios.CREAD
        attributes[4] = attributes[5] = rate
        termios.tcsetattr(port, termios.TCSANOW, attributes)
        termios.tcflush(port, termios.TCIFLUSH)
    except BlockingIOError as error:
        os.close(port)
        raise LabError(f"another program holds the port{_named(name)}", where=name, hint=_BUSY_HINT) from error
    except (OSError, termios.error) as error:
        close_port(port)
        raise LabError(f"the port cannot be set up: {error.args[-1]}", where=name) from error
    return port


def close_port(port: int) -> None:
    """Let other programs open the port again, and close it."""
    # Another program that has it open would otherwise keep it exclusive.
    with suppress(OSError):
        fcntl.ioctl(port, termios.TIOCNXCL)
    os.close(port)


def programs_with(name: str) -> list[str]:
    """The other programs that have a port open, as far as this user may see them.

    The program at the other end of a pseudo-terminal is none of them.

    >>> programs_with("/dev/none")
    []
    """
    path = os.path.realpath(name)
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):
            open_files = set()
            for entry in (process / "fd").iterdir():
                with suppress(OSError):
                    open_files.add(str(entry.readlink()))
            if path in open_files and "/dev/ptmx" not in open_files and "/dev/pts/ptmx" not in open_files:
                found.append(f"{(process / 'comm').read_text().strip()} (process {process.name})")
    return sorted(found)


def _named(name: str) -> str:
    programs = programs_with(name)
    return f": {joined(programs, 3)}" if programs else ""


def _not_opened(name: str, error: OSError) -> LabError:
    if isinstance(error, PermissionError):
        hint = "`sudo usermod -a -G dialout $USER`, and log in again"
        return LabError("no permission to read the port", where=name, hint=hint)
    if isinstance(error, FileNotFoundError):
        kinds = "`tcp://HOST:PORT`, `rfc2217://HOST:PORT` and `pty` work as well"
        hint = f"`ls /dev/serial/by-id` lists the ports; {kinds}; a command follows `--`"
        return LabError("there is no such port, and no such command", where=name, hint=hint)
    if error.errno == errno.EBUSY:
        return LabError(f"another program holds the port{_named(name)}", where=name, hint=_BUSY_HINT)
    return LabError(f"the port cannot be opened: {error.strerror}", where=name, hint=_BUSY_HINT)
