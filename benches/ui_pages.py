"""How fast `firstlight ui` starts, and how fast its pages come, over a folder of many boots.

Usage: ui_pages.py BOOT [--boots N]: a folder with that many links to the files of BOOT is made and served.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

_QUERY = "SELECT kind, count(*), sum(end_ns - start_ns) FROM spans GROUP BY kind"


def main() -> int:
    """Measures and prints."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("boot", type=Path)
    given.add_argument("--boots", type=int, default=1_000)
    chosen = given.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.boot.resolve().parent) as directory:
        folder = Path(directory) / "boots"
        folder.mkdir()
        for number in range(chosen.boots):
            shutil.copytree(chosen.boot, folder / f"{number:05}.boot", copy_function=os.link)
        os.environ["XDG_CACHE_HOME"] = str(Path(directory) / "cache")
        _measure(folder, chosen.boots)
    return 0


def _measure(folder: Path, boots: int) -> None:
    began = time.monotonic()
    command = [sys.executable, "-m", "firstlight", "ui", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        print(f"start, until the address is printed: {time.monotonic() - began:.2f} s")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        opener.open(address).read()
        base = address.partition("/enter")[0]

        def seconds(place: str) -> float:
            before = time.monotonic()
            opener.open(base + place).read()
            return time.monotonic() - before

        print(f"list of {boots:,} boots, first time: {seconds('/'):.3f} s")
        page = opener.open(base + "/").read().decode()
        report = page.partition('href="/boots/')[2].partition('"')[0]
        for name, place, times in (
            ("list, again", "/", 20),
            ("list, filtered and ordered", "/?filter=mode:exact+-failed&sort=-time", 20),
            ("report page, first time", f"/boots/{report}", 1),
            ("report page, again", f"/boots/{report}", 20),
            ("query", f"/boots/{report}/query?sql={quote(_QUERY)}", 5),
        ):
            taken = [seconds(place) for _ in range(times)]
            print(f"{name}: {statistics.median(taken):.3f} s, median of {times}")
        server.terminate()


if __name__ == "__main__":
    sys.exit(main())
