"""LAVA: a script of `lava-test-case` calls for a test definition (https://docs.lavasoftware.org/lava/writing-tests.html)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.exporters.figures import Figures, figures_of, plain_names
from firstlight.exporters.result import Exported
from firstlight.quantities import exact_seconds


def write_lava(boot: Boot, out: Path) -> Exported:
    """Write a shell script to *out* that reports the figures of *boot* as test cases with measurements.

    :raises BundleError: when a table cannot be read.
    """
    figures = figures_of(boot)
    lines = list(_lines(figures))
    out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Exported({"test cases": sum(line.startswith("lava-test-case ") for line in lines)})


def _lines(figures: Figures) -> Iterator[str]:
    yield "#!/bin/sh"
    about = f"{figures.name}: {figures.first} to {figures.last}, {figures.mode}, time of the clock {figures.clock}"
    yield f"# {printable(about)}"
    if figures.came_up:
        yield _case("boot", "pass", exact_seconds(figures.total_ns), "seconds")
    else:
        yield f"# {printable(figures.why_not or 'the boot is incomplete', 200)}"
        yield _case("boot", "fail")
    if figures.instructions is not None:
        yield _case("instructions", "pass", str(figures.instructions), "instructions")
    if figures.idle_ns is not None:
        yield _case("idle", "pass", exact_seconds(figures.idle_ns), "seconds")
    for kind, values in (("phase", figures.phases), ("mark", figures.marks)):
        for (name, ns), full in zip(plain_names(values).items(), values, strict=True):
            result = "fail" if kind == "phase" and full in figures.unfinished else "pass"
            yield _case(f"{kind}-{name}", result, exact_seconds(ns), "seconds")


def _case(name: str, result: str, measurement: str | None = None, unit: str = "") -> str:
    words = ["lava-test-case", name, "--result", result]
    if measurement is not None:
        words += ["--measurement", measurement, "--units", unit]
    return shlex.join(words)
