"""The known causes that a boot has, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firstlight.advise.entry import Entry
from firstlight.advise.findings import Certainty, Explanation, Finding
from firstlight.advise.prove import Tried
from firstlight.bundle.boot import Boot
from firstlight.render.views.explain import remedy_text


def explain_data(boot: Boot, found: Explanation, tried: Sequence[Tried] = ()) -> dict[str, Any]:
    """The same as data, times in nanoseconds."""
    trials = {each.finding.entry.id: each for each in tried}
    return {
        "boot": str(boot.directory),
        "goal": found.goal,
        "whole_ns": found.whole_ns,
        "entries": found.entries,
        "looked_for": found.coverage.entries,
        "lacks": [{"evidence": each.what, "hint": each.hint} for each in found.coverage.lacks],
        "findings": [finding_data(each, trials) for each in found.findings],
        "features": [finding_data(each, trials) for each in found.features],
        "machine": [finding_data(each, trials) for each in found.machine],
        "unpriced": [finding_data(each, trials) for each in found.unpriced],
        "smaller": [finding_data(each, trials) for each in found.smaller],
    }


def finding_data(finding: Finding, trials: Mapping[str, Tried]) -> dict[str, Any]:
    """One finding as data."""
    entry = finding.entry
    tried = trials.get(entry.id)
    is_known = finding.certainty is not Certainty.UNKNOWN
    return {
        "entry": entry.id,
        "title": entry.title,
        "nature": str(entry.nature),
        "mechanism": entry.mechanism,
        "cost_ns": finding.cost.ns if is_known else None,
        "waits_ns": finding.cost.waits_ns,
        "machine_ns": finding.cost.machine_ns,
        "share": finding.share if is_known else None,
        "certainty": str(finding.certainty),
        "evidence": [{"kind": seen.item.kind, "text": seen.text} for seen in finding.seen],
        "shares_with": [{"entry": each.entry, "ns": each.ns} for each in finding.shares],
        "remedies": [{"layer": str(each.layer), "text": remedy_text(each), "applicable": each.is_applicable}
                     for each in entry.remedies],
        "expected_gain_ns": finding.gain_ns if is_known else None,
        "effect": entry.effect,
        "risk": entry.risk,
        "guard": entry.guard or None,
        "checks": list(entry.checks),
        "source": entry.source,
        "tried": None if tried is None else _trial_data(tried),
    }  # fmt: skip


def _trial_data(tried: Tried) -> dict[str, Any]:
    return {"proof": str(tried.proof), "gain_ns": tried.gain_ns, "why": tried.why or None}


def one_data(
    boot: Boot, found: Explanation, entry: Entry, finding: Finding | None, tried: Sequence[Tried] = ()
) -> dict[str, Any]:
    """One entry in a boot as data; `finding` is null where the boot does not show it."""
    trials = {each.finding.entry.id: each for each in tried}
    return {
        "boot": str(boot.directory),
        "goal": found.goal,
        "whole_ns": found.whole_ns,
        "entry": entry.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        "finding": None if finding is None else finding_data(finding, trials),
    }
