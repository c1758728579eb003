"""Experiments that were not booted: a plan's directory with invented boots of given lengths."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import firstlight
from bundles import make_bundle, write_table
from firstlight.bundle.key import key_of_boot
from firstlight.bundle.open import read_manifest
from firstlight.experiment.design import cells_of
from firstlight.experiment.plan import parse_plan
from firstlight.experiment.randomize import blocks
from firstlight.experiment.store import CellState, State, Store

Length = Callable[[Mapping[str, str], str, int], int | None]
"""Of levels, cell's name and repeat: nanoseconds from the first mark to the last; `None`: the boot failed."""


def make_experiment(directory: Path, plan: str, length: Length, *, name: str = "experiment", **bundle: Any) -> Path:
    """Write an experiment below *directory* as if it had been run; returns its path.

    :param plan: the plan's text.
    :param name: of its directory.
    :param length: how long each boot took; a boot that took 0 is not there.
    """
    path = directory / name
    path.mkdir()
    parsed = parse_plan(plan, "plan.toml")
    cells = cells_of(parsed)
    states = []
    for cell in cells:
        (path / cell.directory).mkdir()
        key = hashlib.sha256(cell.name.encode()).hexdigest()
        for repeat in range(1, parsed.boots_per_cell + 1):
            took = length(cell.levels, cell.name, repeat)
            if took == 0:
                continue
            options = {"failed": True} if took is None else {}
            boot = path / cell.directory / f"{repeat}.boot"
            shutil.copytree(_template(directory, **{**bundle, **options}), boot)
            set_command_line(boot, cell.name)
            if took is not None:
                set_length(boot, took)
            key = key_of_boot(read_manifest(boot))
        states.append(CellState(name=cell.name, directory=cell.directory, levels=cell.levels, key=key))
    state = State(
        schema_version=1,
        plan_file="plan.toml",
        seed=1,
        order=blocks([cell.name for cell in cells], parsed.boots_per_cell, 1),
        cells=states,
    )
    Store(path).write(state, plan)
    return path


_ARMS = """
title = "Three kernels \\u001b[31m<b>|*"
[[arm]]
name = "A"
[[arm]]
name = "B"
append = "b"
[[arm]]
name = "C"
append = "c"
[[arm]]
name = "broken"
append = "d"
"""
_FACTORS = """
[[factor]]
name = "quiet"
kind = "command line"
on = "quiet"
[[factor]]
name = "notests"
kind = "command line"
on = "cryptomgr.notests"
[[factor]]
name = "nothing"
kind = "command line"
on = "nothing"
"""


def make_experiments(directory: Path) -> None:
    """Write an experiment of every sort: `arms`, `factors` and `noisy`; and `wrong.toml`, a plan with a slip."""
    arms = {"A": 829_882_107, "B": 835_882_108, "C": 700_000_003, "broken": None}
    make_experiment(directory, _ARMS, lambda levels, name, repeat: arms[name], name="arms")

    def length(levels: Mapping[str, str], name: str, repeat: int) -> int:
        on = {factor for factor, level in levels.items() if level == "on"}
        return (
            829_882_107
            - 2_131_187 * ("quiet" in on)
            - 100_000_003 * ("notests" in on)
            + 502_113 * ({"quiet", "notests"} <= on)
        )

    make_experiment(directory, _FACTORS, length, name="factors")
    noise = [7, -3, 2, 11, -8, 5, -1, 4]
    make_experiment(
        directory,
        'mode = "live"\nrepeats = 8\nseed = 1\n' + _ARMS.partition('[[arm]]\nname = "C"')[0],
        lambda levels, name, repeat: (
            829_000_000 + repeat * 900_000 + noise[repeat - 1] * (130_001 if name == "A" else 20_000_003)
        ),
        name="noisy",
        live=True,
    )
    (directory / "wrong.toml").write_text(_ARMS.replace('append = "c"', 'apend = "c"'))


def _template(directory: Path, **options: Any) -> Path:
    """An invented boot that all boots of its kind are copies of."""
    name = "-".join(["template", *map(str, sorted(options.items()))]) + ".boot"
    return directory / name if (directory / name).is_dir() else make_bundle(directory, name=name, **options)


def set_command_line(boot: Path, text: str) -> None:
    """Let an invented boot be of another recipe than others."""
    manifest = json.loads((boot / "manifest.json").read_text())
    manifest["recipe"]["command_line"] += f" {text}"
    (boot / "manifest.json").write_text(json.dumps(manifest))


def set_length(boot: Path, ns: int) -> None:
    """Move the last mark of an invented boot to so many nanoseconds after the first."""
    marks = firstlight.open(boot).marks()
    last = pl.int_range(pl.len()) == pl.len() - 1
    times = pl.when(last).then(pl.lit(ns, dtype=pl.Int64)).otherwise(pl.col("time_ns").clip(upper_bound=ns - 1))
    instructions = pl.when(last).then(pl.lit(ns, dtype=pl.Int64)).otherwise(pl.col("instructions"))
    idle = pl.when(pl.col("idle_ns").is_null()).then(None).otherwise(pl.lit(0, dtype=pl.Int64))
    write_table(boot, "marks", marks.with_columns(time_ns=times, instructions=instructions, idle_ns=idle))
