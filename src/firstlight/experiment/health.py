"""Whether a boot may count: what a plan requires of every one."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping

from firstlight.bundle.boot import Boot
from firstlight.experiment.requirement import Condition, HealthRequirement
from firstlight.lab.rootfs.commands import COMMANDS_UNIT
from firstlight.suggest import nearest


def sick(boot: Boot, health: HealthRequirement, baseline: Mapping[str, str] | None) -> list[str]:
    """Why a boot must not count; nothing when all holds.

    Without any requirement a boot still has to come up, and its guest must not have reported an error.

    :param baseline: the facts of the baseline's boot, for `same`; `None`: there is no such boot.
    """
    manifest = boot.manifest
    if manifest.failure is not None:
        return [f"the boot failed ({manifest.failure.reason}): {manifest.failure.detail}"]
    facts = boot.fact_values()
    reasons = [f"the guest reported an error: {facts['error']}"] if facts.get("error") else []
    if COMMANDS_UNIT in facts.get("systemd.failed", "").split():
        reasons.append("the command that the guest ran before it was ready failed")
    reached = set(boot.marks()["mark"].to_list())
    reasons += [
        f"mark `{mark}` was not reached{nearest(mark, reached)}" for mark in health.marks if mark not in reached
    ]
    reasons += _units(health.units, facts)
    for name, condition in health.facts.items():
        reasons += _fact(name, condition, facts, baseline)
    return reasons


def _units(units: list[str], facts: Mapping[str, str]) -> list[str]:
    if not units:
        return []
    if (failed := facts.get("systemd.failed")) is None:
        return ["nothing in the evidence says which units failed"]
    return [f"unit `{unit}` failed" for unit in units if unit in failed.split()]


def _fact(name: str, condition: Condition, facts: Mapping[str, str], baseline: Mapping[str, str] | None) -> list[str]:
    several = any(sign in name for sign in "*?[")
    names = sorted(fact for fact in facts if fnmatch.fnmatchcase(fact, name))
    if condition.same:
        if baseline is None:
            return [f"`{name}` cannot be compared: the baseline has no healthy boot"]
        names = sorted({*names, *(fact for fact in baseline if fnmatch.fnmatchcase(fact, name))})
        return [
            f"`{fact}` is {_shown(facts.get(fact))}, in the baseline {_shown(baseline.get(fact))}"
            for fact in names
            if facts.get(fact) != baseline.get(fact)
        ]
    if condition.exists is not None:
        if bool(names) == condition.exists:
            return []
        return [f"there is no fact `{name}`"] if condition.exists else [f"there is a fact `{fact}`" for fact in names]
    if not names:
        return [f"there is no fact `{name}`" + (" like it" if several else "")]
    return [reason for fact in names if (reason := _value(fact, facts[fact], condition)) is not None]


def _value(name: str, value: str, condition: Condition) -> str | None:
    if condition.equals is not None and value != condition.equals:
        return f"`{name}` is {_shown(value)}, not `{condition.equals}`"
    if condition.matches is not None and re.search(condition.matches, value) is None:
        return f"`{name}` is {_shown(value)}, which does not match `{condition.matches}`"
    if condition.at_most is None and condition.at_least is None:
        return None
    if re.fullmatch(r"-?\d{1,30}", value.strip(), re.ASCII) is None:
        return f"`{name}` is {_shown(value)}, which is not a whole number"
    number = int(value)
    if condition.at_most is not None and number > condition.at_most:
        return f"`{name}` is {number}, more than {condition.at_most}"
    if condition.at_least is not None and number < condition.at_least:
        return f"`{name}` is {number}, less than {condition.at_least}"
    return None


def _shown(value: str | None) -> str:
    return "not there" if value is None else f"`{value}`" if len(value) <= 60 else f"`{value[:59]}…`"
