"""A child process that ends with its parent."""

from __future__ import annotations

import os
import queue
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Self

from firstlight.errors import LabError
from firstlight.lab.host.landlock import Access, restrict


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    exit_code: int
    """Negative: the signal that ended it."""
    cpu_s: float
    """User and system time of all its threads, seconds."""
    max_rss_kib: int

    @property
    def killed_by(self) -> str | None:
        """The signal's name, when a signal ended it."""
        if self.exit_code >= 0:
            return None
        try:
            return signal.Signals(-self.exit_code).name
        except ValueError:
            return f"signal {-self.exit_code}"


@dataclass(frozen=True)
class Confined:
    """What a program may use of this machine."""

    allowed: Mapping[Path, Access]
    """The files, and what may be done to them."""
    offline: bool = True
    """No TCP."""


def ended_with_us(signal_name: str) -> list[str]:
    """What goes before a command so that the kernel sends it a signal when this program ends, however it ends.

    `setpriv --pdeathsig` (util-linux) asks for it, and turns into the command; nothing of ours runs between fork and
    exec, where Python code is unsafe in a process with threads. Nothing where it is not installed.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", signal_name, "--"] if setpriv is not None else []


def _start(command: Sequence[str], output: BinaryIO) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=Path(output.name).parent,
        # What a confined program may write is there; QEMU keeps what the guest writes to a disk in such a file.
        env={**os.environ, "TMPDIR": str(Path(output.name).parent)},
    )


class Process:
    """A program in a session of its own, which ends with this object, and with this program.

    The session keeps a Ctrl-C at the terminal from reaching the program before us. That even `kill -9` of
    ourselves leaves nothing behind is the kernel's work.

    :param command: the program and its arguments.
    :param log: the file for everything it says.
    :param confined: what it may use, by Landlock; nothing: all that the user may.
    """

    def __init__(self, command: Sequence[str], log: Path, confined: Confined | None = None) -> None:
        self.started = time.monotonic()
        self._over = threading.Event()
        try:
            with log.open("wb") as output:
                words = [*ended_with_us("KILL"), *command]
                self._child = self._start_confined(words, output, confined) if confined else _start(words, output)
        except OSError as error:
            raise LabError(f"it cannot be started: {error.strerror}", where=command[0]) from error
        self.pid = self._child.pid
        self.ended: Ended | None = None
        self._handle = os.pidfd_open(self.pid)

    def _start_confined(self, command: Sequence[str], output: BinaryIO, confined: Confined) -> subprocess.Popen[bytes]:
        """Start it from a thread that gave up all other files before: a child has the rights of its thread.

        The kernel's signal at our end is sent at the end of that thread already, so that it waits for the child's.
        """
        started: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()

        def start() -> None:
            try:
                restrict(confined.allowed, offline=confined.offline)
                started.put(_start(command, output))
            except OSError as error:
                started.put(error)
                return
            self._over.wait()

        threading.Thread(target=start, name="confined", daemon=True).start()
        child = started.get()
        if isinstance(child, OSError):
            raise child
        return child

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(grace_s=0)
        self._over.set()
        os.close(self._handle)

    @property
    def running_s(self) -> float:
        """Wall time since the start, seconds."""
        return time.monotonic() - self.started

    def wait(self, timeout_s: float) -> Ended | None:
        """Wait for the end, at most so long; `None` when it still runs."""
        if self.ended is None and select.select([self._handle], [], [], max(0.0, timeout_s))[0]:
            _, status, usage = os.wait4(self.pid, 0)
            self._child.returncode = os.waitstatus_to_exitcode(status)
            self.ended = Ended(self._child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
        return self.ended

    def cpu_s(self) -> float:
        """CPU time so far, seconds; from `/proc/PID/stat`, as the kernel counts it."""
        if self.ended is not None:
            return self.ended.cpu_s
        fields = self._stat()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it (SIGSTOP, a debugger)."""
        return self._stat()[:1] in (["T"], ["t"])

    def _stat(self) -> list[str]:
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return []
        return text.rpartition(")")[2].split()

    def end(self, grace_s: float = 10.0) -> Ended:
        """End it: politely, so that the plugin writes its profile, then by force."""
        if self.ended is None and grace_s > 0:
            self._signal(signal.SIGTERM)
            # One that somebody stopped hears nothing before it goes on.
            self._signal(signal.SIGCONT)
            self.wait(grace_s)
        if self.ended is None:
            self._signal(signal.SIGKILL)
        while (ended := self.wait(10.0)) is None:
            continue
        return ended

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within it, SIGTERM and SIGHUP raise `KeyboardInterrupt` as Ctrl-C does, so that what was begun is undone.

    Only the main thread may do this; in another it does nothing.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = {}
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            former[number] = signal.signal(number, interrupt)
    except ValueError:
        pass
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
