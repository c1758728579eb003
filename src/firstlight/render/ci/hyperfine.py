"""The JSON of hyperfine 1.20, which dashboards and its own scripts read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import mean, median, stdev
from typing import Any

from firstlight.comparison.boot_figures import Sample
from firstlight.gate.verdict import EXIT_CODES, GateResult


def hyperfine(result: GateResult) -> str:
    """The boots of a baseline and of a gate in the layout of `hyperfine --export-json`; times in seconds of the clock.

    Its readers want a number for `user` and `system`, times of a processor that nobody measured: both are 0, and the
    parameters say so.
    """
    arms: list[tuple[str, Sequence[Sample]]] = [
        (f"baseline {result.baseline.name}", result.baseline.samples),
        ("measured", result.came_up),
    ]
    rows = [_row(name, arm, result.testbed.clock) for name, arm in arms if arm]
    return (
        json.dumps({"results": rows, "verdict": result.verdict, "exit_code": EXIT_CODES[result.verdict]}, indent=2)
        + "\n"
    )


def _row(name: str, arm: Sequence[Sample], clock: str) -> dict[str, Any]:
    times = [sample.virtual_ns / 1e9 for sample in arm]
    return {
        "command": name,
        "mean": mean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": median(times),
        "user": 0.0,
        "system": 0.0,
        "min": min(times),
        "max": max(times),
        "times": times,
        "exit_codes": [0] * len(times),
        "parameters": {
            "boots": " ".join(sample.boot for sample in arm),
            "clock": clock,
            "user_and_system": "not measured",
        },
    }
