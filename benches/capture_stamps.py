"""How late the stamps of a console are: Firstlight's reader beside labgrid's serial driver and grabserial, in one run.

    python benches/capture_stamps.py [--load N] [--rounds N] [--grabserial PROGRAM]

A child imitates a UART: it writes lines of one FIFO at the pace of the baud rate into a pseudo-terminal and notes the
instants before and after each write. Like an interrupt, it has a priority above those of all readers, where the system
allows that. Each round gives every reader a port of its own, one after the other and each time in another order, so
that all of them meet the same load. Lateness is counted from the instant before the write. The stamps:

- Firstlight: of the thread that `firstlight capture` reads with, without and with `--awake`;
- labgrid: the instant at which `SerialDriver.read` returns, which is the earliest that a strategy can know;
- grabserial: the system time that `grabserial --systime` prints before each line.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import pty
import shutil
import statistics
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable
from pathlib import Path

from measuring.figures import title

from firstlight.lab.capture.awake import kept_awake
from firstlight.lab.capture.reader import Chunk, StampingReader
from firstlight.lab.capture.self_test import FIFO_BYTES, lateness, write_paced

BAUD, LINES, SETTLE_S, ENOUGH_S = 115_200, 700, 1.0, 60.0

LABGRID = """
import sys, time
from labgrid import Target
from labgrid.driver import SerialDriver
from labgrid.resource import RawSerialPort
from pexpect import TIMEOUT
target = Target("board")
RawSerialPort(target, name=None, port=sys.argv[1], speed=int(sys.argv[2]))
driver = SerialDriver(target, name=None)
target.activate(driver)
left, taken = int(sys.argv[3]), []
while left > 0:
    try:
        content = driver.read(timeout=1.0)
    except TIMEOUT:
        continue
    taken.append((time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), len(content)))
    left -= len(content)
for instant, size in taken:
    print(instant, size)
"""

Late = list[int]


def busy(count: int) -> list[subprocess.Popen[bytes]]:
    """Processes that each keep a processor busy."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def write(descriptor: int) -> list[tuple[int, int]]:
    """Write all lines, as soon as the reader has had time to settle; the instants before each write."""
    time.sleep(SETTLE_S)
    return write_paced(descriptor, LINES, BAUD)


def wait_for_open(process: int, port: str) -> None:
    """Wait until a process has opened a port."""
    end = time.monotonic() + ENOUGH_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if any(each.samefile(port) for each in Path(f"/proc/{process}/fd").iterdir() if each.exists()):
                return
        time.sleep(0.05)
    raise TimeoutError(f"{process} did not open {port}")


def by_firstlight(reads: int, writes: int, _grabserial: str) -> Late:
    """The reader of captures."""
    reader = StampingReader(reads)
    reader.start()
    written = write(writes)
    taken: list[Chunk] = []
    while sum(len(content) for _, content in taken) < LINES * FIFO_BYTES:
        taken.append(reader.chunks.get(timeout=ENOUGH_S))
    reader.stop()
    return lateness([monotonic for monotonic, _ in written], taken)


def by_labgrid(reads: int, writes: int, _grabserial: str) -> Late:
    """labgrid's driver of serial ports."""
    port = os.ttyname(reads)
    words = [port, str(BAUD), str(LINES * FIFO_BYTES)]
    with subprocess.Popen([sys.executable, "-c", LABGRID, *words], stdout=subprocess.PIPE, text=True) as reader:
        wait_for_open(reader.pid, port)
        written = write(writes)
        out, _ = reader.communicate(timeout=ENOUGH_S)
    taken = [(int(instant), b"x" * int(size)) for instant, size in (line.split() for line in out.splitlines())]
    return lateness([monotonic for monotonic, _ in written], taken)


def by_grabserial(reads: int, writes: int, grabserial: str) -> Late:
    """grabserial, which prints the time of each line."""
    port = os.ttyname(reads)
    words = [grabserial, "-S", "-d", port, "-b", str(BAUD), "-T", "-F", "%Y-%m-%dT%H:%M:%S.%f"]
    with subprocess.Popen([*words, "-Q", "-o", "/dev/stdout"], stdout=subprocess.PIPE, text=True) as reader:
        lines: list[str] = []
        thread = threading.Thread(target=lambda: lines.extend(reader.stdout or ()), daemon=True)
        thread.start()
        wait_for_open(reader.pid, port)
        written = write(writes)
        end = time.monotonic() + ENOUGH_S
        while len(lines) < LINES and time.monotonic() < end:
            time.sleep(0.1)
        reader.terminate()
        thread.join()
    late = []
    for line in lines:
        stamp, _, text = line.removeprefix("[").partition("] ")
        if text.strip().isdecimal():
            instant_ns = round(datetime.datetime.fromisoformat(stamp.split()[0]).timestamp() * 10**6) * 1000
            late.append(instant_ns - written[int(text)][1])
    return late


def by_firstlight_awake(reads: int, writes: int, grabserial: str) -> Late:
    """The same reader, while the processors are kept awake."""
    with kept_awake(wanted=True):
        return by_firstlight(reads, writes, grabserial)


READERS: dict[str, Callable[[int, int, str], Late]] = {
    "firstlight": by_firstlight, "  --awake": by_firstlight_awake, "labgrid": by_labgrid, "grabserial": by_grabserial,
}  # fmt: skip


def measure(read: Callable[[int, int, str], Late], grabserial: str) -> Late:
    """How late each line of a new port is stamped, in nanoseconds."""
    writes, reads = pty.openpty()
    tty.setraw(reads)
    tty.setraw(writes)
    try:
        late = read(reads, writes, grabserial)
    finally:
        os.close(writes)
        os.close(reads)
    assert len(late) == LINES, f"{len(late)} of {LINES} lines were stamped"
    return late


def main() -> None:
    """Measure all readers in every round and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", type=int, default=0, help="busy processes beside it (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="ports for each reader (default: %(default)s)")
    default = Path(__file__).parents[1] / ".build/grabserial/bin/grabserial"
    parser.add_argument(
        "--grabserial", default=str(default), help="the program (default: `make capture-stamps` has it)"
    )
    options = parser.parse_args()
    readers = dict(READERS)
    if shutil.which(options.grabserial) is None:
        print("grabserial is not installed; hint: make capture-stamps")
        del readers["grabserial"]
    title(f"Lateness of stamps at {BAUD:,} baud beside {options.load} busy processes, ms")
    late: dict[str, Late] = {name: [] for name in readers}
    processes = busy(options.load)
    try:
        for number in range(options.rounds):
            names = list(readers)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                late[name] += measure(readers[name], options.grabserial)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    limit = 0.3 if options.load == 0 else 5.0
    print(f"{'':12}{'p50':>10}{'p90':>10}{'p99':>10}{'max':>10}   lines")
    for name, each in late.items():
        cuts = statistics.quantiles(each, n=100, method="inclusive")
        figures = "".join(f"{value / 1e6:>10.3f}" for value in (cuts[49], cuts[89], cuts[98], max(each)))
        wanted = f"   (p99 at most {limit})" if name in ("firstlight", "  --awake") else ""
        print(f"{name:12}{figures}   {len(each):,}{wanted}")


if __name__ == "__main__":
    main()
