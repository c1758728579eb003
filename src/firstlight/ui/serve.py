"""The server of the browser: it listens on the loopback interface alone."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from firstlight.errors import FirstlightError, UsageError
from firstlight.escape import escape_html
from firstlight.ui.app import application
from firstlight.ui.fence import Access
from firstlight.ui.folder import Folder

#: The port where none is named; if it is taken, the system chooses one.
PORT = 8437
_HOST = "127.0.0.1"


def serve(
    directory: Path, port: int | None = None, *, browser: bool = True, ready: Callable[[Access], None] | None = None
) -> None:
    """Serve the browser until it is interrupted.

    :param port: the port to listen on; by default 8437, or a free one.
    :param browser: open the browser of the user.
    :param ready: is called when the server listens.
    :raises UsageError: when there is no such directory.
    :raises FirstlightError: when the port is taken.
    """
    folder = Folder(directory)
    with _listening(port) as listener:
        access = Access(listener.getsockname()[1])
        server = _server(folder, access)
        if ready is not None:
            ready(access)
        with _opened(access, browser):
            server.run(sockets=[listener])


@contextmanager
def running(directory: Path, port: int = 0) -> Iterator[Access]:
    """The browser in a thread of this process, for tests and scripts; it listens when the block begins.

    >>> import urllib.request
    >>> with running(bundle.parent) as access:
    ...     urllib.request.urlopen(access.address).status
    200
    """
    with _listening(port) as listener:
        access = Access(listener.getsockname()[1])
        server = _server(Folder(directory), access)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield access
        finally:
            server.should_exit = True
            thread.join(10)


def _server(folder: Folder, access: Access) -> uvicorn.Server:
    config = uvicorn.Config(
        application(folder, access),
        # Written in Python alone: what it takes from a hostile peer is bounded below.
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        access_log=False,
        log_level="warning",
        # Nothing in front of it may say where a request comes from.
        proxy_headers=False,
        server_header=False,
        limit_concurrency=64,
        h11_max_incomplete_event_size=64 << 10,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


@contextmanager
def _listening(port: int | None) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, PORT if port is None else port))
        except PermissionError as error:
            raise UsageError(
                f"port {port} is reserved for the system", where="--port", hint="give a port above 1023"
            ) from error
        except OverflowError as error:
            raise UsageError(f"{port} is not a port", where="--port", hint="ports go from 0 to 65535") from error
        except OSError as error:
            if port is not None:
                hint = "give another port, or leave `--port` out"
                raise FirstlightError(f"port {port} is taken: {error.strerror}", where="--port", hint=hint) from error
            listener.bind((_HOST, 0))
        listener.listen(128)
        yield listener
    finally:
        listener.close()


@contextmanager
def _opened(access: Access, wanted: bool) -> Iterator[None]:
    """Open the browser by a file that only this user can read: arguments of programs are for all to see."""
    if not wanted:
        yield
        return
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    place = runtime if runtime and Path(runtime).is_dir() else None
    with tempfile.TemporaryDirectory(prefix="firstlight-ui-", dir=place) as directory:
        file = Path(directory) / "open.html"
        address = escape_html(access.address)
        file.touch(0o600)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><title>Firstlight</title>'
            '<meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Firstlight</a>\n'
        )
        opener = threading.Thread(target=_open, args=(file.as_uri(),), daemon=True)
        opener.start()
        yield


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
