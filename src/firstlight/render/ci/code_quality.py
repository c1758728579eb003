"""GitLab's code quality report: a finding for each rule that did not pass."""

from __future__ import annotations

import hashlib
import json

from firstlight.escape import printable
from firstlight.gate.verdict import GateResult

_SEVERITIES = {"regression": "major", "unhealthy": "blocker", "inconclusive": "info"}


def code_quality(result: GateResult, file: str) -> str:
    """The rules that did not pass as GitLab's `codequality` artifact takes them; an empty list where all did.

    A finding's fingerprint is of its rule, not of its figures: the next pipeline finds the same one again.

    :param file: what the findings are shown at: the baseline's file.
    """
    rows = [
        {
            "description": f"Boot time: {printable(check.name, 100)}: {printable(check.text, 500)}",
            "check_name": f"firstlight-gate-{check.kind}",
            "fingerprint": hashlib.sha256(f"{check.kind}\0{check.what}".encode(errors="replace")).hexdigest(),
            "severity": _SEVERITIES[check.outcome],
            "location": {"path": printable(file), "lines": {"begin": 1}},
        }
        for check in result.checks
        if check.outcome in _SEVERITIES
    ]
    return json.dumps(rows, indent=2) + "\n"
