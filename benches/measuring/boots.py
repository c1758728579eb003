"""Boots whose cost is that of QEMU alone: user and system time of the process, as the kernel counts it at its end."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.lab.guest.report import read_report
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.run.record import run_exact
from firstlight.lab.run.resolve import Inputs, resolve
from firstlight.recipe.options import RecordOptions


@dataclass(frozen=True)
class Cost:
    """What one boot took."""

    cpu_s: float
    wall_s: float
    peak_mib: float
    guest_s: float
    """Virtual seconds from power on to the guest's ready mark."""
    console: bytes


def inputs(
    *,
    profile: bool,
    rootfs: str | None = None,
    append: str = "",
    output: str = "a.boot",
    user_functions: bool = False,
    arch: str | None = None,
    qemu: Path | None = None,
    shift: int = 0,
) -> Inputs:
    """The recipe of a boot, with everything that it needs made beforehand."""
    return resolve(
        RecordOptions(
            output=Path(output),
            profile=profile,
            rootfs=rootfs,
            append=append,
            user_functions=user_functions,
            arch=arch,
            qemu=qemu,
            shift=shift,
        )
    )


def boot(recipe: Inputs) -> Cost:
    """Boot once.

    :raises FirstlightError: when the guest does not come up: its cost would mean nothing.
    """
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as directory:
        outcome = run_exact(recipe, RunFiles(Path(directory)))
    if outcome.reason is not None:
        raise FirstlightError(f"the boot failed ({outcome.reason}): {outcome.detail}")
    clock = read_report(outcome.report).records.get("ready.tsc", b"0")
    peak = outcome.ended.max_rss_kib / 1024
    return Cost(outcome.ended.cpu_s, outcome.wall_s, peak, int(clock) / 1e9, outcome.console)


def _spin() -> None:
    while True:
        pass


@contextmanager
def load() -> Iterator[None]:
    """Keep every processor of the host busy with something else."""
    context = multiprocessing.get_context("fork")
    spinners = [context.Process(target=_spin, daemon=True) for _ in range(multiprocessing.cpu_count())]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.join()
