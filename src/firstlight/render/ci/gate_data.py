"""The result of a gate as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from firstlight.gate.bridge import bridge, function_changes, phase_changes, process_changes
from firstlight.gate.verdict import GateResult

#: The version of the document; it changes when an older reader could misread it.
VERSION = 1


def gate_data(result: GateResult, exit_code: int) -> dict[str, Any]:
    """What `firstlight gate --json` prints; times are nanoseconds of the testbed's clock."""
    baseline, between = result.baseline, bridge(result)
    return {
        "format": "firstlight-gate",
        "version": VERSION,
        "verdict": result.verdict,
        "exit_code": exit_code,
        "regime": "exact" if result.exact else "noisy",
        "clock": result.testbed.clock,
        "from": result.testbed.first_mark,
        "to": result.testbed.last_mark,
        "baseline": {
            "name": baseline.name,
            "because": baseline.because,
            "blessed_at": baseline.blessed_at,
            "boots": [sample.boot for sample in baseline.samples],
            "virtual_ns": [sample.virtual_ns for sample in baseline.samples],
            "instructions": [sample.instructions for sample in baseline.samples],
            "idle_ns": [sample.idle_ns for sample in baseline.samples],
        },
        "boots": [
            {
                "boot": sample.boot,
                "healthy": sample.healthy,
                "unreliable": {concern.value: text for concern, text in sample.unreliable.items()},
                "virtual_ns": sample.virtual_ns,
                "instructions": sample.instructions,
                "idle_ns": sample.idle_ns,
                "manifest_sha256": sample.manifest_sha256,
            }
            for sample in result.samples
        ],
        "checks": [{"name": check.name, **asdict(check)} for check in result.checks],
        "phases": [asdict(change) for change in phase_changes(result)],
        "functions": [asdict(change) for change in function_changes(result)],
        "processes": [asdict(change) for change in process_changes(result)],
        "bridge": None if between is None else asdict(between),
        "noise_band": result.noise_band,
        "flags": list(result.flags),
        "confirmation": None if result.confirmation is None else asdict(result.confirmation),
        "testbed": result.testbed.model_dump(mode="json"),
    }
