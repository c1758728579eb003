"""Two observers of one boot, compared: every planted fault of a recording is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import firstlight
from bundles import make_bundle
from firstlight.audit.agreement import LIMITS, AgreedShare, Agreement, Measure, agreement
from firstlight.audit.boot import audit
from firstlight.audit.causes import with_causes
from firstlight.audit.observed import observation, read_observation
from firstlight.audit.recorded import recorded_tables
from firstlight.audit.tables import AuditEvidence, AuditFigures, Tables, key
from firstlight.errors import FirstlightError, LabError
from firstlight.schema.spans import CallRow

NAMELESS: str = CallRow.KERNEL_WITHOUT_SYMBOL

# A boot in small: every function large enough for its total to be compared.
MILLION = 1_000_000
FUNCTIONS = {
    "start_kernel": AuditFigures(1, MILLION, 12 * MILLION),
    "do_one_initcall": AuditFigures(2, MILLION, 11 * MILLION),
    "pci_init": AuditFigures(1, 2 * MILLION, 7 * MILLION),
    "net_init": AuditFigures(1, 1 * MILLION, 3 * MILLION),
    "probe": AuditFigures(4, 3 * MILLION, 5 * MILLION),
    "memcpy": AuditFigures(40, 4 * MILLION, 4 * MILLION),
}
EDGES = {
    ("[boot]", "start_kernel"): 1,
    ("start_kernel", "do_one_initcall"): 2,
    ("do_one_initcall", "pci_init"): 1,
    ("do_one_initcall", "net_init"): 1,
    ("pci_init", "probe"): 4,
    ("probe", "memcpy"): 20,
    ("net_init", "memcpy"): 20,
}
TRUE = Tables(12 * MILLION, FUNCTIONS, EDGES, frozenset({"pci_init", "net_init"}))


def with_functions(tables: Tables, **changed: AuditFigures | None) -> Tables:
    """Some functions have other figures; `None` leaves one out."""
    functions: dict[str, AuditFigures | None] = {**tables.functions, **changed}
    return replace(tables, functions={name: figures for name, figures in functions.items() if figures is not None})


def with_edges(tables: Tables, changed: dict[tuple[str, str], int]) -> Tables:
    """Some edges were taken another number of times."""
    edges = Counter(tables.edges)
    edges.update(changed)
    return replace(tables, edges={edge: count for edge, count in edges.items() if count})


def swapped_counts() -> Tables:
    """Two functions have one another's counts."""
    one, other = FUNCTIONS["probe"], FUNCTIONS["memcpy"]
    return with_functions(TRUE, probe=replace(one, entries=other.entries), memcpy=replace(other, entries=one.entries))


def moved_callee() -> Tables:
    """A callee hangs from another caller."""
    return with_edges(TRUE, {("net_init", "memcpy"): -20, ("probe", "memcpy"): 20})


def dropped_calls() -> Tables:
    """Calls are missing, with what they took in nobody's total."""
    return with_edges(
        with_functions(TRUE, memcpy=AuditFigures(30, 4 * MILLION, 4 * MILLION)), {("net_init", "memcpy"): -10}
    )


def thunk_as_function() -> Tables:
    """A return thunk is a row, and the caller of what its function went on to."""
    return with_edges(
        with_functions(
            TRUE,
            memcpy=AuditFigures(40, 4 * MILLION - 80, 4 * MILLION),
            srso_safe_ret=AuditFigures(40, 80, 80),
        ),
        {("memcpy", "srso_safe_ret"): 40},
    )


def collapsed_circle() -> Tables:
    """Two functions that jump to one another were taken back to the first."""
    return with_functions(TRUE, probe=AuditFigures(4, 3 * MILLION, 3 * MILLION + 1000))


def swallowed_return() -> Tables:
    """A function never ended: what came after it is in its total."""
    return with_functions(TRUE, memcpy=AuditFigures(40, 4 * MILLION, 6 * MILLION))


def lost_switch() -> Tables:
    """A switch of tasks was not seen: another task's functions are in the total."""
    return with_functions(TRUE, net_init=AuditFigures(1, MILLION, 5 * MILLION))


def phantom_instruction() -> Tables:
    """An instruction was charged to the function before for each of its many calls."""
    return with_functions(TRUE, memcpy=AuditFigures(40, 4 * MILLION + 40_000, 4 * MILLION + 40_000),
                          probe=AuditFigures(4, 3 * MILLION - 40_000, 5 * MILLION))  # fmt: skip


def missing_function() -> Tables:
    """A function that ran is in no row."""
    return with_functions(TRUE, probe=None)


def invented_function() -> Tables:
    """A function that never ran has a row."""
    return with_functions(TRUE, kfree=AuditFigures(1, 0, 0))


def lost_initcalls() -> Tables:
    """An initcall that ran was not found."""
    return replace(TRUE, initcalls=frozenset({"pci_init"}))


def nameless_code() -> Tables:
    """A named function's instructions stand in the row of code without a symbol."""
    functions = dict(with_functions(TRUE, memcpy=AuditFigures(40, 0, 4 * MILLION)).functions)
    return replace(TRUE, functions={**functions, NAMELESS: AuditFigures(0, 4 * MILLION, 4 * MILLION)})


def interrupts_inside() -> Tables:
    """What interrupts did is in the total of what they interrupted."""
    return with_functions(TRUE, probe=AuditFigures(4, 3 * MILLION, 5 * MILLION + 20_000))


def recursion_twice() -> Tables:
    """A recursion's total was counted at each of its levels."""
    return with_functions(TRUE, probe=AuditFigures(4, 3 * MILLION, 10 * MILLION))


FAULTS: dict[Callable[[], Tables], Measure] = {
    swapped_counts: Measure.COUNTS,
    moved_callee: Measure.EDGES,
    dropped_calls: Measure.EDGES,
    thunk_as_function: Measure.COUNTS,
    collapsed_circle: Measure.TOTALS,
    swallowed_return: Measure.TOTALS,
    lost_switch: Measure.TOTALS,
    phantom_instruction: Measure.SELF,
    missing_function: Measure.COUNTS,
    invented_function: Measure.COUNTS,
    lost_initcalls: Measure.INITCALLS,
    nameless_code: Measure.SELF,
    interrupts_inside: Measure.TOTALS,
    recursion_twice: Measure.TOTALS,
}


def test_a_recording_that_is_true_agrees_in_everything() -> None:
    found = agreement(TRUE, TRUE)
    assert found.reached
    assert found.exceptions == ()
    assert {measure: share.share for measure, share in found.shares.items()} == dict.fromkeys(LIMITS, 1.0)


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_reported(plant: Callable[[], Tables]) -> None:
    found = agreement(plant(), TRUE)
    assert not found.reached
    assert not found.shares[FAULTS[plant]].reached
    assert [each for each in found.exceptions if each.measure is FAULTS[plant]]


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_it_does_not_matter_which_of_the_observers_is_wrong(plant: Callable[[], Tables]) -> None:
    def shares(found: Agreement) -> list[AgreedShare]:
        return [found.shares[measure] for measure in (Measure.COUNTS, Measure.TOTALS, Measure.EDGES, Measure.INITCALLS)]

    assert shares(agreement(plant(), TRUE)) == shares(agreement(TRUE, plant()))


def test_exceptions_are_reported_with_the_largest_first() -> None:
    wrong = with_functions(TRUE, probe=replace(FUNCTIONS["probe"], entries=5), memcpy=AuditFigures(90, 1, 1))
    counts = [each for each in agreement(wrong, TRUE).exceptions if each.measure is Measure.COUNTS]
    assert [(each.what, each.difference) for each in counts] == [("memcpy", 50), ("probe", 1)]


def test_small_functions_and_small_differences_of_totals_are_no_exceptions() -> None:
    near = with_functions(
        TRUE, probe=AuditFigures(4, 3 * MILLION, 5 * MILLION + 5_000), tiny=AuditFigures(0, 0, 100_000)
    )
    assert agreement(near, with_functions(TRUE, tiny=AuditFigures(0, 0, 1))).shares[Measure.TOTALS].share == 1.0


def test_the_evidence_names_causes() -> None:
    moved = with_functions(
        TRUE, probe=AuditFigures(4, 3 * MILLION + 7, 5 * MILLION), memcpy=AuditFigures(39, 4 * MILLION - 7, 4 * MILLION)
    )
    evidence = AuditEvidence(again={"memcpy": 1}, elsewhere={("probe", "memcpy"): 7})
    causes = {
        (each.measure, each.what): cause for each, cause in with_causes(agreement(moved, TRUE), evidence, moved, TRUE)
    }
    assert causes == {
        (Measure.COUNTS, "memcpy"): "its first instruction ran 1 times more, as a loop or after a fault",
        (Measure.SELF, "probe"): "it jumped into the middle of `memcpy`: 7 instructions",
        (Measure.SELF, "memcpy"): "`probe` jumped into its middle: 7 instructions",
    }


def test_the_tree_of_a_bundle_becomes_tables(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    tables = recorded_tables(bundle, {})
    rows = firstlight.open(bundle).functions().iter_rows(named=True)
    kd = {key(row["function"], row["module"]): row for row in rows}
    assert tables.functions
    for name, figures in tables.functions.items():
        if not name.startswith("["):
            assert figures.entries == kd[name]["count"]
            assert figures.self_instructions == kd[name]["self_instructions"]
            assert figures.total_instructions == kd[name]["total_instructions"]
    assert sum(tables.edges.values()) == sum(figures.entries for figures in tables.functions.values())


def test_parts_split_off_by_the_compiler_belong_to_their_function_on_both_sides() -> None:
    seen = observation(
        {
            "executed": 10,
            "functions": [{"function": "f", "module": None, "entries": 1, "again": 0, "by_address": 7, "floating": 3,
                           "total": 10}],
            "edges": [], "elsewhere": [], "aliases": [], "initcalls": [], "checks": {}, "happened": {},
        }
    )  # fmt: skip
    assert seen.tables.functions == {"f": AuditFigures(1, 10, 10)}


def test_what_the_observer_left_is_read_with_care(tmp_path: Path) -> None:
    for text in (None, "", "[]", '{"functions": 3}', '{"functions": [{}]}'):
        path = tmp_path / "oracle.json"
        if text is not None:
            path.write_text(text)
        with pytest.raises(LabError) as raised:
            read_observation(path)
        assert raised.value.hint == "run `firstlight doctor`"


def test_a_boot_that_never_repeats_is_refused(tmp_path: Path) -> None:
    live = make_bundle(tmp_path, live=True)
    with pytest.raises(FirstlightError, match="never repeats"):
        audit(live)
