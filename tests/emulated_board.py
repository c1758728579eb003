"""A board without hardware: a console behind a paced pseudo-terminal, and a relay by HTTP that switches its power."""

from __future__ import annotations

import os
import pty
import shlex
import sys
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BOOT = b"""\
U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)\r
Starting kernel ...\r
[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP\r
[    0.010000] widget: ready\r
camera 0 up\r
box login: """


@dataclass
class Board:
    """Prints its console each time that the power comes."""

    console: bytes = BOOT
    rom_s: float = 0.05
    """How long it is silent after power-on, in seconds."""
    before: bytes = b""
    """What it prints without being switched on."""
    status: int = 200
    """What the relay answers."""
    port: str = field(init=False)
    power: str = field(init=False)
    """The command that switches the power on."""

    def on(self, descriptor: int) -> None:
        """Print the console, sixteen bytes at a time, at 921,600 baud."""
        time.sleep(self.rom_s)
        for start in range(0, len(self.console), 16):
            os.write(descriptor, self.console[start : start + 16])
            time.sleep(16 * 10 / 921600)


@contextmanager
def emulated(board: Board) -> Iterator[Board]:
    """A board whose relay and console exist for the block."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    printing: list[threading.Thread] = []

    class Relay(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_response(board.status)
            self.end_headers()
            if board.status == 200:
                printing.append(threading.Thread(target=board.on, args=(master,)))
                printing[-1].start()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    request = (
        "import urllib.request as u; "
        f"u.urlopen(u.Request('http://127.0.0.1:{server.server_port}/relay/1', b'1', method='PUT'))"
    )
    board.port, board.power = os.ttyname(slave), shlex.join([sys.executable, "-I", "-c", request])
    ended = threading.Event()

    def by_itself() -> None:
        while board.before and not ended.wait(0.02):
            with suppress(OSError):
                os.write(master, board.before)

    noise = threading.Thread(target=by_itself)
    noise.start()
    try:
        yield board
    finally:
        ended.set()
        for thread in [noise, *printing]:
            thread.join()
        server.shutdown()
        server.server_close()
        os.close(master)
        os.close(slave)
