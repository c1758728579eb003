"""Data of the commands that make boots, and of those that set up."""

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from firstlight.bundle.manifest import Clock, Completeness, Contradiction, Failure, Invariant, Source, Table, Totals
from firstlight.lab.capture.self_test import StampError
from firstlight.lab.doctor import Check
from firstlight.lab.run.table_diff import TableDifference
from firstlight.lab.run.verify import ChangedInput


class Recorded(TypedDict):
    """`firstlight record`."""

    boot: str
    mode: str
    status: str
    failure: Failure | None
    totals: Totals
    completeness: Completeness
    invariants: dict[str, Invariant]
    reproduce: str


class Planned(TypedDict):
    """`firstlight record --dry-run`."""

    command: str


class BoardRecorded(TypedDict):
    """`firstlight record --board`: the bundles of boots that came up, and what went wrong."""

    boots: list[str]
    events: list[str]


class LogLines(TypedDict):
    """Lines of the log, and those left out because another record has them."""

    lines: int
    copies: int


class Imported(TypedDict):
    """One bundle of `firstlight import`; `spans` counts spans by kind and grade."""

    boot: str
    clock: Clock
    totals: Totals
    completeness: Completeness
    sources: list[Source]
    contradictions: list[Contradiction]
    tables: dict[str, Table]
    reproduce: str
    spans: dict[str, dict[str, int]]
    log: LogLines
    marks: dict[str, int]
    notes: list[str]


class Capture(TypedDict):
    """How a capture ended: `ready`, `closed`, `timeout` or `interrupted`; and the error of its time stamps."""

    ended: str
    bytes: int
    stamp_error: StampError | None


class Captured(Imported):
    """The bundle of `firstlight capture`."""

    capture: Capture


class BatchEntry(TypedDict):
    """An entry of a directory; `outcome` is `imported`, `several boots`, `rejected` or `left out`."""

    entry: str
    outcome: str
    reason: str | None
    hint: str | None
    bundles: list[str]
    formats: list[str]
    lines: int
    missing: list[str]
    notes: list[str]
    earlier: bool


class Batch(TypedDict):
    """`firstlight import --batch`."""

    counts: dict[str, int]
    entries: list[BatchEntry]


class Format(TypedDict):
    """A format that `firstlight import --as` reads."""

    format: str
    title: str


class Collector(TypedDict):
    """`firstlight collector`."""

    name: str
    sha256: str
    text: str


class Verified(TypedDict):
    """`firstlight verify`."""

    boot: str
    equal: bool
    inputs: list[ChangedInput]
    observers: list[ChangedInput]
    differences: list[TableDifference]
    outcome: str | None
    tables: dict[str, int]
    totals: dict[str, int | None]


class Share(TypedDict):
    """How much of a recording the second observer confirms."""

    equal: int
    of: int
    share: float | None
    limit: float
    reached: bool


class Audited(TypedDict):
    """`firstlight audit BOOT`."""

    boot: str
    reached: bool
    kernel: str
    processor: str
    qemu: str
    instructions: dict[str, int]
    shares: dict[str, Share]
    checks: dict[str, JsonValue]
    happened: dict[str, JsonValue]
    exceptions: list[dict[str, JsonValue]]
    unexplained: int


class Matrix(TypedDict):
    """`firstlight audit --matrix`."""

    extent: str
    rows: list[dict[str, JsonValue]]


class Doctor(TypedDict):
    """`firstlight doctor`."""

    exact: bool
    install: str | None
    checks: list[Check]


class Image(TypedDict):
    """An image of the lab; `path` and `bytes` are null where it was not built."""

    name: str
    architecture: str
    kind: str
    what: str
    option: str
    path: str | None
    bytes: int | None


class Removed(TypedDict):
    """`firstlight image remove`."""

    name: str
    removed: bool


class StudyName(TypedDict):
    """A study of `firstlight study list`."""

    name: str
    title: str
    question: str
    architectures: list[str]


class Asked(TypedDict):
    """`firstlight ask`: a row has `call`, `start_ns`, `instructions`, `tgid`, `pid`, `comm` and the values."""

    boot: str
    function: str
    values: list[str]
    calls: int
    recorded: int
    profile_calls: int | None
    unaffected: bool
    differences: list[str]
    rows: list[dict[str, JsonValue]]


class StudySkeleton(TypedDict):
    """`firstlight study new`."""

    name: str
    files: list[str]


class RecheckedClaim(TypedDict):
    """A claim on two kernels."""

    id: str
    claim: str
    before: str
    after: str
    now_before: str
    now_after: str
    flipped: bool


class StudyRecheck(TypedDict):
    """`firstlight study recheck`."""

    study: str
    claims: list[RecheckedClaim]
    missing: list[dict[str, JsonValue]]


class Study(TypedDict):
    """`firstlight study run`; `docs/reference/formats/study.md` is the specification of the tables."""

    format: str
    version: int
    study: str
    title: str
    question: str
    quick: bool
    architecture: str
    made_of: dict[str, str]
    recipe: list[str]
    tables: list[dict[str, JsonValue]]
    charts: list[dict[str, JsonValue]]
    historical: list[dict[str, JsonValue]]
    findings: list[dict[str, JsonValue]]
    missing: list[dict[str, JsonValue]]
    notes: list[str]
    data: NotRequired[JsonValue]
