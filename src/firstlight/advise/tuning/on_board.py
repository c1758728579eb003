"""A tuning on a board: boots vary, so remedies are screened together by a design, and what is kept is confirmed.

Every boot of a Plackett-Burman design with its mirror image has about half of the remedies, so every boot measures
every remedy. The blocks of the session give independent estimates of each effect, whatever the board drifts. The
remedies whose effect is an improvement after Holm's adjustment are kept; pairs of boots with and without all of them
say what they give.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from firstlight.advise.entry import Layer
from firstlight.advise.tuning.remedy import Remedy, check_excluded
from firstlight.errors import UnhealthyBootError, UsageError
from firstlight.experiment.board_runner import run_on_board
from firstlight.experiment.estimates import EffectEstimate, block_effects, estimate_cells
from firstlight.experiment.plan import parse_plan
from firstlight.experiment.results import Results, read_results
from firstlight.experiment.runner import RunProgress
from firstlight.experiment.schedule import prepare_plan
from firstlight.frozen import FrozenModel
from firstlight.lab.board.board import Board
from firstlight.lab.board.open import open_board
from firstlight.schema.marks import Mark
from firstlight.stats.multiple_testing import holm

_MOST_REMEDIES = 47
_LONGEST = 24
LEAST_BLOCKS = 3
BLOCKS = 4
_LEVEL = 0.05


class TriedRemedy(FrozenModel):
    """The effect of one remedy on the board: the mean over all combinations of the others."""

    remedy: str
    append: str = Field(description="the words")
    percent: float = Field(description="change of the time from the kernel's start to ready")
    low_percent: float
    high_percent: float
    p: float = Field(description="adjusted for all remedies that were tried")
    kept: bool
    takes_away: str


class BoardTuning(FrozenModel):
    """The result of a tuning on a board."""

    board: str
    append: str = Field(description="the words of the remedies that are kept")
    tried: list[TriedRemedy]
    left_out: dict[str, str] = Field(description="remedies that were not tried, and why")
    percent: float | None = Field(description="what all kept remedies gain together, measured with new pairs")
    low_percent: float | None
    high_percent: float | None
    verdict: str
    notes: list[str]


def tune_on_board(
    board: Path | Board,
    remedies: Sequence[Remedy],
    output: Path,
    progress: RunProgress,
    *,
    blocks: int = BLOCKS,
    pairs: int = 12,
    without: Collection[str] = (),
    seed: int | None = None,
) -> BoardTuning:
    """Screen remedies of the command line on a board, and confirm those that are kept.

    :param board: the board, or its file.
    :param output: the directory with both experiments, which continue where they stopped.
    :param blocks: of the design; at least 3.
    :param pairs: boots with and without the kept remedies.
    :param without: remedies, or parameters, that are not tried.
    :raises UsageError: when the board cannot add words, or no remedy is left.
    :raises LabError: when the board did not boot six times in a row.
    :raises UnhealthyBootError: when too many boots failed to estimate any remedy.

    Source: Plackett and Burman (1946), The design of optimum multifactorial experiments; Box and Wilson (1951) for the
    mirror image, which keeps main effects clear of interactions of two.
    """
    opened = open_board(board) if isinstance(board, Path) else board
    if not opened.can_append:
        hint = "add `deploy` or `[loader]` to the board file"
        raise UsageError("the board has no hook for the command line", where=opened.name, hint=hint)
    chosen, left_out = _chosen(remedies, without)
    factors = {_name(number, remedy): remedy for number, remedy in enumerate(chosen)}
    plan = _plan(opened.name, factors, blocks, seed)
    screen = _run(plan, opened, output / "screen", progress)
    effects = {factor: values for (factor, _), values in block_effects(screen).items() if len(values) >= LEAST_BLOCKS}
    if not effects:
        reason = f"fewer than {LEAST_BLOCKS} blocks are complete: boots did not come up"
        hint = "leave out remedies that hang the board with `--without`; `events.jsonl` has the boots"
        raise UnhealthyBootError(reason, where=str(output / "screen"), hint=hint)
    tried = _judged(factors, effects)
    kept = [each.remedy for each in tried if each.kept]
    words = " ".join(remedy.change.append for remedy in chosen if remedy.id in kept)
    notes = list(screen.notes)
    together: EffectEstimate | None = None
    if kept:
        again = open_board(board) if isinstance(board, Path) else board
        confirmed = _run(_arms(again.name, words, pairs, seed), again, output / "confirm", progress)
        together = estimate_cells(confirmed).get("tuned")
        notes += confirmed.notes
    interval = (None, None) if together is None or together.interval_percent is None else together.interval_percent
    return BoardTuning(
        board=opened.name, append=words, tried=sorted(tried, key=lambda each: each.percent), left_out=left_out,
        percent=None if together is None else together.percent, low_percent=interval[0], high_percent=interval[1],
        verdict="nothing kept" if not kept else "not booted" if together is None else together.word, notes=notes,
    )  # fmt: skip


def _chosen(remedies: Sequence[Remedy], without: Collection[str]) -> tuple[list[Remedy], dict[str, str]]:
    check_excluded(without, remedies)
    chosen: list[Remedy] = []
    left_out: dict[str, str] = {}
    for remedy in remedies:
        if remedy.layer is not Layer.CMDLINE:
            left_out[remedy.id] = "a board is tuned by its command line"
        elif banned := remedy.names & set(without):
            left_out[remedy.id] = f"`--without {sorted(banned)[0]}`"
        elif len(chosen) == _MOST_REMEDIES:
            left_out[remedy.id] = f"a design takes {_MOST_REMEDIES} remedies"
        else:
            chosen.append(remedy)
    if len(chosen) < 2:
        raise UsageError("fewer than two remedies are left to try", hint="`--remedies FILE` adds some")
    return chosen, left_out


def _name(number: int, remedy: Remedy) -> str:
    return remedy.id if len(remedy.id) <= _LONGEST else f"{remedy.id[: _LONGEST - 3]}-{number:02}"


def _plan(board: str, factors: dict[str, Remedy], blocks: int, seed: int | None) -> str:
    text = _head(board, blocks, seed) + 'design = {kind = "plackett-burman", fold-over = true}\n' + _MEASURE
    for name, remedy in factors.items():
        text += f'[[factor]]\nname = "{name}"\nkind = "command-line"\non = {json.dumps(remedy.change.append)}\n'
    return text


def _arms(board: str, words: str, pairs: int, seed: int | None) -> str:
    arms = f'[[arm]]\nname = "baseline"\n[[arm]]\nname = "tuned"\nappend = {json.dumps(words)}\n'
    return _head(board, pairs, seed) + _MEASURE + arms


def _head(board: str, repeats: int, seed: int | None) -> str:
    drawn = "" if seed is None else f"seed = {seed}\n"
    return f"board = {json.dumps(str(Path(board).absolute()))}\nrepeats = {repeats}\n{drawn}"


#: A dialogue with the boot loader is not part of what a remedy changes.
_MEASURE = f'[measure]\nfrom = "{Mark.KERNEL_START}"\nto = "{Mark.READY}"\n'


def _run(text: str, board: Board, folder: Path, progress: RunProgress) -> Results:
    folder.parent.mkdir(parents=True, exist_ok=True)
    prepared = prepare_plan(parse_plan(text, "the plan"), text, folder.with_suffix(".toml"), folder, board=board)
    run_on_board(prepared, progress)
    return read_results(folder)


def _judged(factors: dict[str, Remedy], effects: dict[str, list[float]]) -> list[TriedRemedy]:
    """Each remedy with its effect, its interval, and whether it is kept.

    An effect of one block is a mean over all its boots, so Student's test holds, and few blocks suffice; a rank test
    of so few blocks cannot confirm one of many remedies.
    """
    names = list(effects)
    adjusted = holm([_p(effects[name]) for name in names])
    tried = []
    for name, p in zip(names, adjusted, strict=True):
        values, remedy = np.array(effects[name]), factors[name]
        mean = float(values.mean())
        half = float(student.ppf(0.975, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size))
        low, middle, high = (100 * math.expm1(log) for log in (mean - half, mean, mean + half))
        sure = 1.0 if p is None else p
        kept = mean < 0 and sure < _LEVEL
        change = {"percent": middle, "low_percent": low, "high_percent": high, "p": sure, "kept": kept}
        words, cost = remedy.change.append, remedy.takes_away
        tried.append(TriedRemedy(remedy=remedy.id, append=words, takes_away=cost, **change))
    return tried


def _p(values: list[float]) -> float | None:
    p = float(ttest_1samp(values, 0.0).pvalue)
    return p if math.isfinite(p) else None
