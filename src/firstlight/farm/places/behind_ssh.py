"""A directory of another machine, by the user's own `ssh` and the SFTP server there.

A file is written under a temporary name in its folder. The rename of SFTP gives it its name: the server of OpenSSH
links and unlinks, so that it fails where another has the name. The rename of POSIX (`posix-rename@openssh.com`)
replaces a file. The configuration of `ssh` decides on access, keys and jump hosts.
"""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import uuid
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from firstlight.farm.places.clock import PlaceClock
from firstlight.farm.places.place import Fill, filled

_TEMPORARY = ".writing."
_MOST_SAID = 1 << 16


class BehindSsh:
    """See :class:`firstlight.farm.places.place.Place`.

    :param command: what is started to speak with the SFTP server, on standard input and output.
    """

    poll_s = 0.5

    def __init__(self, command: Sequence[str], path: str, where: str) -> None:
        import paramiko

        self._client_of = paramiko.SFTPClient
        self._failures = (EOFError, paramiko.SSHException, paramiko.SFTPError)
        self._command = command
        self._root = path
        self.where = where
        self._lock = threading.RLock()
        self._session: _Session | None = None
        self._clock = PlaceClock(self._ask_clock)

    def make(self, folders: list[str]) -> None:
        """Make the directory, readable by its owner alone, with its folders."""
        for path in (self._root, *map(self._of, folders)):
            # One that is there is an error of no kind of its own.
            self._do(partial(_make_directory, path), ignored=OSError)

    def is_empty(self) -> bool:
        """Whether nothing is there, or an empty directory."""
        return not self._do(lambda files: files.listdir(self._root), ignored=FileNotFoundError)

    def is_there(self) -> bool:
        """Whether the directory is there."""
        try:
            return bool(self._do(lambda files: stat.S_ISDIR(files.stat(self._root).st_mode or 0)))
        except OSError:
            return False

    def put(self, name: str, fill: Fill) -> bool:
        """Put a file by the rename of SFTP."""
        if self.has(name):
            return False
        with filled(fill) as made:
            temporary = self._temporary(name)
            try:
                self._do(lambda files: files.put(str(made), temporary))
                try:
                    self._do(lambda files: files.rename(temporary, self._of(name)))
                except OSError:
                    # The server gives no reason.
                    if self.has(name):
                        return False
                    raise
            finally:
                self._do(lambda files: files.remove(temporary), ignored=OSError)
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Write a file by the rename of POSIX."""
        temporary = self._temporary(name)

        def write(files: Any) -> None:
            with files.open(temporary, "wb") as file:
                file.write(content)
            files.posix_rename(temporary, self._of(name))

        try:
            self._do(write)
        except OSError:
            self._do(lambda files: files.remove(temporary), ignored=OSError)
            raise

    def read(self, name: str, most: int) -> bytes:
        """The first bytes of a file."""

        def read(files: Any) -> bytes:
            with files.open(self._of(name), "rb") as file:
                return bytes(file.read(most))

        found: bytes = self._do(read)
        return found

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file."""
        self._do(lambda files: files.get(self._of(name), str(target)))

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return self._do(lambda files: files.stat(self._of(name)), ignored=FileNotFoundError) is not None

    def names(self, folder: str) -> list[str]:
        """The names of a folder, temporary ones among them."""
        found: list[str] = self._do(lambda files: files.listdir(self._of(folder)))
        return found

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._do(lambda files: files.remove(self._of(name)))

    def age_s(self, name: str) -> float:
        """The difference of two times of that machine's file system."""
        return max(0.0, self._clock.now_s() - self._written(self._of(name)))

    def _of(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _temporary(self, name: str) -> str:
        folder, slash, _ = name.rpartition("/")
        return self._of(f"{folder}{slash}{_TEMPORARY}{uuid.uuid4().hex}")

    def _written(self, path: str) -> float:
        return float(self._do(lambda files: files.stat(path).st_mtime))

    def _ask_clock(self) -> float:
        path = f"{self._root}/.clock.{uuid.uuid4().hex}"

        def ask(files: Any) -> float:
            with files.open(path, "wb") as file:
                file.write(b"\n")
            try:
                return float(files.stat(path).st_mtime)
            finally:
                files.remove(path)

        found: float = self._do(ask)
        return found

    def _do(self, what: Callable[[Any], object], ignored: type[OSError] | None = None) -> Any:
        """Do something in the session; one that ended is begun anew, once.

        :param ignored: an error that gives `None`.
        """
        with self._lock:
            for is_last in (False, True):
                try:
                    return what(self._files())
                except (*self._failures, ConnectionError) as error:
                    said = self._end()
                    if is_last:
                        raise OSError(5, f"the connection ended: {said or error}") from error
                except OSError as error:
                    if ignored is None or not isinstance(error, ignored):
                        raise
                    return None
        raise AssertionError

    def _files(self) -> Any:
        if self._session is None:
            self._session = _Session(self._command, self._client_of)
            # For a place that is never closed.
            weakref.finalize(self, self._session.end)
        return self._session.client()

    def _end(self) -> str | None:
        """End the session; returns what `ssh` said last."""
        session, self._session = self._session, None
        return None if session is None else session.end()


class _Session:
    """A program that speaks with an SFTP server, and the client on this side of it."""

    def __init__(self, command: Sequence[str], client_of: Callable[[Any], Any]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  it is closed with the session
        self._socket, theirs = socket.socketpair()
        with theirs:
            end = theirs.fileno()
            # It ends by itself when this program ends, and with it the socket.
            self._child = subprocess.Popen(command, stdin=end, stdout=end, stderr=self._said, start_new_session=True)
        self._client_of = client_of
        self._client: Any = None
        self._is_over = False

    def client(self) -> Any:
        """The client; the first time, it greets the server."""
        if self._client is None:
            self._client = self._client_of(_Channel(self._socket))
        return self._client

    def end(self) -> str | None:
        """End it; returns what the program said last."""
        if self._is_over:
            return None
        self._is_over = True
        self._socket.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # One that could not connect has said why.
            self._child.wait(timeout=1)
        self._child.kill()
        self._child.wait()
        with self._said as said:
            said.seek(0)
            lines = said.read(_MOST_SAID).decode(errors="replace").splitlines()
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), None)


def _make_directory(path: str, files: Any) -> None:
    files.mkdir(path, 0o700)


class _Channel:
    """A socket as the client of SFTP uses it."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours

    def send(self, content: bytes) -> int:
        """Send some of it; returns how much."""
        return self._socket.send(content)

    def recv(self, most: int) -> bytes:
        """Receive some bytes; none at the end."""
        return self._socket.recv(most)

    def recv_ready(self) -> bool:
        """Whether something can be received at once."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def get_name(self) -> str:
        """The name, for a log."""
        return "ssh"

    def close(self) -> None:
        """End it."""
        self._socket.close()


def ssh_command(host: str, user: str | None, port: int | None) -> list[str]:
    """The command that speaks SFTP with a machine; it asks no question.

    >>> ssh_command("lab2", None, 2222)[-5:]
    ['-p', '2222', '--', 'lab2', 'sftp']
    """
    program = shutil.which("ssh") or "ssh"
    words = [program, "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "-s"]
    return [*words, *(["-l", user] if user else []), *(["-p", str(port)] if port else []), "--", host, "sftp"]
