"""A board without hardware: a console behind a paced pseudo-terminal, and a relay by HTTP that switches its power."""

from __future__ import annotations

import os
import pty
import select
import shlex
import sys
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BOOT = b"""\
U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)\r
Starting kernel ...\r
[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP\r
[    0.010000] widget: ready\r
camera 0 up\r
box login: """

STOP = b"Hit any key to stop autoboot:  2 "


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
    delay_s: float = 0.0
    """How long the relay takes to answer, in seconds."""
    hangs: frozenset[int] = frozenset()
    """The power-ons, from 1, after which it prints no more than the first half."""
    loader: bool = False
    """Its boot loader waits for a key, and has a prompt."""
    power_ons: int = 0
    typed: bytes = b""
    """What was typed at the boot loader."""
    port: str = field(init=False)
    url: str = field(init=False)
    """Of the relay, as labgrid's model `rest` takes it."""
    power: str = field(init=False)
    """The command that switches the power on."""
    power_off: str = field(init=False)
    powered: threading.Event = field(default_factory=threading.Event)

    def on(self, descriptor: int) -> None:
        """Print the console, sixteen bytes at a time, at 921,600 baud."""
        self.power_ons += 1
        number = self.power_ons
        time.sleep(self.rom_s)
        if self.loader and self._talks(descriptor):
            return
        content = self.console[: len(self.console) // 2] if number in self.hangs else self.console
        self._print(descriptor, content)

    def _print(self, descriptor: int, content: bytes) -> None:
        for start in range(0, len(content), 16):
            if not self.powered.is_set():
                return
            os.write(descriptor, content[start : start + 16])
            time.sleep(16 * 10 / 921600)

    def _talks(self, descriptor: int) -> bool:
        """The boot loader; true when the power went."""
        self._print(descriptor, STOP)
        if not self._typed(descriptor, 0.3):
            return not self.powered.is_set()
        line = b""
        while line != b"boot":
            self._print(descriptor, b"\r\n=> ")
            if (typed := self._typed(descriptor, 5.0)) is None:
                return True
            line = typed.rstrip(b"\n")
            self.typed += line + b"\n"
        return not self.powered.is_set()

    def _typed(self, descriptor: int, seconds: float) -> bytes | None:
        if not select.select([descriptor], [], [], seconds)[0]:
            return None
        return os.read(descriptor, 1000)

    def file(self, path: Path, **more: str | float) -> Path:
        """Write a board file; returns its path."""
        said: dict[str, str | float] = {
            "console": self.port,
            "power-on": self.power,
            "power-off": self.power_off,
            "off-seconds": 0.05,
            "ready": "login: ",
            "timeout": 1.0,
            **more,
        }
        text = "".join(f"{name} = {_toml(value)}\n" for name, value in said.items())
        path.write_text(text + ("[loader]\n" if self.loader else "") + "[marks]\ncamera = 'camera [0-9] up'\n")
        return path


def _toml(value: str | float) -> str:
    return f"'''{value}'''" if isinstance(value, str) else str(value)


@contextmanager
def emulated(board: Board) -> Iterator[Board]:
    """A board whose relay and console exist for the block."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    printing: list[threading.Thread] = []

    class Relay(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            value = self.rfile.read(int(self.headers["content-length"]))
            time.sleep(board.delay_s)
            with suppress(OSError):
                self.send_response(board.status)
                self.end_headers()
            if board.status != 200:
                return
            if value == b"0":
                board.powered.clear()
            elif value == b"1" and not board.powered.is_set():
                for thread in printing:
                    thread.join()
                board.powered.set()
                printing.append(threading.Thread(target=board.on, args=(master,)))
                printing[-1].start()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    board.url = f"http://127.0.0.1:{server.server_port}/relay/{{index}}/value"
    place = board.url.format(index=1)

    def command(value: str) -> str:
        request = f"import urllib.request as u; u.urlopen(u.Request('{place}', b'{value}', method='PUT'))"
        return shlex.join([sys.executable, "-I", "-c", request])

    board.port, board.power, board.power_off = os.ttyname(slave), command("1"), command("0")
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
