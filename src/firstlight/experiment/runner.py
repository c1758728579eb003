"""Booting what an experiment still lacks; whatever ends it, the next run goes on from there."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self

from firstlight.bundle.open import read_manifest
from firstlight.errors import FirstlightError, UnhealthyBootError
from firstlight.experiment import boot_cache
from firstlight.experiment.parallel import side_by_side
from firstlight.experiment.schedule import Prepared
from firstlight.experiment.store import CellState, State
from firstlight.lab.host.process import interruptible
from firstlight.lab.host.progress import Progress, SilentProgress, Snapshot
from firstlight.lab.run.record import record
from firstlight.processors import usable_processors
from firstlight.quantities import parse_size
from firstlight.recipe.mode import RecordMode
from firstlight.recipe.options import RecordOptions

_GUEST_OVERHEAD = 512 << 20
"""Bytes of the host that a boot takes beside its guest's memory."""

_ASKED_AT_ONCE = 64
"""Boots that are asked of other machines at a time; each waits in a thread of its own."""

Boot = tuple[int, int]
"""Cell and repeat."""


class RunProgress(Protocol):
    """Hears of every boot, from several threads; used as a context manager around them."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

    def start(self, total: int, done: int, at_once: int) -> None:
        """So many boots there are, so many are there already, and so many run side by side."""

    def boot(self, name: str, snapshot: Snapshot) -> None:
        """A guest came this far."""

    def done(self, name: str, repeat: int, how: str, took_s: float, *, counts: bool) -> None:
        """A boot is finished; *counts*: it was recorded, so its time predicts those of other boots."""

    def note(self, text: str) -> None:
        """Something the user should know."""


def run(prepared: Prepared, progress: RunProgress, jobs: int | None = None) -> State:
    """Boot what is lacking.

    In exact mode several boots run side by side: what else the machine does changes nothing of them. In live mode one
    runs after another, in randomised blocks.

    :param jobs: so many at once, at most.
    :returns: the state with the cells that could not be booted.
    :raises FirstlightError: when another process runs it, or nothing can be written.
    :raises KeyboardInterrupt: when the user interrupts; what was booted stays.
    """
    store = prepared.store
    store.path.mkdir(parents=True, exist_ok=True)
    with interruptible(), store.locked():
        sweep(store.path)
        store.write(prepared.state, prepared.text)
        exact = prepared.plan.mode == RecordMode.EXACT
        lacking = [boot for boot in prepared.boots() if not store.has(prepared.state.cells[boot[0]], boot[1])]
        done = len(prepared.boots()) - len(lacking)
        at_once = boots_at_once([prepared.options[cell] for cell, _ in prepared.boots()], jobs) if exact else 1
        with progress:
            progress.start(len(prepared.boots()), done, at_once)
            problems = _Session(prepared, progress).work(lacking, at_once)
        cells = [
            cell.model_copy(update={"problem": problems.get(number)})
            for number, cell in enumerate(prepared.state.cells)
        ]
        state = prepared.state.model_copy(update={"cells": cells})
        store.write(state, prepared.text)
    return state


class _Session:
    """One go at what is lacking."""

    def __init__(self, prepared: Prepared, progress: RunProgress) -> None:
        self._prepared = prepared
        self._progress = progress
        self._stop = threading.Event()
        self._problems: dict[int, str] = {}
        self._keys: dict[str, threading.Lock] = {}

    def work(self, lacking: list[Boot], at_once: int) -> dict[int, str]:
        """Make every boot; returns why cells could not be booted."""
        cells = self._prepared.state.cells
        self._keys = {cell.key: threading.Lock() for cell in cells}
        side_by_side(self._make, lacking, at_once, self._stop)
        return self._problems

    def _make(self, boot: Boot) -> None:
        number, repeat = boot
        if self._stop.is_set() or number in self._problems:
            return
        cell = self._prepared.state.cells[number]
        bundle = self._prepared.store.bundle(cell, repeat)
        bundle.parent.mkdir(exist_ok=True)
        shared = self._prepared.plan.mode == RecordMode.EXACT and repeat == 1
        began = time.monotonic()
        try:
            if not shared:
                # A repeat in exact mode checks this machine.
                record(*self._recording(number, bundle))
                how = "booted"
            else:
                # Cells with the same inputs are one boot.
                with self._keys[cell.key]:
                    how = self._find_or_record(number, bundle, cell)
        except UnhealthyBootError as error:
            how = f"failed: {error.message}"
        except FirstlightError as error:
            self._problems[number] = str(error)
            how = f"not booted: {error}"
        self._progress.done(cell.name, repeat, how, time.monotonic() - began, counts=how != "taken")

    def _find_or_record(self, number: int, bundle: Path, cell: CellState) -> str:
        if bundle.is_dir() and (bundle / "manifest.json").is_file():
            # Of the same cell as it was before: its recipe or an input changed.
            shutil.rmtree(bundle)
        if boot_cache.find(cell.key, bundle):
            return "taken"
        try:
            options, progress = self._recording(number, bundle)
            inputs = self._prepared.inputs[number]
            assert inputs is not None, "only a dry run leaves inputs open"
            boot_cache.make(options, inputs, progress)
        finally:
            if bundle.is_dir() and boot_cache.is_cacheable(read_manifest(bundle)):
                boot_cache.keep(bundle, cell.key)
        return "booted"

    def _recording(self, number: int, bundle: Path) -> tuple[RecordOptions, Progress]:
        name = self._prepared.state.cells[number].name
        options = replace(self._prepared.options[number], output=bundle, force=True)
        return options, OneOfMany(name, self._progress, self._stop)


class OneOfMany(SilentProgress):
    """Hears of one boot of several, for who hears of all, and ends it when all shall end."""

    def __init__(self, name: str, progress: RunProgress, stop: threading.Event) -> None:
        super().__init__()
        self._name = name
        self._progress = progress
        self._stop = stop
        self.booted = False
        """Whether anything was booted so far."""

    def boot(self, snapshot: Snapshot) -> None:
        """The guest came this far."""
        self.booted = True
        if self._stop.is_set():
            raise KeyboardInterrupt
        self._progress.boot(self._name, snapshot)

    def note(self, text: str) -> None:
        """Something the user should know."""
        self._progress.note(f"{self._name}: {text}")

    def warn(self, text: str) -> None:
        """Something that makes the result another than the person may believe."""
        self._progress.note(f"{self._name}: warning: {text}")


def boots_at_once(options: Sequence[RecordOptions], jobs: int | None = None) -> int:
    """How many boots run side by side: as many as there are processors, and memory for; where other machines make
    them, as many as are asked of those at a time.

    :param options: of the boots to be made.
    :param jobs: so many at most.
    """
    if boot_cache.is_recorded_elsewhere():
        return max(1, min(jobs or _ASKED_AT_ONCE, len(options)))
    processors = usable_processors()
    guest = max((parse_size(each.memory or "512M") for each in options), default=0) + _GUEST_OVERHEAD
    room = max(1, memory_available() // guest)
    return max(1, min(jobs or processors, room, len(options)))


def memory_available() -> int:
    """Bytes that programs may still take, as the kernel reckons."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return 1 << 62


def sweep(path: Path) -> None:
    """Remove what copies left that were killed; recordings sweep after themselves."""
    for left in path.glob("*/.*.copy"):
        shutil.rmtree(left, ignore_errors=True)
