"""What every recording with a profile is checked for, and whether a verdict in a manifest follows from its figures.

The recorder decides (`crates/model/src/invariants`); this is the same list once more, so that no verdict has to be
believed. A test holds both together.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from firstlight.bundle.manifest import Concern, Invariant, Manifest
from firstlight.recipe.mode import RecordMode

#: The version of the schema since which an exact boot with a profile has every invariant.
_COMPLETE_SINCE = 2


class Rule(StrEnum):
    """What is compared."""

    ZERO = "zero"
    """The value is 0."""
    PER_CALLS = "per_calls"
    """The value is at most one in so many calls."""
    EXECUTED = "executed"
    """The value is what was executed."""
    STACKS = "stacks"
    """What was pushed was popped, is open (the value), or was left."""
    RUNS = "runs"
    """The runs have no holes, and the value is what was executed from the kernel's first instruction on."""
    MODES = "modes"
    """User mode (the value), kernel and interrupts are what the runs executed, and what the tree has of them."""


@dataclass(frozen=True)
class Check:
    """One invariant as the recorder defines it."""

    concerns: Concern
    rule: Rule
    calls: int | None = None
    """One in so many calls may be doubtful."""
    of_table: str | None = None
    """Only there where this table has rows."""


#: Every invariant by its name, in the recorder's order.
CHECKS = {
    "self_sums_to_executed": Check(Concern.EVERYTHING, Rule.EXECUTED),
    "phases_sum_to_tree": Check(Concern.EVERYTHING, Rule.ZERO),
    "stacks_accounted": Check(Concern.FUNCTIONS, Rule.STACKS),
    "returns_matched": Check(Concern.FUNCTIONS, Rule.PER_CALLS, 10_000),
    "frames_returned": Check(Concern.FUNCTIONS, Rule.PER_CALLS, 10_000),
    "calls_reach_functions": Check(Concern.FUNCTIONS, Rule.PER_CALLS, 10_000),
    "circles_kept": Check(Concern.FUNCTIONS, Rule.PER_CALLS, 100_000),
    "clock_goes_forward": Check(Concern.FUNCTIONS, Rule.PER_CALLS, 1_000_000),
    "clock_is_qemus": Check(Concern.EVERYTHING, Rule.ZERO),
    "thunks_are_no_functions": Check(Concern.FUNCTIONS, Rule.ZERO),
    "entries_counted": Check(Concern.FUNCTIONS, Rule.ZERO),
    "initcalls_entered": Check(Concern.INITCALLS, Rule.ZERO),
    "slices_sum_to_tree": Check(Concern.FUNCTIONS, Rule.ZERO, of_table="slices"),
    "slices_sum_to_phases": Check(Concern.FUNCTIONS, Rule.ZERO, of_table="slices"),
    "runs_partition_the_kernel": Check(Concern.EVERYTHING, Rule.RUNS, of_table="runs"),
    "tasks_confirmed": Check(Concern.EVERYTHING, Rule.ZERO, of_table="runs"),
    "modes_partition_the_runs": Check(Concern.PROCESSES, Rule.MODES, of_table="processes"),
    "registers_confirmed": Check(Concern.PROCESSES, Rule.ZERO, of_table="processes"),
    "user_functions_partition_user_mode": Check(Concern.PROCESSES, Rule.ZERO, of_table="user_functions"),
}


def missing_invariant(manifest: Manifest) -> str | None:
    """The first invariant that a boot of the present schema with a profile must have, and this one has not.

    >>> import firstlight
    >>> missing_invariant(firstlight.open(bundle).manifest) is None
    True
    """
    if manifest.mode != RecordMode.EXACT or manifest.schema_version < _COMPLETE_SINCE:
        return None
    filled = {None, *(name for name, table in manifest.tables.items() if table.rows > 0)}
    needed = (name for name, check in CHECKS.items() if check.of_table in filled)
    return next((name for name in needed if name not in manifest.invariants), None)


def wrong_verdict(name: str, invariant: Invariant) -> str | None:
    """Why a verdict does not follow from its figures; nothing where it does.

    An invariant that says itself that it is broken is believed, unless its own limit says otherwise.

    >>> wrong_verdict("entries_counted", Invariant(holds=True, value=7, limit=0))
    'it is said to hold, but 7 were found and at most 0 hold'
    >>> wrong_verdict("entries_counted", Invariant(holds=True, value=0, limit=0)) is None
    True
    """
    check, value, limit = CHECKS.get(name), invariant.value, invariant.limit
    if check is not None and invariant.concerns not in (check.concerns, Concern.EVERYTHING):
        return f"it concerns {check.concerns}, and not {invariant.concerns}"
    if limit is not None and type(value) is int and invariant.holds != (value <= limit):
        said = "is said to hold" if invariant.holds else "is said not to hold"
        return f"it {said}, but {value:,} were found and at most {limit:,} hold"
    if check is None or not invariant.holds:
        return None
    if type(value) is not int or value < 0:
        return f"it is said to hold, but its value is {value!r:.40}"
    return _broken_rule(check, value, limit, {**(invariant.model_extra or {})})


def _broken_rule(check: Check, value: int, limit: int | None, figures: dict[str, object]) -> str | None:
    """What of an invariant that is said to hold does not."""

    def figure(name: str) -> int:
        found = figures.get(name)
        return found if type(found) is int else -1

    match check.rule:
        case Rule.ZERO:
            right = value == 0 and limit in (0, None)
            return None if right else f"it is said to hold, but {value:,} were found and at most 0 hold"
        case Rule.PER_CALLS:
            assert check.calls is not None
            most = figure("calls") // check.calls
            if limit == most:
                return None
            said = "none" if limit is None else f"{limit:,}"
            return f"its limit is {said}, and {most:,} of {figure('calls'):,} calls"
        case Rule.EXECUTED:
            executed = figure("executed")
            return None if value == executed else f"it is said to hold, but {value:,} is not {executed:,} executed"
        case Rule.STACKS:
            left = figure("popped") + figure("abandoned_frames") + value
            pushed = figure("pushed")
            return None if pushed == left else f"it is said to hold, but {pushed:,} pushed are not {left:,} left"
        case Rule.RUNS:
            whole = figure("executed") - figure("before_the_kernel")
            if value != whole:
                return f"it is said to hold, but the runs executed {value:,} of {whole:,}"
            # An older bundle says nothing of turns: its guest had one processor.
            ends = figure("switches") + max(figure("turns"), 0)
            right = figure("apart") == 0 and figure("runs") == ends + 1
            return (
                None
                if right
                else "it is said to hold, but its runs are apart, or not one more than the switches and turns"
            )
        case Rule.MODES:
            modes = value + figure("kernel") + figure("interrupts")
            if modes != figure("executed"):
                return f"it is said to hold, but the modes executed {modes:,} of {figure('executed'):,}"
            right = (value, figure("interrupts")) == (figure("user_in_the_tree"), figure("interrupts_in_the_tree"))
            return None if right else "it is said to hold, but the tree has other figures of user mode or interrupts"
