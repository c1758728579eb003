"""Captures under bad conditions: marks of boots with noise, cuts and resets, and captures that are killed.

    python benches/capture.py marks [--boots N]     # emulated boots in simulated time
    python benches/capture.py kills [--times N]     # captures that are killed at random points

Each boot of `marks` is a capture file with invented times: line noise between its lines, pieces that are lost, and a
reset in its middle, by the power or by a watchdog. A mark whose line came through has to be there once. One whose line
was lost must not be there. After a watchdog's reset the last start counts.

Each capture of `kills` reads numbered lines from a pipe and is killed by SIGKILL at a random instant. Every line that
the file has in full has to be in the imported boot, in order and without a gap.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import tempfile
import time
from pathlib import Path

import firstlight
from firstlight.lab.capture.file import CaptureFile

WANTED = {"ready": "application started", "camera": "camera [0-9] up", "network": "eth0: link up"}
LINES = (
    "U-Boot 2024.01 (Jan 02 2024 - 03:04:05 +0000)",
    "Starting kernel ...",
    "[    0.000000] Linux version 6.12.1-test (a@b) (gcc 14) #7 SMP",
    "[    0.010000] gizmo: bound",
    "[    0.200000] eth0: link up",
    "[    0.300000] widget: bound",
    "camera 0 up",
    "[    0.500000] gadget: done",
    "application started",
)


def one(directory: Path, dice: random.Random) -> tuple[int, int]:
    """How many marks of an invented boot are lost, and how many are there that should not be."""
    record, now = directory / "a.capture.bin", 10**9
    truth: dict[str, int] = {}
    record.unlink(missing_ok=True)
    watchdog = dice.random() < 0.5
    with CaptureFile(record) as file:
        for end in [dice.randrange(4, len(LINES)), len(LINES)] if dice.random() < 0.3 else [len(LINES)]:
            # After a reset, what came before does not count.
            start, truth = now, {}
            if not watchdog or start == 10**9:
                file.event("power_on_begin", now)
                file.event("power_on_end", now + 3_000_000)
            for line in LINES[:end]:
                now += dice.randrange(5_000_000, 300_000_000)
                if dice.random() < 0.2:
                    file.data(now, bytes(dice.choices(range(128, 255), k=dice.randrange(1, 40))) + b"\r\n")
                    now += 1_000_000
                if line != LINES[2] and dice.random() < 0.05:
                    continue
                content = line.encode() + b"\r\n"
                cut = dice.randrange(1, len(content))
                file.data(now, content[:cut])
                file.data(now + 1_000_000, content[cut:])
                name = {LINES[4]: "network", LINES[6]: "camera", LINES[8]: "ready"}.get(line)
                if name is not None:
                    truth[name] = now - start
        file.event("end closed", now)
    boot = firstlight.import_(
        record,
        output=directory / "a.boot",
        force=True,
        boot=-1,
        ready=WANTED["ready"],
        marks=[f"{name}={pattern}" for name, pattern in WANTED.items() if name != "ready"],
    )
    found = [name for name in boot.marks()["mark"] if name in WANTED]
    lost = sum(found.count(name) == 0 for name in truth)
    return lost, sum(found.count(name) > (name in truth) for name in WANTED)


def marks(boots: int) -> None:
    """Print how many marks were lost or doubled."""
    dice = random.Random(25)
    with tempfile.TemporaryDirectory() as directory:
        results = [one(Path(directory), dice) for _ in range(boots)]
    lost, more = (sum(column) for column in zip(*results, strict=True))
    print(f"{boots} emulated boots with noise, cuts and resets: {lost} marks lost, {more} doubled or wrong")


def killed(record: Path, dice: random.Random) -> tuple[int, int]:
    """How many lines the file of a killed capture has in full, and how many of them the imported boot has."""
    from firstlight.lab.capture.session import CaptureOptions, run_capture

    record.unlink(missing_ok=True)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(read, 0)
        os.close(write)
        run_capture(CaptureOptions(source="-", baud=921600), record)
        os._exit(0)
    os.close(read)
    while not record.exists():
        time.sleep(0.005)
    end, number = time.monotonic() + dice.uniform(0.05, 0.4), 0
    while time.monotonic() < end:
        os.write(write, b"[%12.6f] gizmo: line %d\n" % (number / 1000, number))
        number += 1
        time.sleep(dice.uniform(0, 0.002))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(write)
    content = record.read_bytes()
    written = len(re.findall(rb"gizmo: line \d+\n", content))
    if b"\ndata " not in content:
        return 0, 0
    boot = firstlight.import_(record, output=record.with_name("killed.boot"), force=True)
    kept = [text for text in boot.log()["text"] if text.startswith("gizmo: line ")]
    expected = [f"gizmo: line {place}" for place in range(written)]
    return written, written if kept[:written] == expected else 0


def kills(times: int) -> None:
    """Print how many killed captures are readable up to their last line."""
    dice = random.Random(26)
    with tempfile.TemporaryDirectory() as directory:
        results = [killed(Path(directory) / "a.capture.bin", dice) for _ in range(times)]
    whole = sum(written == kept for written, kept in results)
    lines, early = sum(written for written, _ in results), sum(written == 0 for written, _ in results)
    print(f"{times} captures killed at random points: {whole} readable to their last line ({lines} lines)")
    print(f"{early} of them were killed before their first line")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["marks", "kills"])
    parser.add_argument("--boots", type=int, default=1000)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    if options.what == "marks":
        marks(options.boots)
    else:
        kills(options.times)


if __name__ == "__main__":
    main()
