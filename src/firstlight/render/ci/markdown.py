"""Markdown for a pull request: the verdict in one line, the rules, and what changed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from firstlight.escape import printable
from firstlight.gate.bridge import ALL, GateChange, bridge, function_changes, phase_changes
from firstlight.gate.verdict import GateResult
from firstlight.quantities import percent_text, time_text
from firstlight.render.views.gate import bridge_text

#: A tool that updates its own comment finds it by this.
MARKER = "<!-- firstlight gate -->"

_SIGNS = {"pass": "✅", "improvement": "🎉", "regression": "❌", "inconclusive": "❔", "unhealthy": "💥"}
_CLOCKS = {"virtual": "virtual time", "host": "time of the host", "imported": "time of the log"}


def markdown(result: GateResult) -> str:
    """The result of a gate as a comment: no name in it can become markup."""
    bed = result.testbed
    changes = phase_changes(result)
    whole = changes[-1] if changes else None
    lines = [MARKER, f"### {_SIGNS[result.verdict]} Boot time: {result.verdict}", "", _headline(result, whole), ""]
    if result.confirmation is not None:
        lines += [f"Booted again: {_safe(result.confirmation.text)}", ""]
    lines += _table(
        ("", "Rule", "Limit", "Baseline", "Measured", "Change", "Why"),
        [
            (_SIGNS[check.outcome], _safe(check.name), time_text(check.limit_ns), time_text(check.baseline_ns),
             time_text(check.measured_ns), percent_text(check.change_percent), _safe(check.text))
            for check in result.checks
        ],
        numbers=(2, 3, 4, 5),
    )  # fmt: skip
    means = "" if result.exact else ", mean"
    between = bridge(result)
    if between is not None:
        lines += ["", _safe(bridge_text(between))]
    phases = changes[:-1]
    changed = [change for change in phases if change.change_ns]
    if changed and whole is not None:
        kept = sorted(changed, key=lambda change: -abs(change.change_ns))
        lines += ["", f"<details><summary>Phases: {len(changed)} of {len(phases)} changed</summary>", ""]
        lines += _changes(f"Phase{means}", [*kept, GateChange("(unchanged)", *_unchanged(phases)), whole])
        lines += ["", "</details>"]
    functions = function_changes(result)
    if any(change.change_ns for change in functions):
        lines += ["", "<details><summary>Functions, by self time</summary>", ""]
        lines += _changes(f"Function{means}", functions)
        lines += ["", "</details>"]
    if result.flags:
        lines += ["", *(f"- {_safe(flag)}" for flag in result.flags)]
    baseline = result.baseline
    lines += [
        "",
        f"<sub>{_CLOCKS[bed.clock]}, {_safe(bed.first_mark)} to {_safe(bed.last_mark)}, {bed.mode} mode; baseline "
        f"{_safe(baseline.name)} of {_safe(baseline.blessed_at)}: {_safe(baseline.because)}</sub>",
    ]
    return "\n".join(lines) + "\n"


def _headline(result: GateResult, whole: GateChange | None) -> str:
    if whole is None or whole.before_ns is None or whole.after_ns is None:
        return "No boot came up."
    change = whole.change_ns / whole.before_ns * 100 if whole.before_ns else None
    exactly = f" ({whole.change_ns:+,} ns, exact)" if result.exact else ""
    kind = "" if result.exact else "on the mean, "
    return f"**{time_text(whole.before_ns)} → {time_text(whole.after_ns)}**, {kind}{percent_text(change)}{exactly}"


def _unchanged(phases: Sequence[GateChange]) -> tuple[int, int, int]:
    same = [change for change in phases if not change.change_ns]
    return sum(change.before_ns or 0 for change in same), sum(change.after_ns or 0 for change in same), 0


def _changes(title: str, rows: Iterable[GateChange]) -> list[str]:
    return _table(
        (title, "Baseline", "Measured", "Change"),
        [
            (f"**{row.name}**" if row.name == ALL else _safe(row.name), time_text(row.before_ns),
             time_text(row.after_ns), f"{row.change_ns:+,} ns" if row.change_ns else "0")
            for row in rows
        ],
        numbers=(1, 2, 3),
    )  # fmt: skip


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int]) -> list[str]:
    rule = "|".join("---:" if place in numbers else "---" for place in range(len(titles)))
    return [f"| {' | '.join(titles)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]


def _safe(text: str) -> str:
    """A text in which nothing is markup of Markdown or HTML, nor a mention of a person."""
    escaped = re.sub(r"([\\`*{}\[\]#|~!$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", printable(text, 300))
    return html.escape(escaped, quote=False).replace("@", "@<!-- -->")
