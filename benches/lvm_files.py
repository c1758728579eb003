"""The files that lvm2 opens in a recorded boot, against strace of the same processes in the same boot."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
from measuring.figures import line, title

import firstlight

EXPORT = "/run/firstlight/export"
#: Four volumes in files, and the two programs that activate them: for an event, and for all.
PREPARE = (
    f"mkdir -p {EXPORT}",
    "modprobe loop && modprobe dm-mod",
    "for i in 0 1 2 3; do truncate -s 64M /run/pv$i; losetup /dev/loop$i /run/pv$i; pvcreate -q /dev/loop$i; done",
    "vgcreate -q vg /dev/loop0 /dev/loop1 /dev/loop2 /dev/loop3",
    "lvcreate -q -n lv0 -L 16M vg && lvcreate -q -n lv1 -L 16M vg && vgchange -q -an vg",
)
PROGRAMS = {
    "pvscan": "pvscan --cache -aay --autoactivation event /dev/loop0",
    "vgchange": "vgchange -ay vg",
}

Opened = Counter[tuple[str | None, int | None]]


def opened(boot: firstlight.Boot, pids: set[int]) -> Opened:
    """How often each path was opened with each result, by some processes."""
    calls = boot.system_calls().filter(pl.col("name").is_in(["open", "openat"]) & pl.col("pid").is_in(pids))
    return Counter(calls.select("path", "result").iter_rows())


def main() -> None:
    title(__doc__ or "")
    strace = [f"strace -f -ttt -o {EXPORT}/{name} {words}; true" for name, words in PROGRAMS.items()]
    firstlight.image("debian-storage", build=True)
    rootfs = str(firstlight.image_path("debian-storage"))
    with tempfile.TemporaryDirectory() as folder:
        boot = firstlight.record(Path(folder, "lvm.boot"), rootfs=rootfs, guest_commands=(*PREPARE, *strace))
        for name, words in PROGRAMS.items():
            log = boot.directory / "raw/guest-files" / name
            traced = firstlight.import_(log, output=Path(folder, f"{name}.boot"))
            pids = set(traced.system_calls()["pid"].to_list())
            there, here = opened(traced, pids), opened(boot, pids)
            different = (there - here).total() + (here - there).total()
            line(f"{words}: opened by strace", str(there.total()))
            line(f"{words}: opened by the recording", str(here.total()))
            line(f"{words}: in one of them only", str(different), "0")


if __name__ == "__main__":
    main()
