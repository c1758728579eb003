"""Data of `firstlight fleet`; times are nanoseconds."""

from typing import Any, Literal

from typing_extensions import TypedDict


class Made(TypedDict):
    """`firstlight fleet init`."""

    fleet: str
    keeps_identities: bool


class LeftOut(TypedDict):
    """A boot that cannot be read, and why."""

    boot: str
    reason: str


class Added(TypedDict):
    """`firstlight fleet add`."""

    fleet: str
    added: int
    known: int
    quarantined: list[LeftOut]


class Compacted(TypedDict):
    """`firstlight fleet compact`."""

    fleet: str
    files_before: int
    files_after: int
    removed: int
    former: int


class Forgotten(TypedDict):
    """`firstlight fleet forget`."""

    fleet: str
    forgotten: int


Row = dict[str, str | int | float | bool | None]
"""A row: the attributes of its group by their names, the part, and its figures."""


class Shown(TypedDict):
    """`firstlight fleet show`."""

    fleet: str
    question: str
    boots: int
    left_out: int
    by: list[str]
    old: str | None
    new: str | None
    notes: list[str]
    rows: list[Row]


class OneBoot(TypedDict):
    """`firstlight fleet boot`."""

    fleet: str
    boot: Row
    parts: list[Row]


class Queried(TypedDict):
    """`firstlight fleet sql`."""

    fleet: str
    columns: list[str]
    rows: list[list[str | int | float | bool | list[Any] | dict[str, Any] | None]]


class Page(TypedDict):
    """`firstlight fleet page`."""

    fleet: str
    page: str
    bytes: int


class FleetExport(TypedDict):
    """`firstlight fleet export`."""

    fleet: str
    to: Literal["openmetrics", "grafana"]
    file: str
    bytes: int


class Callee(TypedDict):
    """A function below an initcall, by its own time."""

    function: str
    module: str | None
    count: int | None
    self_ns: int | None


class Reproduced(TypedDict):
    """`firstlight fleet reproduce`."""

    fleet: str
    initcall: str
    kernel: str
    boots: int
    p50_ns: float
    p99_ns: float
    boot: str
    exact_ns: int | None
    functions: list[Callee]


class Cause(TypedDict):
    """A cause of the catalogue in a fleet; `title` is null where this catalogue has no such entry."""

    entry: str
    title: str | None
    boots: int
    share: float
    p50_ns: float
    p90_ns: float
    sum_ns: int


class Explained(TypedDict):
    """`firstlight fleet explain`."""

    fleet: str
    boots: int
    others: int
    causes: list[Cause]
