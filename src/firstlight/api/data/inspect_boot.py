"""Data of the commands that look at one boot."""

from typing import Any, Literal, NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from firstlight.analysis.prune import ContextRow
from firstlight.analysis.udev_queue import QueueSummary
from firstlight.api.data.rows import (
    BillRow,
    CallRow,
    CallSumRow,
    ChangedPathRow,
    ChargedRow,
    CostlyRow,
    DeviceCostRow,
    DeviceRow,
    DoerRow,
    FileRow,
    FunctionRow,
    GapRow,
    GeneratorRow,
    InitcallRow,
    KdRow,
    LevelRow,
    LoadRow,
    LogRow,
    ManagerPartRow,
    MarkRow,
    PathRow,
    PhaseRow,
    ProcessRow,
    QueueRow,
    RanRow,
    StageRow,
    StepRow,
    UdevPartRow,
    UeventRow,
    UnitRow,
    UserFunctionRow,
    WorkRow,
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


class LoaderStage(TypedDict):
    """A stage of a boot loader's own record; `difference` is a part of the time from outside."""

    name: str
    reported_ns: int
    seen_ns: int | None
    seen_by: str | None
    difference: float | None


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
    loader_record: list[LoaderStage]
    functions: list[FunctionRow]
    no_functions: list[FunctionRow]
    machine_costs: dict[str, Any] | None


class UserFunctions(Heading):
    """`firstlight functions --user`: functions of user mode."""

    process: str | None
    user: Literal[True]
    functions: list[UserFunctionRow]
    hint: NotRequired[str]


class ProcessWork(Heading):
    """`firstlight functions --process`: all that a process executed."""

    process: str | None
    user: Literal[False]
    functions: list[WorkRow]
    hint: NotRequired[str]


Functions = list[FunctionRow] | list[ContextRow] | list[KdRow] | UserFunctions | ProcessWork
"""`firstlight functions`: the table, with `--tree` the calling-context tree, of an import also the table of kd; with
`--user` or `--process` what processes executed."""


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


class DeviceCosts(Heading):
    """`firstlight devices --costs`."""

    costs: list[DeviceCostRow]
    sums: list[UdevPartRow]
    hint: NotRequired[str]


class Processes(Heading):
    """`firstlight processes`."""

    processes: list[ProcessRow]
    hint: NotRequired[str]


class SystemCalls(Heading):
    """`firstlight syscalls`: sums by `by`, or every call."""

    by: Literal["process", "call", "path"] | None
    calls: list[CallRow] | list[CallSumRow]
    hint: NotRequired[str]


class Files(Heading):
    """`firstlight files`."""

    files: list[FileRow]
    hint: NotRequired[str]


class Packages(Heading):
    """`firstlight packages`: sums by `by`."""

    by: Literal["package", "file"]
    packages: list[BillRow]
    hint: NotRequired[str]


class Units(Heading):
    """`firstlight units`."""

    units: list[UnitRow]
    stages: list[StageRow]
    failed: list[str]
    hint: NotRequired[str]


class ManagerWork(TypedDict):
    """What the service manager itself did."""

    parts: list[ManagerPartRow]
    generators: list[GeneratorRow]
    sums: list[DoerRow]


class Manager(Heading):
    """`firstlight units --manager`."""

    manager: ManagerWork | None
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
    charged: list[ChargedRow]
    load: list[LoadRow]
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


class SeenEvidence(TypedDict):
    """An item of evidence that a boot shows."""

    kind: str
    text: str


class SharedTime(TypedDict):
    """Time that another finding holds too."""

    entry: str
    ns: int


class AdvisedRemedy(TypedDict):
    """One remedy of an entry."""

    layer: str
    text: str
    applicable: bool


class RemedyTrial(TypedDict):
    """What the boot with a remedy said."""

    proof: str
    gain_ns: int | None
    why: str | None


class FindingData(TypedDict):
    """One cause that a boot has; without a cost where the evidence has no time."""

    entry: str
    title: str
    nature: str
    mechanism: str
    cost_ns: int | None
    waits_ns: int
    machine_ns: int
    share: float | None
    certainty: str
    evidence: list[SeenEvidence]
    shares_with: list[SharedTime]
    remedies: list[AdvisedRemedy]
    expected_gain_ns: int | None
    effect: str
    risk: str
    guard: str | None
    checks: list[str]
    source: str
    tried: RemedyTrial | None


class LackingEvidence(TypedDict):
    """Evidence that some entries of the catalogue need and a boot does not have."""

    evidence: str
    hint: str


class Explained(TypedDict):
    """`firstlight explain` of all entries."""

    boot: str
    goal: str | None
    whole_ns: int
    entries: int
    looked_for: int
    lacks: list[LackingEvidence]
    findings: list[FindingData]
    features: list[FindingData]
    machine: list[FindingData]
    unpriced: list[FindingData]
    smaller: list[FindingData]


class ExplainedEntry(TypedDict):
    """`firstlight explain` of one entry."""

    boot: str
    goal: str | None
    whole_ns: int
    entry: dict[str, JsonValue]
    finding: FindingData | None
