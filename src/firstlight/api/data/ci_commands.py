"""Data of the commands for automation."""

from typing_extensions import TypedDict

from firstlight.advise.health.result import HealthCheck
from firstlight.comparison.testbed import Testbed
from firstlight.gate.bridge import Bridge, GateChange
from firstlight.gate.verdict import Confirmation
from firstlight.history.bisection import Measured


class BaselineSet(TypedDict):
    """`firstlight baseline set`."""

    baseline: str
    name: str
    because: str
    regime: str
    virtual_ns: list[int]
    former: list[str] | str | None
    incomplete: list[str]


class GateBaseline(TypedDict):
    """The baseline of a gate."""

    name: str
    because: str
    blessed_at: str
    boots: list[str]
    virtual_ns: list[int]
    instructions: list[int | None]
    idle_ns: list[int | None]


class GateBoot(TypedDict):
    """A boot that a gate checks."""

    boot: str
    healthy: bool
    unreliable: dict[str, str]
    virtual_ns: int
    instructions: int | None
    idle_ns: int | None
    manifest_sha256: str


class GateCheck(TypedDict):
    """What became of one rule."""

    name: str
    kind: str
    what: str
    outcome: str
    text: str
    limit_ns: int | None
    baseline_ns: int | None
    measured_ns: int | None
    change_ns: int | None
    change_percent: float | None
    low_percent: float | None
    high_percent: float | None
    probability: float | None
    band_ns: int | None


Gate = TypedDict(
    "Gate",
    {
        "format": str,
        "version": int,
        "verdict": str,
        "exit_code": int,
        "regime": str,
        "clock": str,
        "from": str,
        "to": str,
        "baseline": GateBaseline,
        "boots": list[GateBoot],
        "checks": list[GateCheck],
        "phases": list[GateChange],
        "functions": list[GateChange],
        "processes": list[GateChange],
        "bridge": Bridge | None,
        "noise_band": str | None,
        "flags": list[str],
        "confirmation": Confirmation | None,
        "testbed": Testbed,
    },
)
"""`firstlight gate`."""


class HistoryAdded(TypedDict):
    """`firstlight history add`."""

    history: str
    at: str
    added: int
    known: list[str]
    incomplete: list[str]


class Point(TypedDict):
    """A point of a series."""

    at: str
    level_ns: int
    samples_ns: list[int]
    anchored: bool
    unsure_ns: list[int]


class SeriesChange(TypedDict):
    """A change of the level of a series; `relative` is null where the level before was 0.

    `remains` is the share that is left of a regression of which a later step took a part back, else null.
    """

    at: str
    place: int
    before: int
    after: int
    relative: float | None
    change: str
    size: str
    points: int
    text: str
    status: str
    remains: float | None


class Anchor(TypedDict):
    """A label that was booted with equal inputs on two testbeds, and the ratio of its totals."""

    at: str
    before: str
    after: str
    changed: str
    ratio: float


class Series(TypedDict):
    """The total, a phase or a function over commits."""

    kind: str
    name: str
    regime: str
    testbed: str
    anchors: list[Anchor]
    points: list[Point]
    changes: list[SeriesChange]
    unsure_changes: list[SeriesChange]
    noise_band: str | None
    left_out: int
    contradictions: list[str]
    unequal: list[str]
    incomplete: list[str]
    unordered: str | None
    failed: list[str]


class HistoryShown(Series):
    """`firstlight history show`."""

    history: str
    phases: list[Series]


class Regression(SeriesChange):
    """A step upwards that was never taken back."""

    kind: str
    name: str


class Regressions(TypedDict):
    """`firstlight history regressions`."""

    history: str
    testbed: str
    points: int
    left_out: int
    contradictions: list[str]
    unequal: list[str]
    incomplete: list[str]
    unordered: str | None
    failed: list[str]
    alerts: int
    regressions: list[Regression]


class PhaseOfVersion(TypedDict):
    """How a phase changed."""

    name: str
    change_ns: int


class Bisected(TypedDict):
    """`firstlight history bisect`."""

    versions: list[str]
    last_good: str
    suspects: list[str]
    before_ns: int
    after_ns: int
    change_ns: int
    total_change_ns: int
    boots: int
    measured: list[Measured]
    path: list[str]
    phases: list[PhaseOfVersion]


class Health(TypedDict):
    """`firstlight health`."""

    healthy: bool
    baseline: str | None
    checks: list[HealthCheck]
