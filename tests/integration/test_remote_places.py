"""Boots of a board in a labgrid place: a coordinator and an exporter share its port and its power."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import firstlight
from emulated_board import Board, emulated

PROGRAMS = Path(sys.executable).parent
ENOUGH_S = 60.0


@contextmanager
def bridged(port: str) -> Iterator[int]:
    """A board's port as raw TCP on this machine, as ser2net offers it; the number of the TCP port."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            if not select.select([listener], [], [], 0.1)[0]:
                continue
            connection, _ = listener.accept()
            descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
            with connection, suppress(OSError):
                while not stop.is_set():
                    ready, _, _ = select.select([connection.fileno(), descriptor], [], [], 0.1)
                    if descriptor in ready:
                        connection.sendall(os.read(descriptor, 4096))
                    if connection.fileno() in ready:
                        content = connection.recv(4096)
                        if not content:
                            break
                        os.write(descriptor, content)
            os.close(descriptor)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        stop.set()
        thread.join()
        listener.close()


@dataclass
class Lab:
    """A coordinator with one exporter, in a folder of its own."""

    folder: Path
    address: str

    def client(self, *words: str) -> str:
        """What `labgrid-client` prints."""
        done = subprocess.run(
            [PROGRAMS / "labgrid-client", "-x", self.address, *words],
            capture_output=True,
            text=True,
            timeout=ENOUGH_S,
            check=True,
        )
        return done.stdout

    def environment(self, place: str) -> Path:
        """The environment file of a person who works with a place."""
        path = self.folder / f"{place}.yaml"
        path.write_text(f"""\
options: {{coordinator_address: '{self.address}'}}
targets:
  main:
    resources:
      RemotePlace: {{name: {place}}}
    drivers:
      - NetworkPowerDriver: {{delay: 0.1}}
      - StampedSerialDriver: {{}}
      - BootTimingStrategy: {{ready: 'login: ', timeout: 20.0, off_s: 0.05, power_timeout: 20.0}}
imports: [firstlight.lab.board.labgrid_drivers]
""")
        return path


@contextmanager
def lab(board: Board, folder: Path) -> Iterator[Lab]:
    """A lab that exports a board's port and power as the group `shelf`, which the place `board` has."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with bridged(board.port) as port:
        (folder / "exports.yaml").write_text(f"""\
shelf:
  NetworkSerialPort: {{host: 127.0.0.1, port: {port}, speed: 115200, protocol: raw}}
  NetworkPowerPort: {{model: rest, host: '{board.url}', index: 1}}
""")
        services = []
        try:
            for name, words in (
                ("labgrid-coordinator", ["-l", address]),
                ("labgrid-exporter", ["-c", address, "--name", "lab", "--hostname", "127.0.0.1", "exports.yaml"]),
            ):
                with (folder / f"{name}.log").open("wb") as log:
                    services.append(subprocess.Popen([PROGRAMS / name, *words], cwd=folder, stdout=log, stderr=log))
                if name == "labgrid-coordinator":
                    _wait_for_port(address)
            made = Lab(folder, address)
            _wait_until(lambda: "NetworkSerialPort" in made.client("resources"))
            made.client("-p", "board", "create")
            made.client("-p", "board", "add-match", "lab/shelf/*")
            yield made
        finally:
            for service in services:
                service.terminate()
                service.wait()


def _wait_for_port(address: str) -> None:
    host, port = address.split(":")

    def answers() -> bool:
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return True
        return False

    _wait_until(answers)


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + ENOUGH_S
    while not condition():
        assert time.monotonic() < end, "the lab did not start"
        time.sleep(0.2)


def in_a_process(code: str, *words: Path) -> list[str]:
    """The lines that Python prints in a process of its own: here, labgrid would find the event loop of other tests."""
    command = [sys.executable, "-c", f"import sys\nimport firstlight\n{code}", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * ENOUGH_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


TRY = """
from pathlib import Path
def attempt(environment, bundle):
    try:
        print(len(firstlight.record_board(Path(environment), Path(bundle)).boots))
    except firstlight.FirstlightError as error:
        print(error.message, "|", error.hint)
"""


def test_a_board_in_a_place_is_booted_by_whoever_has_acquired_it(tmp_path: Path) -> None:
    with emulated(Board()) as board, lab(board, tmp_path) as shelf:
        shelf.client("-p", "board", "acquire")
        environment = shelf.environment("board")
        command = ["record", "--board", environment, "--repeat", "2", "-o", tmp_path / "a"]
        subprocess.run([PROGRAMS / "firstlight", *map(str, command)], timeout=2 * ENOUGH_S, check=True)
    for number in (1, 2):
        boot = firstlight.open(tmp_path / f"a/{number}.boot")
        assert list(boot.marks()["mark"])[-1] == "ready"
        assert boot.manifest.completeness.complete


def test_a_place_is_looked_up_anew_for_each_board(tmp_path: Path) -> None:
    with emulated(Board()) as board, lab(board, tmp_path) as shelf:
        here, nowhere = shelf.environment("board"), shelf.environment("nowhere")
        code = f"""{TRY}
import subprocess
attempt(sys.argv[1], sys.argv[3])
client = ["{PROGRAMS}/labgrid-client", "-x", "{shelf.address}", "-p", "board"]
subprocess.run([*client, "acquire"], stdout=subprocess.DEVNULL, check=True)
attempt(sys.argv[1], sys.argv[3])
attempt(sys.argv[2], sys.argv[3] + "2")
"""
        first, second, third = in_a_process(code, here, nowhere, tmp_path / "a.boot")
    assert "place board is not acquired | acquire the place with `labgrid-client -p PLACE acquire`" in first
    assert second == "1"
    assert "nowhere matches nothing | `labgrid-client places` lists the places of the coordinator" in third
    (last,) = in_a_process(f"{TRY}attempt(sys.argv[1], sys.argv[2])", here, tmp_path / "b.boot")
    assert "Could not connect to coordinator" in last
    assert "LG_COORDINATOR" in last
