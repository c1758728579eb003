"""Data of the commands for automation."""

from typing_extensions import TypedDict

from firstlight.comparison.testbed import Testbed
from firstlight.gate.bridge import Bridge, GateChange
from firstlight.gate.verdict import Confirmation


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
        "bridge": Bridge | None,
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


class SeriesChange(TypedDict):
    """A change of the level of a series; `relative` is null where the level before was 0."""

    at: str
    place: int
    before: int
    after: int
    relative: float | None
    significant: bool
    size: str
    points: int
    text: str
    status: str


class Series(TypedDict):
    """The total, a phase or a function over commits."""

    kind: str
    name: str
    regime: str
    points: list[Point]
    changes: list[SeriesChange]
    left_out: int
    unequal: list[str]
    incomplete: list[str]


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
    points: int
    left_out: int
    unequal: list[str]
    incomplete: list[str]
    alerts: int
    regressions: list[Regression]
