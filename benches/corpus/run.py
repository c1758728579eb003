"""Scores every case of every boot."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

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


def run(truths: Iterable[Truth]) -> tuple[dict[str, Tally], dict[str, Tally]]:
    """The tallies of all boots together, by case; and those of all cases together, by boot.

    Each boot takes every third degraded record, so that a case has several boots, and a boot every degradation.
    """
    by_case: dict[str, Tally] = defaultdict(Tally)
    by_boot: dict[str, Tally] = defaultdict(Tally)
    every = list(truths)
    # The engine that reads tables has threads, and a fork of a process with threads may hang.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for truth, tallies in zip(every, pool.map(_tallies_of_part, range(len(every)), every), strict=True):
            for case, tally in tallies.items():
                by_case[case].add(tally)
                by_boot[truth.name].add(tally)
    return dict(by_case), dict(by_boot)


def shares(tallies: Mapping[str, Tally]) -> dict[str, dict[str, float]]:
    """The shares of right ones."""
    return {name: {figure.value: share for figure, share in tally.shares().items()} for name, tally in tallies.items()}
