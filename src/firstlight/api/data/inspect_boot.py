"""Data of the commands that look at one boot."""

from typing import Any, NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from firstlight.analysis.prune import ContextRow
from firstlight.analysis.udev_queue import QueueSummary
from firstlight.api.data.rows import (
    ChangedPathRow,
    CostlyRow,
    DeviceRow,
    FunctionRow,
    GapRow,
    InitcallRow,
    KdRow,
    LevelRow,
    LogRow,
    MarkRow,
    PathRow,
    PhaseRow,
    QueueRow,
    RanRow,
    StageRow,
    StepRow,
    UeventRow,
    UnitRow,
)
from firstlight.bundle.command_line import CommandLineWord
from firstlight.bundle.manifest import Clock, Completeness, Contradiction, Failure, Invariant, Source, Totals


class Instant(TypedDict):
    mark: str
    time_ns: int


Heading = TypedDict(
    "Heading", {"boot": str, "clock": Clock, "from": Instant, "to": Instant, "completeness": Completeness}
)
"""What stands above every table: the boot, its clock, the two instants, and how complete the evidence is."""


class DoubtfulCalls(TypedDict):
    """Calls that were followed by inference."""

    doubtful: int
    calls: int
    kinds: NotRequired[dict[str, int]]
    share: float | None


class ShowData(TypedDict):
    """`firstlight show`."""

    boot: str
    mode: str
    status: str
    failure: Failure | None
    clock: Clock
    recipe: dict[str, JsonValue]
    versions: dict[str, JsonValue]
    totals: Totals
    completeness: Completeness
    invariants: dict[str, Invariant]
    sources: list[Source]
    contradictions: list[Contradiction]
    reproduce: str
    broken_invariants: list[str]
    doubtful_calls: dict[str, Any] | None
    command_line: list[CommandLineWord]
    features_left_out: list[str]
    phases: list[PhaseRow]
    marks: list[MarkRow]
    functions: list[FunctionRow]
    no_functions: list[FunctionRow]
    machine_costs: dict[str, Any] | None


Functions = list[FunctionRow] | list[ContextRow] | list[KdRow]
"""`firstlight functions`: the table, with `--tree` the calling-context tree, of an import also the table of kd."""


class Initcalls(Heading):
    """`firstlight initcalls`."""

    initcalls: list[InitcallRow]
    levels: list[LevelRow]
    warnings: NotRequired[list[dict[str, str]]]
    blacklisted: NotRequired[list[str]]
    hint: NotRequired[str]


class Devices(Heading):
    """`firstlight devices`: with `--uevents` the last three instead of `devices`."""

    devices: NotRequired[list[DeviceRow]]
    uevents: NotRequired[list[UeventRow]]
    queue: NotRequired[QueueSummary]
    queue_over_time: NotRequired[list[QueueRow]]
    hint: NotRequired[str]


class Units(Heading):
    """`firstlight units`."""

    units: list[UnitRow]
    stages: list[StageRow]
    failed: list[str]
    hint: NotRequired[str]


class WhatIf(TypedDict):
    """When the goal would be reached."""

    goal_ns: int
    change_ns: int
    changes: list[tuple[str, int]]
    rows: list[ChangedPathRow]


class Path(Heading):
    """`firstlight path`."""

    path: list[PathRow]
    processor: list[RanRow]
    steps: list[StepRow]
    unfinished: int
    without_start: int
    what_if: NotRequired[WhatIf]


class ConsoleCost(TypedDict):
    """What printing to the serial console took."""

    console: str | None
    baud: int | None
    baud_known: bool
    level: int
    lines: int
    characters: int
    computed_ns: int | None
    share: float | None
    diagnostic_lines: int
    diagnostic_ns: int | None
    measured_ns: int | None
    behind_ns: int | None
    costly: list[CostlyRow]


class Log(Heading):
    """`firstlight log`: lines, with `--gaps` the gaps, with `--console-cost` that."""

    log: NotRequired[list[LogRow]]
    gaps: NotRequired[list[GapRow]]
    console_cost: NotRequired[ConsoleCost]
    untimed: NotRequired[int]
    hint: NotRequired[str]


class Report(TypedDict):
    """`firstlight report`."""

    boot: str
    page: str
    bytes: int


class Export(TypedDict):
    """`firstlight export`."""

    boot: str
    to: str
    file: str
    bytes: int
    counts: dict[str, int]
    notes: list[str]
