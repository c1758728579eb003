"""The JSON that github-action-benchmark takes as `customSmallerIsBetter`."""

from __future__ import annotations

import json
from typing import Any

from firstlight.compare.gate.changes import phase_changes
from firstlight.compare.gate.verdict import GateResult


def custom_smaller(result: GateResult) -> str:
    """The measured boot and its phases, in milliseconds of the testbed's clock; of several boots their mean."""
    *phases, whole = phase_changes(result)
    extra = f"{result.testbed.clock} clock, {result.testbed.first_mark} to {result.testbed.last_mark}"
    times = [sample.virtual_ns for sample in result.samples if sample.healthy]
    rows: list[dict[str, Any]] = []
    for change in (whole, *phases):
        if change.after_ns is None or not times:
            continue
        row = {
            "name": "boot" if change is whole else f"boot: {change.name}",
            "unit": "ms",
            "value": change.after_ns / 1e6,
        }
        if change is whole and not result.exact:
            row["range"] = f"± {(max(times) - min(times)) / 2e6:.3f}"
        rows.append({**row, "extra": extra})
    return json.dumps(rows, indent=2) + "\n"
