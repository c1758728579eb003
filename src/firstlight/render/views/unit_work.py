"""What units and the service manager made the processor do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from firstlight.analysis.unit_work import Manager
from firstlight.bundle.boot import Boot
from firstlight.quantities import share
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import BLANK, Block
from firstlight.render.model.table import Column, table
from firstlight.render.views.heading import grade_column, grade_lines, heading
from firstlight.render.views.sums import sum_rows

_BAR = 30
_DOERS = ("manager_ns", "generators_ns", "units_ns", "programs_ns", "kernel_ns", "idle_ns")


def unit_work_report(boot: Boot, rows: pl.DataFrame, left_out: pl.DataFrame) -> Iterator[Block]:
    """Who had the processor during each unit's activation, and what its processes executed.

    :param rows: of :func:`~firstlight.analysis.unit_work.unit_work`.
    :param left_out: the rows that are not shown.
    """
    yield from heading(boot, "Work of units")
    sums = ["processes", "instructions", "before_exec_instructions", "path_ns"]

    def own(row: Mapping[str, Any]) -> float | None:
        return share(row["own_ns"], row["duration_ns"])

    yield table(
        "",
        [
            Column("Unit", value="unit", style="cyan", longest=44),
            Column("Activation", "time", "duration_ns", style="bold"),
            grade_column(),
            Column("own", "time", "own_ns"),
            Column("manager", "time", "manager_ns", wide=100),
            Column("others", "time", "others_ns", wide=80),
            Column("idle", "time", "idle_ns", wide=100),
            Column("On path", "time", "path_ns", wide=120),
            Column("Processes", "count", "processes", wide=130),
            Column("Instructions", "count", "instructions", wide=60),
            Column("before exec", "count", "before_exec_instructions", wide=140),
            Column("", "picture", lambda row: Bar(own(row), _BAR), style="blue", wide=170),
        ],
        rows.iter_rows(named=True),
        **sum_rows(rows, left_out, "unit", sums),
        notes=[
            "Who had the processor during the activation: the unit's own processes, the manager with its generators, "
            "others, nothing; these add up to the activation. On path: the unit's processes on the critical path.",
            "Before exec: what the manager's child executed before it ran the unit's program.",
        ],
    )
    yield from grade_lines(pl.concat([rows, left_out]))


def manager_report(boot: Boot, manager: Manager) -> Iterator[Block]:
    """The manager's own time in parts, its generators, and who executed the instructions of the boot."""
    yield from heading(boot, "The service manager")
    whole = int(manager.parts["duration_ns"].sum())

    def part(row: Mapping[str, Any]) -> float | None:
        return share(row["duration_ns"], whole)

    yield table(
        "",
        [
            Column("Stage", value=lambda row: row["stage"] or "-", wide=90),
            Column("Part", value="part", style="cyan"),
            Column("Start", "time", "start_ns", wide=70),
            Column("Duration", "time", "duration_ns", style="bold"),
            *(
                Column(name.removesuffix("_ns"), "time", name, wide=wide)
                for name, wide in zip(_DOERS, (0, 100, 80, 110, 120, 130), strict=True)
            ),
            Column("", "picture", lambda row: Bar(part(row), _BAR), style="blue", wide=165),
        ],
        manager.parts.iter_rows(named=True),
        footer=[{"Part": "all", **manager.parts.select(pl.col("duration_ns", *_DOERS).sum()).row(0, named=True)}],
        notes=[
            "start: from its exec until its own clock starts; `systemd-analyze` counts it for the stage before. "
            "set-up: time that no stage of the manager names. jobs: from the time when it has loaded the units.",
            "The columns say who had the processor, and add up to the duration.",
        ],
    )
    if manager.generators.height:
        yield BLANK
        yield _generators(manager.generators)
    yield BLANK
    executed = int(manager.sums["instructions"].sum())
    yield table(
        "",
        [
            Column("Instructions of", value="doer", style="cyan"),
            Column("Processes", "count", "processes"),
            Column("Instructions", "count", "instructions", style="bold"),
            Column("Share", "share", lambda row: share(row["instructions"], executed)),
            Column(
                "", "picture", lambda row: Bar(share(row["instructions"], executed), _BAR), style="blue", wide=90,
                name="share",
            ),
        ],
        manager.sums.iter_rows(named=True),
        footer=[{"Instructions of": "all", "instructions": executed}],
    )  # fmt: skip


def _generators(rows: pl.DataFrame) -> Block:
    most = int(rows["instructions"].max() or 0)  # type: ignore[arg-type]
    return table(
        "",
        [
            Column("Generator", value=lambda row: row["image"].rpartition("/")[2], style="cyan", longest=44),
            Column("PID", "count", "pid", write=str, wide=90),
            Column("Start", "time", "start_ns", wide=70),
            Column("CPU", "time", "cpu_ns", style="bold"),
            Column("Wait", "time", "wait_ns", wide=80),
            Column("Instructions", "count", "instructions", wide=100),
            Column("", "picture", lambda row: Bar(share(row["instructions"], most), _BAR), style="blue", wide=130),
        ],
        rows.iter_rows(named=True),
        footer=[
            {"Generator": "all", **rows.select(pl.col("cpu_ns", "wait_ns", "instructions").sum()).row(0, named=True)}
        ],
    )
