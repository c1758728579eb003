"""The kd table of a boot, made by the engine."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from firstlight import _core
from firstlight.bundle.tables import columns

#: The columns of the kd table.
KD_SCHEMA = columns(
    "function module kind count:int total_instructions:int total_ns:int average_ns:int self_instructions:int "
    "self_ns:int max_sub max_sub_count:int doubtful_calls:int"
)


def kd_table(
    bundle: Path,
    phase: str | None = None,
    under: str | None = None,
    per_caller: bool = False,
    raw_names: bool = False,
) -> pl.DataFrame:
    """One row for every function of the bundle at *bundle*, the largest total first.

    :param phase: only what ran in this phase.
    :param under: only what this function did, itself and everything it called.
    :param per_caller: Max-sub is the callee that took the most time under its caller; else, as kd has it, the one that
        took the most anywhere.
    :param raw_names: split-off parts of functions (`f.cold`) are rows of their own.
    :raises BundleError: when the tables cannot be read.
    """
    return _ordered(pl.DataFrame(_core.kd_table(str(bundle), phase, under, per_caller, raw_names)))


def part_kd_table(
    bundle: Path,
    rows: pl.DataFrame,
    under: str | None = None,
    per_caller: bool = False,
    raw_names: bool = False,
) -> pl.DataFrame:
    """The kd table of what the nodes of the tree did in a part of the boot.

    :param rows: `node`, `calls`, `self_instructions` and `self_ns` of nodes of the tree as it is recorded.
    :param under: as for :func:`kd_table`, like the others.
    :raises BundleError: when the tables cannot be read.
    """
    given = rows.select("node", "calls", "self_instructions", "self_ns").rows()
    return _ordered(pl.DataFrame(_core.part_kd_table(str(bundle), given, under, per_caller, raw_names)))


def phase_kd_tables(bundle: Path, raw_names: bool = False) -> dict[str, pl.DataFrame]:
    """The kd table of every phase in which anything ran, as :func:`kd_table` gives it; the tables are read once.

    :raises BundleError: when the tables cannot be read.
    """
    return {phase: _ordered(pl.DataFrame(table)) for phase, table in _core.phase_kd_tables(str(bundle), raw_names)}


def _ordered(table: pl.DataFrame) -> pl.DataFrame:
    return table.sort("total_ns", "total_instructions", "function", descending=[True, True, False], nulls_last=True)
