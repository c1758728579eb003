"""A boot in a few words: what its times are, between which marks they lie, which kernel it was."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.bundle.boot import Boot
from firstlight.bundle.slices import Interval
from firstlight.quantities import exact_seconds
from firstlight.schema.records import ClockKind

#: What the times of each kind of clock are called.
CLOCKS: Mapping[str, str] = {
    ClockKind.VIRTUAL: "virtual time",
    ClockKind.HOST: "time of the host",
    ClockKind.IMPORTED: "time of the log",
}


def clock_text(boot: Boot) -> str:
    """What the times of a boot are: never just seconds.

    >>> import firstlight
    >>> clock_text(firstlight.open(bundle))
    'virtual time'
    """
    return CLOCKS[boot.manifest.clock.kind]


def between(boot: Boot) -> str:
    """The two marks that the figures of a whole boot lie between.

    >>> import firstlight
    >>> between(firstlight.open(bundle))
    'power_on to ready'
    """
    marks = boot.marks()["mark"].to_list()
    first = marks[0] if marks else boot.manifest.clock.origin
    if boot.manifest.failure is not None:
        return f"{first} to the end of the record ({boot.manifest.failure.reason})"
    return f"{first} to {marks[-1] if marks else 'the end of the record'}"


def interval_text(interval: Interval) -> str:
    """Which slices of time figures are of.

    >>> interval_text(Interval(0, 1, 0, 25_000_000, 19, 6))
    '0.000000000 to 0.025000000 s (2 slices of time)'
    """
    several = "slice" if interval.slices == 1 else "slices"
    edges = f"{exact_seconds(interval.start_ns)} to {exact_seconds(interval.end_ns)} s"
    return f"{edges} ({interval.slices:,} {several} of time)"


def kernel_text(boot: Boot) -> str | None:
    """Which kernel it was: its release where anything states it, else the file.

    >>> import firstlight
    >>> kernel_text(firstlight.open(bundle))
    '6.1.0-56-cloud-amd64'
    """
    release = boot.fact_values().get("kernel.release") or boot.manifest.versions.get("kernel")
    return str(release) if release else boot.manifest.recipe_text("kernel")
