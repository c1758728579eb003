"""How many boots of 600 parts a fleet takes in for each second of the processor."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import firstlight

PARTS = 600
WANTED = 400


def main() -> None:
    """Import one log, copy its bundle with other times of recording, add all, and print the rate.

    What is loaded once in a process is printed apart: one boot comes into another fleet first.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boots", type=int, default=1500, help="how many (default: %(default)s)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as temporary:
        directory = Path(temporary)
        first = directory / "boots" / "0.boot"
        first.parent.mkdir()
        (directory / "log.txt").write_text(_log())
        firstlight.import_(directory / "log.txt", output=first)
        manifest = json.loads((first / "manifest.json").read_text())
        provenance = json.loads((first / "provenance.json").read_text())
        for number in range(1, given.boots):
            copy = shutil.copytree(first, first.with_name(f"{number}.boot"))
            minute, second = divmod(number, 60)
            provenance["recorded_at"] = f"2026-11-{1 + number % 20:02d}T00:{minute % 60:02d}:{second:02d}+00:00"
            manifest["versions"] = {"log": str(number)}
            (copy / "manifest.json").write_text(json.dumps(manifest))
            (copy / "provenance.json").write_text(json.dumps(provenance))
        firstlight.init_fleet(directory / "loaded")
        begun = time.process_time()
        firstlight.add_to_fleet(directory / "loaded", [first], {"model": "A"})
        loading_s = time.process_time() - begun
        firstlight.init_fleet(directory / "fleet")
        begun = time.process_time()
        done = firstlight.add_to_fleet(directory / "fleet", [first.parent], {"model": "A"})
        rate = done.added / (time.process_time() - begun)
    print(f"{done.added} boots of {PARTS} parts: {rate:.0f} for each second of the processor; wanted {WANTED}")
    print(f"before them the first boot of the process: {loading_s:.2f} s of CPU")


def _log() -> str:
    lines = ["[    0.000000] Linux version 6.12.1-test (a@b) #7 SMP"]
    at = 0.1
    for number in range(PARTS):
        call = f"f{number}_init+0x0/0x10"
        lines.append(f"[{at:12.6f}] calling  {call} @ 1")
        lines.append(f"[{at + 0.001:12.6f}] initcall {call} returned 0 after 1000 usecs")
        at += 0.002
    lines.append(f"[{at:12.6f}] Freeing unused kernel memory: 100K")
    lines.append(f"[{at + 0.001:12.6f}] Run /init as init process")
    lines.append(f"[{at + 1:12.6f}] end")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
