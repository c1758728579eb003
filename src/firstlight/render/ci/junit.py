"""JUnit XML: one test case for each rule of a gate."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from firstlight.escape import printable
from firstlight.gate.checks import Check
from firstlight.gate.verdict import GateResult
from firstlight.quantities import exact_seconds

_KINDS = {"regression": "failure", "unhealthy": "error", "inconclusive": "skipped"}


def junit(result: GateResult) -> str:
    """The result of a gate as JUnit XML.

    A regression is a failure, an unhealthy boot an error, what could not be decided is skipped. A confirmation passes
    if it settled the alarms, whatever it said of them, and is skipped if it did not. A case's time is the boot's, in
    seconds of the testbed's clock; the figures are properties.
    """
    checks = list(result.checks)
    if result.confirmation is not None:
        # The regression itself is the failure. What could not be confirmed leaves it open.
        open_ = result.confirmation.confirmed is None or (result.exact and not result.confirmation.confirmed)
        checks.append(Check("health", "confirmation", "inconclusive" if open_ else "pass", result.confirmation.text))
    counts = {
        kind: sum(_KINDS.get(check.outcome) == kind for check in checks) for kind in ("failure", "error", "skipped")
    }
    numbers = {"tests": str(len(checks)), "failures": str(counts["failure"]), "errors": str(counts["error"])}
    root = ET.Element("testsuites", {"name": "firstlight gate", **numbers})
    named = {"name": f"boot time, {_clock(result)}", **numbers, "skipped": str(counts["skipped"])}
    suite = ET.SubElement(root, "testsuite", named)
    properties = ET.SubElement(suite, "properties")
    for name, value in {
        "verdict": result.verdict,
        "regime": "exact" if result.exact else "noisy",
        "clock": result.testbed.clock,
        "from": result.testbed.first_mark,
        "to": result.testbed.last_mark,
        "baseline": result.baseline.name,
        "baseline_because": result.baseline.because,
        "boots": " ".join(sample.boot for sample in result.samples),
    }.items():
        ET.SubElement(properties, "property", {"name": name, "value": printable(value)})
    for check in checks:
        _case(suite, check)
    notes = [*result.flags, *([] if result.noise_band is None else [result.noise_band])]
    if notes:
        ET.SubElement(suite, "system-out").text = "\n".join(map(printable, notes))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _clock(result: GateResult) -> str:
    return (
        f"{result.testbed.clock} clock, {printable(result.testbed.first_mark)} to {printable(result.testbed.last_mark)}"
    )


def _case(suite: ET.Element, check: Check) -> None:
    case = ET.SubElement(
        suite, "testcase", {"classname": f"firstlight.gate.{check.kind}", "name": printable(check.name)}
    )
    if check.measured_ns is not None:
        case.set("time", exact_seconds(check.measured_ns))
    figures = {
        name: getattr(check, name)
        for name in ("limit_ns", "baseline_ns", "measured_ns", "change_ns", "change_percent", "low_percent",
                     "high_percent", "probability", "band_ns")
    }  # fmt: skip
    known = {name: value for name, value in figures.items() if value is not None}
    if known:
        properties = ET.SubElement(case, "properties")
        for name, value in known.items():
            ET.SubElement(properties, "property", {"name": name, "value": str(value)})
    kind = _KINDS.get(check.outcome)
    if kind is not None:
        ET.SubElement(case, kind, {"message": printable(check.text), "type": check.outcome})
