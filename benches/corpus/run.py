"""Scores every case of every boot."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from corpus.boots import KnownBoot
from corpus.cases import Case, cases
from corpus.figures import Tally
from corpus.score import score
from corpus.truth import Truth


def tallies_of(truth: Truth, wanted: Iterable[Case]) -> dict[str, Tally]:
    """The tally of each of these cases of a boot, by `FORMAT / DEGRADATION`."""
    with tempfile.TemporaryDirectory(prefix="firstlight-corpus-") as directory:
        return {f"{case.format} / {case.degradation}": score(case, truth, Path(directory)) for case in wanted}


def _tallies_of_part(part: int, truth: Truth) -> dict[str, Tally]:
    return tallies_of(truth, cases(truth, part=part))


@dataclass(frozen=True)
class Outcome:
    """The tallies of all boots."""

    by_case: Mapping[str, Tally]
    by_boot: Mapping[str, Tally]
    by_archive: Mapping[str, Mapping[str, Tally]]
    """Those by case again, of the kernels of each archive alone: a machine may not reach all of them."""


def run(boots: Sequence[KnownBoot]) -> Outcome:
    """Score the cases of all boots.

    Each boot takes every third degraded record, so that a case has several boots, and a boot every degradation. Which
    third depends on the kernel's place in its archive alone.
    """
    by_case: dict[str, Tally] = defaultdict(Tally)
    by_boot: dict[str, Tally] = defaultdict(Tally)
    by_archive: dict[str, dict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))
    parts = [boot.kernel.place for boot in boots]
    # The engine that reads tables has threads, and a fork of a process with threads may hang.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        every = pool.map(_tallies_of_part, parts, [boot.truth for boot in boots])
        for boot, tallies in zip(boots, every, strict=True):
            for case, tally in tallies.items():
                by_case[case].add(tally)
                by_boot[boot.truth.name].add(tally)
                by_archive[boot.kernel.archive][case].add(tally)
    return Outcome(by_case, by_boot, by_archive)


def shares(tallies: Mapping[str, Tally]) -> dict[str, dict[str, float]]:
    """The shares of right ones."""
    return {name: {figure.value: share for figure, share in tally.shares().items()} for name, tally in tallies.items()}
