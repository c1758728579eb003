"""A fleet of many boots that anybody can make: the parts of one exact boot, with the spread that real machines show.

Each boot has the parts of the recorded boot, every duration times a factor of its own (log-normal, 3 %), times one of
its boot (2 %) and one of its model. Of three kernels the newest has six initcalls that take a quarter longer. One boot
in a hundred is slow in one phase.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

import firstlight
from firstlight.fleet.boot_rows import boot_rows
from firstlight.fleet.columns import BOOTS
from firstlight.fleet.files import write_boots, write_spans
from firstlight.fleet.layout import Fleet, Listing, init_fleet, open_fleet
from firstlight.fleet.questions import Question

MODELS = ("A", "B", "C")
KERNELS = ("6.1", "6.6", "6.12")
FIRMWARES = ("1.0", "1.1")
REGRESSED = 6
FACTOR = 1.25
_MODEL_FACTORS = {"A": 1.0, "B": 1.31, "C": 0.83}
_SLOW_SHARE = 0.01
_BATCH = 5000


def regressed_names(parts: pl.DataFrame) -> list[str]:
    """The initcalls that take longer in the newest kernel: of the longest ones every tenth."""
    initcalls = parts.filter(pl.col("kind") == "initcall").sort("duration_ns", "name", descending=[True, False])
    return [str(name) for name in initcalls["name"][5 : 5 + 10 * REGRESSED : 10]]


def make_fleet(directory: Path, source: Path, number: int, *, seed: int = 1) -> Fleet:
    """Write a fleet of so many boots, made of the parts of one recorded boot.

    :param seed: other seeds give other fleets; the same one gives the same boots.
    """
    parts = boot_rows(firstlight.open(source), {}).spans.sort("kind", "name")
    fleet = init_fleet(directory) if not directory.exists() else open_fleet(directory)
    slower = set(regressed_names(parts))
    is_slower = np.array([name in slower for name in parts["name"]])
    base = parts["duration_ns"].to_numpy().astype(float)
    phases = np.flatnonzero((parts["kind"] == "phase").to_numpy())
    for batch, first in enumerate(range(0, number, _BATCH)):
        count = min(_BATCH, number - first)
        random = np.random.default_rng([seed, batch])
        places = np.arange(first, first + count)
        model = random.integers(0, len(MODELS), count)
        kernel = random.integers(0, len(KERNELS), count)
        firmware = random.integers(0, len(FIRMWARES), count)
        factors = np.array([_MODEL_FACTORS[name] for name in MODELS])[model]
        own = factors * random.lognormal(0, 0.02, count)
        each = base[None, :] * own[:, None] * random.lognormal(0, 0.03, (count, base.size))
        newest = kernel == len(KERNELS) - 1
        each[np.ix_(newest, is_slower)] *= FACTOR
        slow = np.flatnonzero(random.random(count) < _SLOW_SHARE)
        each[slow, random.choice(phases, slow.size)] += 0.5 * base[phases].sum()
        durations = np.maximum(each, 1).astype(np.int64)
        numbers = (places.astype(np.int64) * 2_654_435_761 + seed * 97) % (1 << 62)
        days = [str(date(2026, 1, 1) + timedelta(days=int(place) // _BATCH)) for place in places]
        boots = pl.DataFrame(
            {
                "boot": numbers,
                "digest": [f"{place:064x}" for place in numbers],
                "day": days,
                "mode": ["imported"] * count,
                "status": ["complete"] * count,
                "total_ns": durations[:, phases].sum(axis=1),
                "instructions": [None] * count,
                "missing": [None] * count,
                "model": [MODELS[i] for i in model],
                "kernel": [KERNELS[i] for i in kernel],
                "firmware": [FIRMWARES[i] for i in firmware],
            }
        ).cast(BOOTS)  # type: ignore[arg-type]
        # Rows in the order of the files, which are sorted: that takes half of the time.
        order = np.argsort(numbers)
        spans = parts[np.repeat(np.arange(base.size), count)].with_columns(
            boot=np.tile(numbers[order], base.size), duration_ns=durations[order].T.ravel()
        )
        with fleet.locked():
            listing = fleet.listing()
            files = write_spans(fleet, spans, boots.select("boot", "day"))
            fleet.replace_listing(
                Listing((*listing.boots, write_boots(fleet, boots)), (*listing.spans, *files), listing.change)
            )
    return fleet


def main() -> None:
    """Make a fleet, ask it every question, and print what that costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fleet", type=Path, nargs="?", help="the directory to make and to keep")
    parser.add_argument("--from", dest="source", type=Path, help="the recorded boot (default: one is recorded)")
    parser.add_argument("--boots", type=int, default=50_000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only-make", action="store_true", help="ask nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as temporary:
        source = given.source or firstlight.record(Path(temporary) / "a.boot").directory
        begun = time.process_time()
        made = make_fleet(given.fleet or Path(temporary) / "fleet", source, given.boots, seed=given.seed)
        size = sum(path.stat().st_size for path in made.directory.rglob("*.parquet"))
        print(f"{given.boots:,} boots in {time.process_time() - begun:.1f} s of CPU, {size / 1e6:.1f} MB\n")
        if not given.only_make:
            slower = set(regressed_names(boot_rows(firstlight.open(source), {}).spans))
            _ask(made, slower)


def _ask(fleet: Fleet, slower: set[str]) -> None:
    """A row for each question, each asked in a process of its own, so that its memory is its own."""
    print("| question | rows | wall, s | CPU, s | peak memory, MB |\n|---|--:|--:|--:|--:|")
    for question in Question:
        code = f"import public_fleet; public_fleet.ask_once({str(fleet.directory)!r}, {question.value!r})"
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
        print(run.stdout.strip(), flush=True)
    rows = firstlight.ask_fleet(fleet.directory, "regressed", between=KERNELS[-2:]).rows
    flagged = rows.filter(pl.col("verdict") != "unchanged")
    right = flagged.filter(pl.col("name").is_in(slower) & (pl.col("verdict") == "slower"))
    planted = len(slower) * len(MODELS)
    others = flagged.height - right.height
    print(
        f"\nplanted regressions found: {right.height} of {planted}; others flagged: {others} of {rows.height - planted}"
    )
    if right.height < planted or others:
        raise SystemExit(1)


def _peak_kb() -> int:
    """The peak memory of this program; `ru_maxrss` would include what ran in the process before it."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def ask_once(directory: str, question: str) -> None:
    """Ask one question, and print its row."""
    wall, cpu = time.time(), time.process_time()
    found = firstlight.ask_fleet(directory, question)
    memory = _peak_kb() / 1024
    took = f"{time.time() - wall:.2f} | {time.process_time() - cpu:.2f}"
    print(f"| {question} | {found.rows.height:,} | {took} | {memory:,.0f} |")


if __name__ == "__main__":
    main()
