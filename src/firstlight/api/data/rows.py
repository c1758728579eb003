"""Rows of tables; times are whole nanoseconds of the boot's clock, null is not known."""

from typing import NotRequired

from typing_extensions import TypedDict


class PhaseRow(TypedDict):
    """A phase; phases partition the boot."""

    phase: str
    start_ns: int
    end_ns: int
    duration_ns: int
    instructions: int | None
    idle_ns: int | None
    ended: bool


class MarkRow(TypedDict):
    """A named instant."""

    mark: str
    time_ns: int | None
    instructions: int | None
    idle_ns: int | None
    source: str | None
    detail: str | None


class FunctionRow(TypedDict):
    """A function, or a row that is no function; `machine_cost` names a known cost of the emulated machine."""

    function: str
    module: str | None
    kind: str
    count: int | None
    total_instructions: int | None
    total_ns: int | None
    average_ns: int | None
    self_instructions: int | None
    self_ns: int | None
    max_sub: str | None
    max_sub_count: int | None
    doubtful_calls: int | None
    doubtful_share: NotRequired[float | None]
    machine_cost: NotRequired[str | None]


class InitcallRow(TypedDict):
    """An initcall."""

    span: int
    function: str
    level: str | None
    module: str | None
    track: str | None
    start_ns: int | None
    end_ns: int | None
    duration_ns: int | None
    grade: str | None
    reason: str | None
    returned: int | None
    probes: int
    probes_ns: int | None
    self_ns: int | None
    source: str | None


class LevelRow(TypedDict):
    """A level of initcalls; with the rest of the phase their `phase_ns` add up."""

    level: str | None
    initcalls: int | None
    start_ns: int | None
    end_ns: int | None
    wall_ns: int | None
    phase_ns: int | None
    sum_ns: int | None
    probes: int | None
    unknown: int | None


class DeviceRow(TypedDict):
    """A device."""

    device: str
    bus: str | None
    driver: str | None
    tries: int
    deferrals: int
    deferred_ns: int | None
    waited_ns: int | None
    supplier: str | None
    result: str | None
    returned: int | None
    start_ns: int | None
    end_ns: int | None
    duration_ns: int | None
    grade: str | None
    reason: str | None
    initcall: str | None
    source: str | None


class UeventRow(TypedDict):
    """A uevent."""

    span: int
    seqnum: int | None
    action: str | None
    device: str | None
    subsystem: str | None
    arrival_ns: int | None
    end_ns: int | None
    latency_ns: int | None
    queued_ns: int | None
    blocked_ns: int | None
    blocked_by: str | None
    service_start_ns: int | None
    service_ns: int | None
    worker: str | None
    failure: str | None
    grade: str | None
    reason: str | None
    source: str | None


class QueueRow(TypedDict):
    """How many uevents waited and were handled from a time on."""

    time_ns: int
    waiting: int
    at_work: int


class UnitRow(TypedDict):
    """A unit of systemd."""

    span: int
    unit: str
    type: str | None
    wanted_ns: int | None
    start_ns: int | None
    end_ns: int | None
    duration_ns: int | None
    waiting_ns: int | None
    ordered_ns: int | None
    held_ns: int | None
    working_ns: int | None
    hardware_ns: int | None
    main_ns: int | None
    waited_for: str | None
    state: str | None
    grade: str | None
    reason: str | None
    source: str | None


class StageRow(TypedDict):
    """A stage of the boot."""

    stage: str
    part_of: str | None
    start_ns: int | None
    end_ns: int | None
    duration_ns: int | None
    grade: str | None
    reason: str | None
    source: str | None


class PathRow(TypedDict):
    """A part of the critical path; their `duration_ns` add up."""

    kind: str
    name: str
    track: str | None
    start_ns: int
    end_ns: int
    duration_ns: int
    edge: str | None
    grade: str | None
    during: str | None
    ran: str | None
    span: int | None


class StepRow(TypedDict):
    """A step with its slack; null where nothing leads from it to the goal."""

    kind: str
    name: str
    track: str | None
    start_ns: int
    end_ns: int
    duration_ns: int
    slack_ns: int | None
    critical: bool
    span: int


class RanRow(TypedDict):
    """Who had the processor on the path."""

    name: str
    kind: str
    threads: int
    run_ns: int
    unexplained_ns: int


class ChangedPathRow(TypedDict):
    """A part of the critical path as it would be."""

    kind: str
    name: str
    start_ns: int
    end_ns: int
    duration_ns: int


class LogRow(TypedDict):
    """A line of the log, with the time since the line before."""

    line: int
    time_ns: int | None
    source: str | None
    text: str | None
    host_ns: int | None
    level: int | None
    caller: str | None
    channel: str | None
    delta_ns: int | None


class GapRow(TypedDict):
    """A silent gap of the log."""

    gap_ns: int
    start_ns: int
    end_ns: int
    line_before: int | None
    before: str | None
    line_after: int | None
    after: str | None
    running: str | None


class CostlyRow(TypedDict):
    """A line and what printing it to the console took."""

    line: int
    time_ns: int | None
    characters: int
    cost_ns: int | None
    text: str | None


class KdRow(TypedDict):
    """A row of the table that `kd` gives, in microseconds."""

    function: str
    count: int | None
    time_us: int | None
    average_us: int | None
    min_us: int | None
    max_us: int | None
    sub_time_us: int | None
    local_us: int | None
    max_sub: str | None
    max_sub_count: int | None
    sub_list: str | None
    source: str | None
