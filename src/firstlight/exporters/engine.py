"""The engine's part of the exports, with its errors in our words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from firstlight import _core
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError, FirstlightError
from firstlight.schema.spans import SpanKind

Unit = Literal["time", "instructions"]


@contextmanager
def engine_errors(bundle: Path) -> Iterator[None]:
    """Turn what the engine raises into what people are told.

    :raises BundleError: when a table cannot be read, or the bundle has nothing that the format holds.
    """
    try:
        yield
    except LookupError as error:
        raise BundleError(f"nothing to export: {error.args[0]}", where=str(bundle), hint=_hint(str(error))) from error
    except ValueError as error:
        hint = "the file was cut off or changed; copy the bundle again, or record it again"
        raise BundleError(f"damaged table: {error}", where=str(bundle), hint=hint) from error


def _hint(what: str) -> str:
    return "`--unit time` weighs by time" if "instructions" in what else "`--to csv` and `--to json` hold every table"


@dataclass(frozen=True)
class Lane:
    """A part of a track in which spans only nest."""

    group: str
    track: str
    number: int
    steps: list[int]
    """In order of time: a row of the spans where it begins, ``~row`` where it ends."""


@dataclass(frozen=True)
class Lanes:
    """The spans of a boot that can be drawn."""

    lanes: list[Lane]
    start: list[int | None]
    """When each row of the spans starts, in ns; none for what is not drawn."""
    end: list[int | None]
    """When it ends, in ns, also where that was reckoned; none too for what never ended."""
    left_out: dict[str, int]


def span_lanes(bundle: Path) -> Lanes:
    """The spans of the bundle at *bundle*, lane by lane.

    :raises BundleError: when the table cannot be read.

    >>> span_lanes(bundle).lanes[0].track
    'boot'
    """
    with engine_errors(bundle):
        worked = _core.span_lanes(str(bundle))
    lanes = [Lane(*lane) for lane in worked["lanes"]]
    left_out = {reason: worked[reason] for reason in ("no_start", "ends_before_start")}
    return Lanes(lanes, worked["start"], worked["end"], left_out)


#: Kinds of spans that have the name of another one: that of the unit, the event or the phase that they are about.
_NAMED_BY_ANOTHER = frozenset(
    {SpanKind.STAGE, SpanKind.UNIT_ACTIVE, SpanKind.UEVENT_QUEUED, SpanKind.UEVENT_BLOCKED, SpanKind.UEVENT_SERVICE}
)


def frame_names(boot: Boot) -> list[str]:
    """The names of the spans for a format that knows frames by name alone: what is no work of its name says what it is.

    >>> import firstlight
    >>> frame_names(firstlight.open(bundle))[0]
    'firmware'
    """
    rows = boot.spans().select("kind", "name").iter_rows()
    return [f"{name} [{kind}]" if kind in _NAMED_BY_ANOTHER else name for kind, name in rows]


def weighted_stacks(bundle: Path, unit: Unit) -> dict[str, Any]:
    """The calling-context tree, or where there is none the spans, as `parent`, `row`, `name` and `weight`.

    Weights are ns or instructions of a node without those below it; parents come before their children.

    :raises BundleError: when there is neither, or nothing in them has the unit.

    >>> weighted_stacks(bundle, "time")["origin"]
    'calls'
    """
    return call(_core.weighted_stacks, bundle, unit)


def call(function: Callable[..., dict[str, Any]], bundle: Path, *arguments: str) -> dict[str, Any]:
    """Call a function of the engine on a bundle.

    :raises BundleError: when a table cannot be read, or there is nothing to export.
    :raises FirstlightError: when the file cannot be written.
    """
    try:
        with engine_errors(bundle):
            return function(str(bundle), *arguments)
    except OSError as error:
        raise FirstlightError(f"cannot be exported: {error}", where=str(bundle)) from error
