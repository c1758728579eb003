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
    grade: str
    reason: str | None
    unsure_ns: int | None


class MarkRow(TypedDict):
    """A named instant."""

    mark: str
    time_ns: int | None
    instructions: int | None
    idle_ns: int | None
    source: str | None
    detail: str | None


class FunctionRow(TypedDict):
    """A function, or a row that is not a function; `machine_cost` names a known cost of the emulated machine."""

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
    consumers: str | None
    deferral: str | None
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
    processes: int | None
    instructions: int | None
    before_exec_instructions: int | None
    own_ns: int | None
    manager_ns: int | None
    others_ns: int | None
    idle_ns: int | None
    path_ns: int | None


class ManagerPartRow(TypedDict):
    """A part of the service manager's time, and who had the processor in it."""

    stage: str | None
    part: str
    start_ns: int
    end_ns: int
    duration_ns: int
    manager_ns: int
    generators_ns: int
    units_ns: int
    programs_ns: int
    kernel_ns: int
    idle_ns: int


class GeneratorRow(TypedDict):
    """A generator of systemd."""

    process: int
    pid: int
    image: str
    start_ns: int
    end_ns: int | None
    cpu_ns: int
    wait_ns: int
    instructions: int


class DoerRow(TypedDict):
    """Who executed instructions of the boot."""

    doer: str
    processes: int
    instructions: int


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


class Step(TypedDict):
    """What ran somewhere for some time."""

    kind: str
    name: str
    track: str | None
    start_ns: int
    end_ns: int
    duration_ns: int


class PathRow(Step):
    """A part of the critical path; their `duration_ns` add up."""

    edge: str | None
    grade: str | None
    during: str | None
    ran: str | None
    before: str | None
    after: str | None
    span: int | None
    process: str | None
    service: str | None
    reason: str | None
    parts: int


class ChargedRow(TypedDict):
    """What a program contributes to the critical path; their `total_ns` add up. Empty without wake-ups."""

    name: str
    service: str | None
    ran_ns: int
    ahead_ns: int
    waited_ns: int
    idle_ns: int
    total_ns: int


class LoadRow(TypedDict):
    """An interval with one limit (`CPU`, `disk`, `idle`, `not sampled`); their `duration_ns` add up."""

    bound: str
    start_ns: int
    end_ns: int
    duration_ns: int
    cpu_ns: int
    disk_ns: int
    idle_ns: int


class StepRow(Step):
    """A step with its slack; null where nothing leads from it to the goal."""

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


class ProcessRow(TypedDict):
    """A process; `depth` in a tree."""

    process: int
    pid: int
    parent: int | None
    name: str | None
    image: str | None
    arguments: str | None
    service: str | None
    start_ns: int
    end_ns: int | None
    status: int | None
    threads: int | None
    cpu_ns: int | None
    wait_ns: int | None
    instructions: int | None
    user_instructions: int | None
    kernel_instructions: int | None
    interrupt_instructions: int | None
    calls: int | None
    depth: NotRequired[int]


class CallRow(TypedDict):
    """A system call."""

    call: int
    process: int | None
    pid: int | None
    image: str | None
    service: str | None
    thread: int
    name: str
    path: str | None
    start_ns: int
    end_ns: int | None
    duration_ns: int | None
    instructions: int | None
    wait_ns: int | None
    result: int | None
    bytes: int | None
    argument_0: int
    argument_1: int
    argument_2: int


class CallSumRow(TypedDict):
    """System calls of one name, one path or one process."""

    process: NotRequired[int | None]
    pid: NotRequired[int | None]
    image: NotRequired[str | None]
    service: NotRequired[str | None]
    name: NotRequired[str]
    path: NotRequired[str]
    calls: int
    errors: int
    instructions: int | None
    duration_ns: int | None
    wait_ns: int | None
    bytes: int | None


class BillRow(TypedDict):
    """Instructions of a package, a file, programs of no package, or the kernel."""

    payer: str
    package: str | None
    version: str | None
    file: str | None
    processes: int
    instructions: int
    user_instructions: int | None
    kernel_instructions: int | None


class DeviceCostRow(TypedDict):
    """An event that a worker of udev handled."""

    device: str
    subsystem: str | None
    action: str | None
    seqnum: int | None
    pid: int
    start_ns: int
    end_ns: int
    duration_ns: int
    cpu_ns: int
    wait_ns: int
    calls: int
    opens: int
    stats: int
    accesses: int
    readlinks: int
    mknods: int
    symlinks: int
    renames: int
    forks: int
    execs: int
    not_found: int
    instructions: int
    program_instructions: int


class UdevPartRow(TypedDict):
    """What udev's processes executed instructions for."""

    part: str
    instructions: int


class FileRow(TypedDict):
    """What a process did to a path."""

    path: str
    process: int | None
    pid: int | None
    image: str | None
    service: str | None
    opens: int
    reads: int
    bytes: int | None
    looks: int
    runs: int
    not_found: int
    calls: int
    instructions: int | None
    duration_ns: int | None
    wait_ns: int | None
    first_ns: int | None


class UserFunctionRow(TypedDict):
    """A function of user mode, or code in whose place one stands."""

    name: str
    kind: str
    file: str | None
    build_id: str | None
    function: str | None
    source: str
    offset: int | None
    address: int | None
    self_instructions: int
    self_ns: int
    calls: int
    call_instructions: int


class WorkRow(TypedDict):
    """A function of user mode, a system call, or the rest of the kernel."""

    name: str
    kind: str
    file: str | None
    count: int | None
    self_instructions: int
    self_ns: int
