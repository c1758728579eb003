"""OpenMetrics: gauges of one boot, as Prometheus' node_exporter takes them from a text file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.exporters.figures import Figures, figures_of
from firstlight.exporters.openmetrics_text import family, sample
from firstlight.exporters.result import Exported
from firstlight.quantities import exact_seconds


def write_openmetrics(boot: Boot, out: Path) -> Exported:
    """Write the figures of *boot* to *out* as OpenMetrics 1.0 text.

    :raises BundleError: when a table cannot be read.
    """
    figures = figures_of(boot)
    out.write_text("\n".join(_lines(figures)) + "\n", encoding="utf-8")
    return Exported({"phases": len(figures.phases), "marks": len(figures.marks)})


def _lines(figures: Figures) -> Iterator[str]:
    own = (("boot", figures.name), ("clock", figures.clock))
    text = f"Boot time from {figures.first} to {figures.last}."
    yield from family("boot_seconds", "gauge", "seconds", text)
    # A failed boot has no boot time: the end of its record would look like a fast boot.
    if figures.came_up:
        yield sample("boot_seconds", own, exact_seconds(figures.total_ns))
    yield from family("boot_phase_seconds", "gauge", "seconds", "Time of each phase; phases add up to the boot.")
    for phase, ns in figures.phases.items():
        yield sample("boot_phase_seconds", (*own, ("phase", phase)), exact_seconds(ns))
    yield from family("boot_mark_seconds", "gauge", "seconds", f"Time of each mark, from {figures.first} on.")
    for mark, ns in figures.marks.items():
        yield sample("boot_mark_seconds", (*own, ("mark", mark)), exact_seconds(ns))
    if figures.instructions is not None:
        yield from family("boot_instructions", "gauge", "", "Instructions executed.")
        yield sample("boot_instructions", own, str(figures.instructions))
    if figures.idle_ns is not None:
        yield from family("boot_idle_seconds", "gauge", "seconds", "Idle time.")
        yield sample("boot_idle_seconds", own, exact_seconds(figures.idle_ns))
    yield from family("boot_up", "gauge", "", "Whether the boot reached its last mark.")
    yield sample("boot_up", own, "1" if figures.came_up else "0")
    yield from family("boot", "info", "", "What booted.")
    about = (("mode", figures.mode), ("kernel", figures.kernel or ""), ("manifest_sha256", figures.digest))
    yield sample("boot_info", (*own, *about), "1")
    yield "# EOF"
