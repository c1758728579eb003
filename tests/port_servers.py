"""Servers of a console on this machine: raw TCP, and RFC 2217 by pyserial's own server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Served:
    """A console that is offered, and what the server learned from its client."""

    name: str = ""
    typed: bytearray = field(default_factory=bytearray)
    port: Any = None
    """pyserial's port behind RFC 2217, with the settings that the client asked for."""


class _Connection:
    """What pyserial's server writes its answers to."""

    def __init__(self, connection: socket.socket) -> None:
        self.write = connection.sendall


@contextmanager
def served(console: bytes, *, telnet: bool = False, piece: int = 7) -> Iterator[Served]:
    """Offer a console on a port of this machine; it prints once, to the first client.

    :param telnet: by RFC 2217.
    :param piece: bytes that are sent at once: commands and escapes are cut in the middle.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    what = Served(f"{'rfc2217' if telnet else 'tcp'}://127.0.0.1:{listener.getsockname()[1]}")

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                stream, filtered = console, _raw
                if telnet:
                    import serial
                    import serial.rfc2217

                    what.port = serial.serial_for_url("loop://")
                    manager = serial.rfc2217.PortManager(what.port, _Connection(connection))
                    stream, filtered = b"".join(manager.escape(console)), manager.filter
                    connection.settimeout(0.3)
                    with suppress(TimeoutError):
                        # The client's settings come first.
                        while content := connection.recv(1000):
                            what.typed += b"".join(filtered(content))
                for start in range(0, len(stream), piece):
                    connection.sendall(stream[start : start + piece])
                connection.settimeout(5.0)
                with suppress(TimeoutError):
                    while content := connection.recv(1000):
                        what.typed += b"".join(filtered(content))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield what
    finally:
        listener.close()
        thread.join(10)


def _raw(content: bytes) -> list[bytes]:
    return [content]
