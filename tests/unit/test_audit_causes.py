"""Causes of exceptions: each rule accounts for what it explains, and explains away nothing that was planted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstlight.audit.agreement import Measure, agreement
from firstlight.audit.causes import with_causes
from firstlight.audit.layout import layout
from firstlight.audit.tables import AuditEvidence, AuditFigures, Tables
from firstlight.schema.spans import CallRow

ROOT: str = CallRow.BOOT

# A kernel in small, in the order of its addresses.
SYMBOLS = """
10 T __entry_text_start
10 T entry_syscall
20 T __irqentry_text_start
20 T asm_interrupt
28 T asm_fault
30 T __irqentry_text_end
30 T load_index
40 T __entry_text_end
50 T startup
58 T startup_rest
60 T start_kernel
70 T schedule
78 T switch
80 T switch_to
88 T ret_from_fork
90 T compute
98 T put_user
a0 T front
a8 T copy
b0 T outer
b8 T leaf
c0 T before_trap
c8 T trap
d0 T last
"""
LAYOUT = layout(SYMBOLS)


def tables(
    functions: dict[str, AuditFigures], edges: dict[tuple[str, str], int], instructions: int = 9_000_000
) -> Tables:
    return Tables(instructions, functions, edges)


def causes(one: Tables, other: Tables, evidence: AuditEvidence) -> dict[tuple[Measure, str], str | None]:
    """What is said of every exception."""
    found = with_causes(agreement(one, other), replace(evidence, layout=LAYOUT), one, other)
    return {(each.measure, each.what): cause for each, cause in found}


def selves(
    recorded: dict[str, int],
    observed: dict[str, int],
    edges: dict[tuple[str, str], int],
    evidence: AuditEvidence | None = None,
) -> dict[str, str | None]:
    """What is said of differences of self; a function is entered as often as its edges say."""

    def made(own: dict[str, int]) -> Tables:
        entries = {name: sum(count for (_, to), count in edges.items() if to == name) for name in own}
        return tables({name: AuditFigures(entries[name], count, count) for name, count in own.items()}, edges)

    found = causes(made(recorded), made(observed), evidence or AuditEvidence())
    return {what: cause for (measure, what), cause in found.items() if measure is Measure.SELF}


INTERRUPTS = {(ROOT, "asm_interrupt"): 5, (ROOT, "compute"): 1, (ROOT, "leaf"): 1}
INTERRUPTED = {"asm_interrupt": 105, "compute": 996, "leaf": 499}
TRUE = {"asm_interrupt": 100, "compute": 1000, "leaf": 500}


def test_an_instruction_of_what_was_interrupted_is_charged_to_the_entry() -> None:
    assert selves(INTERRUPTED, TRUE, INTERRUPTS) == {
        "asm_interrupt": "one instruction of what was interrupted at each of 5 interrupts",
        "compute": "4 instructions at interrupts are charged to `asm_interrupt`",
        "leaf": "1 instruction at interrupts is charged to `asm_interrupt`",
    }


@pytest.mark.parametrize("name", ["compute", "leaf", "last"])
@pytest.mark.parametrize("planted", [-7, -1, 1, 7])
def test_a_wrong_count_among_interrupted_functions_has_no_cause(name: str, planted: int) -> None:
    wrong = {**INTERRUPTED, "last": 50}
    wrong[name] += planted
    assert selves(wrong, {**TRUE, "last": 50}, {**INTERRUPTS, (ROOT, "last"): 1}).get(name) is None


def test_an_entry_with_other_than_one_instruction_for_each_interrupt_has_no_cause() -> None:
    assert set(selves({**INTERRUPTED, "asm_interrupt": 106}, TRUE, INTERRUPTS).values()) == {None}


FAULTS = {("compute", "asm_fault"): 2, ("put_user", "asm_fault"): 3, (ROOT, "asm_fault"): 9}


def test_an_instruction_that_faulted_is_charged_to_the_entry() -> None:
    found = selves({"asm_fault": 45, "compute": 8, "put_user": 7}, {"asm_fault": 40, "compute": 10, "put_user": 10},
                   FAULTS)  # fmt: skip
    assert found == {
        "asm_fault": "5 instructions of the kernel that faulted are charged to the entry",
        "compute": "2 instructions that faulted are charged to `asm_fault`",
        "put_user": "3 instructions that faulted are charged to `asm_fault`",
    }


def test_a_function_that_lacks_more_than_it_faulted_has_no_cause() -> None:
    found = selves({"asm_fault": 45, "compute": 8, "put_user": 6}, {"asm_fault": 40, "compute": 10, "put_user": 10},
                   FAULTS)  # fmt: skip
    assert found["put_user"] is None
    assert found["compute"] is not None


def test_an_instruction_more_for_each_call_of_a_plain_function_is_no_fault() -> None:
    assert set(selves({"outer": 97, "leaf": 53}, {"outer": 100, "leaf": 50}, {("outer", "leaf"): 3}).values()) == {None}


PADDED = {("outer", "copy"): 6, (ROOT, "outer"): 1}


def test_padding_that_no_symbol_names_is_charged_to_the_function_behind_it() -> None:
    found = selves({"copy": 106, "outer": 9}, {"front": 6, "copy": 100, "outer": 9}, PADDED,
                   AuditEvidence(elsewhere={("outer", "front"): 6}))  # fmt: skip
    assert found == dict.fromkeys(
        ("front", "copy"), "padding without a symbol between `front` and `copy`: 6 instructions"
    )


@pytest.mark.parametrize("planted", [-40, -1, 1, 40])
def test_a_wrong_count_behind_padding_has_no_cause(planted: int) -> None:
    found = selves({"copy": 106 + planted, "outer": 9}, {"front": 6, "copy": 100, "outer": 9}, PADDED,
                   AuditEvidence(elsewhere={("outer", "front"): 6}))  # fmt: skip
    assert found.get("copy") is None


def test_a_jump_into_the_middle_of_another_function_is_the_jumping_functions() -> None:
    found = selves({"startup": 90}, {"startup": 30, "startup_rest": 60}, {(ROOT, "startup"): 1},
                   AuditEvidence(elsewhere={("startup", "startup_rest"): 60}))  # fmt: skip
    assert found == {
        "startup_rest": "`startup` jumped into its middle: 60 instructions",
        "startup": "it jumped into the middle of `startup_rest`: 60 instructions",
    }


LOST = {("outer", "leaf"): 10, (ROOT, "outer"): 10}


def lost(recorder_counted: int, count: int = 8, named: str = "leaf") -> dict[str, str | None]:
    evidence = AuditEvidence(lost_returns=recorder_counted, lost_in=frozenset({named}))
    return selves({"outer": 200 - count, "leaf": 50 + count}, {"outer": 200, "leaf": 50}, LOST, evidence)


def test_a_return_that_was_never_executed_is_a_cause_where_the_recorder_counted_one() -> None:
    assert set(lost(1).values()) == {"an interrupt's end finished a return of `leaf` to `outer`: 8 instructions"}


@pytest.mark.parametrize("found", [lost(0), lost(1, count=21), lost(1, named="copy")])
def test_instructions_at_a_callee_have_no_cause_where_it_did_not(found: dict[str, str | None]) -> None:
    assert set(found.values()) == {None}


def test_a_label_in_the_middle_of_a_block_has_what_stands_before_it() -> None:
    args = ({"before_trap": 12, "trap": 11}, {"before_trap": 13, "trap": 10}, {("before_trap", "trap"): 1})
    assert set(selves(*args, AuditEvidence(checks={"starts_inside": 1})).values()) == {
        "`before_trap` runs into `trap` in the middle of a block: 1 instruction"
    }
    assert set(selves(*args, AuditEvidence(checks={"starts_inside": 0})).values()) == {None}


# Two new tasks of five switches: the second half of the switch has 3 instructions, what it calls 100,000.
RECORDED = tables(
    {
        "schedule": AuditFigures(5, 10, 800_000),
        "switch": AuditFigures(5, 50, 500_050),
        "switch_to": AuditFigures(5, 500_000, 500_000),
    },
    {(ROOT, "ret_from_fork"): 2, ("schedule", "switch"): 5, ("switch", "switch_to"): 5},
)
OBSERVED = tables(
    {**RECORDED.functions, "switch": AuditFigures(5, 50, 300_044)},
    {(ROOT, "ret_from_fork"): 2, ("schedule", "switch"): 5, ("switch", "switch_to"): 3, (ROOT, "switch_to"): 2},
)
SWITCHES = AuditEvidence(happened={"switches": 5}, elsewhere={(ROOT, "switch"): 6})
NEW_TASKS = "2 new tasks begin in the middle of `switch`: there the oracle has no caller of `switch_to`"


def test_new_tasks_begin_in_the_middle_of_the_switch() -> None:
    assert causes(RECORDED, OBSERVED, SWITCHES) == {
        (Measure.TOTALS, "switch"): NEW_TASKS,
        (Measure.EDGES, f"{ROOT} > switch_to"): NEW_TASKS,
        (Measure.EDGES, "switch > switch_to"): NEW_TASKS,
    }


@pytest.mark.parametrize(
    "evidence", [AuditEvidence(), replace(SWITCHES, happened={"switches": 4}), replace(SWITCHES, elsewhere={})]
)
def test_that_needs_the_switches_and_the_instructions_to_be_counted(evidence: AuditEvidence) -> None:
    wrong = replace(RECORDED, functions={**RECORDED.functions, "switch": AuditFigures(5, 50, 900_050)})
    assert causes(wrong, OBSERVED, evidence)[Measure.TOTALS, "switch"] is None


def test_more_lost_callers_than_new_tasks_have_no_cause() -> None:
    edges = {**OBSERVED.edges, ("switch", "switch_to"): 2, (ROOT, "switch_to"): 3}
    assert set(causes(RECORDED, replace(OBSERVED, edges=edges), SWITCHES).values()) == {None}


START = {(ROOT, "startup"): 1, ("startup", "start_kernel"): 1}
STARTED = tables({"startup": AuditFigures(1, 10, 1_000_000), "start_kernel": AuditFigures(1, 999_990, 999_990)}, START)


def test_the_oracle_begins_anew_where_the_first_stack_was_left() -> None:
    other = tables(
        {**STARTED.functions, "startup": AuditFigures(1, 10, 10)}, {(ROOT, "startup"): 1, (ROOT, "start_kernel"): 1}
    )
    found = causes(STARTED, other, AuditEvidence())
    assert len(found) == 3
    assert all(cause is not None and "before the kernel is mapped" in cause for cause in found.values())


def test_a_lost_caller_has_no_cause_where_the_first_stack_was_not_left() -> None:
    other = replace(STARTED, edges={(ROOT, "startup"): 1, (ROOT, "start_kernel"): 1})
    assert set(causes(STARTED, other, AuditEvidence()).values()) == {None}


def test_a_label_of_the_entry_section_is_its_callers() -> None:
    called = {(ROOT, "outer"): 1, ("outer", "load_index"): 4}
    one = tables({"outer": AuditFigures(1, 60, 100), "load_index": AuditFigures(4, 40, 40)}, called)
    other = tables({"outer": AuditFigures(1, 100, 100)}, {(ROOT, "outer"): 1})
    assert None not in causes(one, other, AuditEvidence()).values()
    thunk = tables(
        {"outer": AuditFigures(1, 60, 100), "leaf": AuditFigures(4, 40, 40)}, {("outer", "leaf"): 4, (ROOT, "outer"): 1}
    )
    assert set(causes(thunk, other, AuditEvidence()).values()) == {None}


def test_damaged_lines_of_symbols_are_left_out() -> None:
    assert layout("zz T f\n10\n20 T g\n28 t local [module]\n30 W h\n40 d data\n").behind == {"g": "h"}
