"""The JSON that github-action-benchmark takes as `customSmallerIsBetter`."""

from __future__ import annotations

import json
from typing import Any

from firstlight.gate.bridge import phase_changes
from firstlight.gate.verdict import GateResult


def custom_smaller(result: GateResult) -> str:
    """The measured boot and its phases, in milliseconds of the testbed's clock; of several boots their mean."""
    changes = phase_changes(result)
    extra = f"{result.testbed.clock} clock, {result.testbed.first_mark} to {result.testbed.last_mark}"
    if not result.exact:
        extra += f", mean of {len(result.came_up)} boots"
    times = [sample.virtual_ns for sample in result.came_up]
    rows: list[dict[str, Any]] = []
    # The whole first, as a dashboard shows them.
    for change in (*changes[-1:], *changes[:-1]):
        if change.after_ns is None:
            continue
        row = {
            "name": "boot" if change is changes[-1] else f"boot: {change.name}",
            "unit": "ms",
            "value": change.after_ns / 1e6,
        }
        if change is changes[-1] and not result.exact:
            row["range"] = f"± {(max(times) - min(times)) / 2e6:.3f}"
        rows.append({**row, "extra": extra})
    return json.dumps(rows, indent=2) + "\n"
