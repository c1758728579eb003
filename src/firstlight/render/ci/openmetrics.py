"""OpenMetrics text: gauges of the baseline and of the boots."""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.exporters.openmetrics_text import family, sample
from firstlight.gate.bridge import GateChange, phase_changes
from firstlight.gate.verdict import EXIT_CODES, GateResult
from firstlight.quantities import exact_seconds


def openmetrics(result: GateResult) -> str:
    """The figures of a gate as OpenMetrics 1.0 text.

    Times are seconds without rounding, of several boots their mean.
    """
    return "\n".join(_lines(result)) + "\n"


def _lines(result: GateResult) -> Iterator[str]:
    clock = ("clock", result.testbed.clock)
    # What did not come up has no figures: a sample of 0 would be the best boot ever.
    if changes := phase_changes(result):
        yield from _times(result, changes, clock)
        yield from _exact_figures(result, clock)
    limits = [check for check in result.checks if check.limit_ns is not None]
    if limits:
        yield from family("boot_limit_seconds", "gauge", "seconds", "What a rule of the gate allows.")
        for check in limits:
            assert check.limit_ns is not None
            yield sample(
                "boot_limit_seconds", (("kind", check.kind), ("what", check.what)), exact_seconds(check.limit_ns)
            )
    yield from family("boot_gate", "stateset", "", "The verdict of the gate.")
    for outcome in EXIT_CODES:
        yield sample("boot_gate", (("boot_gate", outcome),), "1" if outcome == result.verdict else "0")
    yield from family("boot", "info", "", "Where the figures come from.")
    first = result.samples[0]
    inputs = tuple((f"{_label(name)}_sha256", digest) for name, digest in first.inputs.items() if digest)
    yield sample("boot_info", (("boot", first.boot), ("baseline", result.baseline.name), ("mode", result.testbed.mode),
                                ("emulator", result.testbed.emulator or ""), *inputs), "1")  # fmt: skip
    yield "# EOF"


def _times(result: GateResult, changes: list[GateChange], clock: tuple[str, str]) -> Iterator[str]:
    *phases, whole = changes
    mean = "" if result.exact else ", mean of an arm's boots"
    yield from family("boot_seconds", "gauge", "seconds",
                       f"Boot time from {result.testbed.first_mark} to {result.testbed.last_mark}{mean}.")  # fmt: skip
    for arm, ns in (("baseline", whole.before_ns), ("measured", whole.after_ns)):
        if ns is not None:
            yield sample("boot_seconds", (("arm", arm), clock), exact_seconds(ns))
    yield from family("boot_phase_seconds", "gauge", "seconds", "Time of each phase; phases add up to the boot.")
    for change in phases:
        for arm, ns in (("baseline", change.before_ns), ("measured", change.after_ns)):
            if ns is not None:
                yield sample("boot_phase_seconds", (("arm", arm), clock, ("phase", change.name)), exact_seconds(ns))


def _exact_figures(result: GateResult, clock: tuple[str, str]) -> Iterator[str]:
    for name, unit, text in (("instructions", "", "Instructions executed."), ("idle_ns", "seconds", "Idle time.")):
        values = [getattr(samples[0], name) for samples in (result.baseline.samples, result.came_up)]
        figure = "boot_instructions" if not unit else "boot_idle_seconds"
        if not result.exact or None in values:
            continue
        yield from family(figure, "gauge", unit, text)
        for arm, value in zip(("baseline", "measured"), values, strict=True):
            yield sample(figure, (("arm", arm), clock), exact_seconds(value) if unit else str(value))


def _label(name: str) -> str:
    """A name as OpenMetrics takes it for a label."""
    kept = "".join(character if character.isascii() and character.isalnum() else "_" for character in name)
    return kept if kept[:1].isalpha() else f"input_{kept}"
