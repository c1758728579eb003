"""Markdown for a pull request: the verdict in one line, the rules, and what changed."""

from __future__ import annotations

from firstlight.bundle.describe import CLOCKS
from firstlight.escape import escape_markdown
from firstlight.gate.bridge import GateChange, bridge, phase_changes
from firstlight.gate.verdict import GateResult
from firstlight.quantities import counted, percent_text, time_text
from firstlight.render.markdown.table import markdown_table
from firstlight.render.model.table import Column, Table
from firstlight.render.views.gate import bridge_text, changes_tables, rules_table

#: A tool that updates its own comment finds it by this.
MARKER = "<!-- firstlight gate -->"

_SIGNS = {"pass": "✅", "improvement": "🎉", "regression": "❌", "inconclusive": "❔", "unhealthy": "💥"}
_LONGEST = 300


def markdown(result: GateResult) -> str:
    """The result of a gate as a comment: no name in it can become markup."""
    bed, baseline = result.testbed, result.baseline
    parts = [f"{MARKER}\n### {_SIGNS[result.verdict]} Boot time: {result.verdict}", _headline(result)]
    if result.confirmation is not None:
        parts.append(f"Booted again: {_safe(result.confirmation.text)}")
    signs = Column("", value=lambda check: _SIGNS[check.outcome], name="sign")
    why = Column("Why", value="text")
    # Any nanosecond is a change of an exact boot: what changed is in the tables below.
    passing = [check for check in result.checks if check.outcome == "pass" and check.what != "total"]
    shown = [check for check in result.checks if check not in passing]
    parts.append(markdown_table(rules_table(shown, signs, why)))
    if passing:
        parts += _folded(
            f"{counted(len(passing), 'other rule')} pass{'es' * (len(passing) == 1)}", rules_table(passing, why)
        )
    if (between := bridge(result)) is not None:
        parts.append(_safe(bridge_text(between)))
    for made in changes_tables(result):
        changed = f"{len(made.rows)} changed"
        parts += _folded(f"{_safe(made.columns[0].title)}: {changed}", made)
    notes = [*result.flags, *([] if result.noise_band is None else [result.noise_band])]
    if notes:
        parts.append("\n".join(f"- {_safe(note)}" for note in notes))
    parts.append(
        f"<sub>{CLOCKS[bed.clock]}, {_safe(bed.first_mark)} to {_safe(bed.last_mark)}, {bed.mode} mode; baseline "
        f"{_safe(baseline.name)} of {_safe(baseline.blessed_at)}: {_safe(baseline.because)}</sub>"
    )
    return "\n\n".join(parts) + "\n"


def _headline(result: GateResult) -> str:
    changes = phase_changes(result)
    whole: GateChange | None = changes[-1] if changes else None
    if whole is None or whole.before_ns is None or whole.after_ns is None:
        return "No boot came up."
    change = whole.change_ns / whole.before_ns * 100 if whole.before_ns else None
    exactly = f" ({whole.change_ns:+,} ns, exact)" if result.exact else ""
    kind = "" if result.exact else "on the mean, "
    return f"**{time_text(whole.before_ns)} → {time_text(whole.after_ns)}**, {kind}{percent_text(change)}{exactly}"


def _folded(summary: str, rows: Table) -> list[str]:
    return [f"<details><summary>{summary}</summary>", markdown_table(rows), "</details>"]


def _safe(text: str) -> str:
    return escape_markdown(text, _LONGEST)
