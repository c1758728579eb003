"""Annotations for GitHub: workflow commands, which a runner takes from what a step prints."""

from __future__ import annotations

from firstlight.escape import printable
from firstlight.gate.verdict import GateResult

_LEVELS = {"regression": "error", "unhealthy": "error", "inconclusive": "warning"}


def github(result: GateResult, file: str) -> str:
    """An error for each rule that failed, a warning for each that is undecided; empty where all is well.

    :param file: what the annotations are shown at: the baseline's file.

    Source: GitHub's documentation of workflow commands.
    """
    lines = []
    for check in result.checks:
        level = _LEVELS.get(check.outcome)
        if level is not None:
            title = f"Boot time: {printable(check.name, 100)}"
            text = f"{check.outcome}: {printable(check.text, 500)}"
            lines.append(f"::{level} file={_property(file)},title={_property(title)}::{_text(text)}")
    return "".join(f"{line}\n" for line in lines)


def _text(text: str) -> str:
    """
    >>> _text("5 %")
    '5 %25'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """
    >>> _property("total: soft, hard")
    'total%3A soft%2C hard'
    """
    return _text(text).replace(":", "%3A").replace(",", "%2C")
