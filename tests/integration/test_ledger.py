"""The causal ledger: every changed nanosecond is caused, moved or an accident, and every level adds up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bundles import make_bundle, settle, write_table
from firstlight.bundle.open import open as open_boot
from firstlight.comparison.exact.difference import ExactDifference, exact_difference
from firstlight.comparison.exact.headline import headline
from firstlight.comparison.exact.ledger import Ledger, Tolerance, ledger_of
from firstlight.comparison.exact.parts import Parts, added, over_places
from firstlight.comparison.exact.path_splits import path_splits
from firstlight.comparison.exact.rows import Key


def _difference(folder: Path, *, seed: int, shift: int = 0, more: tuple[str, int] | None = None) -> ExactDifference:
    one = make_bundle(folder, shift=shift)
    other = make_bundle(folder, name="b.boot", seed=seed, shift=shift, more=more)
    return exact_difference(open_boot(one), open_boot(other))


def _ledger(difference: ExactDifference, tolerance: Tolerance) -> Ledger:
    assert difference.tree is not None
    return ledger_of(difference.a, difference.b, difference.tree, tolerance)


@given(
    places=st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=9),
    shares=st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_places_add_up_to_the_path_and_parts_to_each_place(places: list[int], shares: tuple[int, int]) -> None:
    change = sum(places)
    caused, accident = (change * share // 14 for share in shares)
    parts = Parts(caused, change - caused - accident, accident)
    found = over_places(parts, places)
    assert [each.change_ns for each in found] == places
    assert added(found) == parts


@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("shift", [0, 3])
def test_every_level_adds_up_for_any_pair_of_boots_and_any_band(tmp_path: Path, seed: int, shift: int) -> None:
    difference = _difference(tmp_path, seed=seed, shift=shift)
    functions = difference.functions
    assert functions is not None
    keys = [row.key._replace(kind="function") for row in functions.rows]
    for width in (0, 10_000, 1_000_000, 10**12):
        tolerance = Tolerance(dict.fromkeys(keys, 3 * width), dict.fromkeys(keys, width), width, 0)
        ledger = _ledger(difference, tolerance)
        assert ledger.total.change_ns == difference.whole.change_ns
        for level in ledger.levels.values():
            assert added(level.values()) == ledger.total
        assert added(ledger.paths.values()) == ledger.total
        changes = {Key(row.name): row.change_ns for row in difference.phases.rows if row.change_ns}
        by_phase = {key: parts.change_ns for key, parts in ledger.levels["phases"].items() if parts.change_ns}
        assert by_phase == changes
        found = {key: parts.change_ns for key, parts in ledger.levels["functions"].items() if parts.change_ns}
        assert sum(found.values()) == sum(row.change_ns for row in functions.rows)
        tree = difference.tree
        assert tree is not None
        own = dict(tree.nodes.select("node", "self_change_ns").iter_rows())
        assert all(parts.change_ns == own[node] for node, parts in ledger.paths.items())


def test_a_planted_change_is_caused_to_the_nanosecond(tmp_path: Path) -> None:
    difference = _difference(tmp_path, seed=1, more=("early_init", 200_000))
    ledger = _ledger(difference, Tolerance())
    assert ledger.total == Parts(caused_ns=200_000)
    assert ledger.instructions == Parts(caused_ns=200_000)
    assert ledger.levels["phases"] == {Key("early_init"): Parts(caused_ns=200_000)}
    (cause,) = difference.causes
    assert cause.caused_ns == 200_000
    assert difference.functions is not None
    assert cause.names[-1] == difference.functions.changed[0].name


def test_the_same_change_within_the_band_is_an_accident(tmp_path: Path) -> None:
    difference = _difference(tmp_path, seed=1, more=("early_init", 200_000))
    assert difference.functions is not None
    key = difference.functions.changed[0].key
    within, path_alone = (
        _ledger(difference, Tolerance({key: function_ns}, {key: 200_000})) for function_ns in (200_000, 199_999)
    )
    assert within.total == Parts(accident_ns=200_000)
    assert path_alone.total == Parts(caused_ns=200_000)
    assert _ledger(difference, Tolerance(residual_ns=200_000)).total == Parts(accident_ns=200_000)


def test_a_small_change_in_one_initcall_is_caused_where_initcalls_change_by_far_less(tmp_path: Path) -> None:
    difference = _difference(tmp_path, seed=1, more=("initcalls_device", 200_000))
    unlimited = _ledger(difference, Tolerance())
    (owner,) = {unlimited.owners.initcalls[node] for node in unlimited.paths}
    assert owner is not None

    def total(usual_ns: int, own_ns: int, change: int = 200_000) -> Parts:
        others = {Key(f"other{number}", kind=owner.kind): usual_ns for number in range(30)}
        return _ledger(difference, Tolerance(residual_ns=change, initcalls={**others, owner: own_ns})).total

    assert total(1_000, 1_000) == Parts(caused_ns=200_000)
    assert total(1_000, 20_000) == Parts(accident_ns=200_000)
    assert total(20_000, 1_000) == Parts(accident_ns=200_000)
    assert total(20_000, 20_000, change=199_999) == Parts(caused_ns=200_000)


def _calling(bundle: Path, caller: str, function: str, ns: int, calls: int = 1) -> Path:
    """Let a function call another one that it did not call before."""
    rows = pl.read_parquet(bundle / "calls.parquet")
    above = rows.filter(pl.col("function") == caller).row(0, named=True)
    new = {"node": rows.height, "parent": above["node"], "function": function, "module": None, "kind": "function",
           "calls": calls, "self_instructions": ns, "total_instructions": ns, "self_ns": ns, "total_ns": ns,
           "doubtful_calls": None}  # fmt: skip
    write_table(bundle, "calls", pl.concat([rows, pl.DataFrame([new], schema=rows.schema)]))
    return settle(bundle)


def test_a_function_that_no_boot_of_the_band_called_is_caused_however_small(tmp_path: Path) -> None:
    one = settle(make_bundle(tmp_path))
    other = _calling(make_bundle(tmp_path, name="b.boot"), "setup_arch", "ima_match_policy", 20_000)
    difference = exact_difference(open_boot(one), open_boot(other))
    key = Key("ima_match_policy", kind="function")
    assert _ledger(difference, Tolerance(residual_ns=300_000, is_of_kernel=True)).total == Parts(caused_ns=20_000)
    seen = Tolerance(functions={key: 3_000}, residual_ns=300_000, is_of_kernel=True)
    assert _ledger(difference, seen).total == Parts(accident_ns=20_000)
    # A band of another kernel does not know which functions this one calls by accident.
    assert _ledger(difference, Tolerance(residual_ns=300_000)).total == Parts(accident_ns=20_000)


@pytest.mark.parametrize(
    ("before", "after", "part"), [(222, 47_804, "caused"), (47_804, 222, "caused"), (30_000, 31_000, "moved")]
)
def test_another_cost_of_each_tick_is_caused_and_more_ticks_moved(
    tmp_path: Path, before: int, after: int, part: str
) -> None:
    boots = [
        _calling(make_bundle(tmp_path, name=name), "__sysvec_apic_timer_interrupt", "read_hpet", ns)
        for name, ns in (("a.boot", before), ("b.boot", after))
    ]
    difference = exact_difference(open_boot(boots[0]), open_boot(boots[1]))
    assert _ledger(difference, Tolerance()).total == Parts(**{f"{part}_ns": after - before})


def test_a_function_is_caused_beyond_what_nearly_all_change_and_far_beyond_what_it_does(tmp_path: Path) -> None:
    boots = [
        _calling(make_bundle(tmp_path, name=name), "setup_arch", "read_hpet", ns)
        for name, ns in (("a.boot", 222), ("b.boot", 47_804))
    ]
    difference = exact_difference(open_boot(boots[0]), open_boot(boots[1]))

    def total(usual_ns: int, own_ns: int = 0) -> Parts:
        widths = {Key(f"other{number}", kind="function"): usual_ns for number in range(30)}
        widths[Key("read_hpet", kind="function")] = own_ns
        return _ledger(difference, Tolerance(widths, residual_ns=300_000, is_of_kernel=True)).total

    assert total(5_000) == Parts(caused_ns=47_582)
    assert total(50_000) == Parts(accident_ns=47_582)
    assert total(5_000, own_ns=4_000) == Parts(caused_ns=47_582)
    assert total(5_000, own_ns=5_000) == Parts(accident_ns=47_582)


def test_the_first_line_names_no_cause_below_a_microsecond_and_says_how_much_it_is(tmp_path: Path) -> None:
    one = settle(make_bundle(tmp_path))
    other = _calling(make_bundle(tmp_path, name="b.boot", append="panic=0"), "setup_arch", "kstrtoint", 49)
    difference = exact_difference(open_boot(one), open_boot(other), Tolerance(residual_ns=300_000, is_of_kernel=True))
    assert difference.ledger is not None
    assert difference.ledger.total == Parts(caused_ns=49)
    assert difference.causes == []
    assert "only 49 ns is caused" in headline(difference)


def test_the_first_line_doubts_a_cause_on_a_series_of_kernels_without_a_band(tmp_path: Path) -> None:
    one = settle(make_bundle(tmp_path))
    other = _calling(make_bundle(tmp_path, name="b.boot", append="panic=0"), "setup_arch", "vprintk_emit", 300_000)
    for doubt_ns, doubted in ((0, False), (299_999, False), (300_000, True)):
        difference = exact_difference(open_boot(one), open_boot(other), Tolerance(doubt_ns=doubt_ns))
        text = "an accident or caused by" if doubted else "; caused by"
        assert text in headline(difference)
        assert ("noise_band" in {flag.kind for flag in difference.flags}) == doubted


def test_causes_that_cancel_each_other_are_no_accident(tmp_path: Path) -> None:
    one = _calling(make_bundle(tmp_path), "setup_arch", "putchar", 300_000)
    other = _calling(make_bundle(tmp_path, name="b.boot", append="panic=0"), "setup_arch", "vprintk_emit", 300_000)
    difference = exact_difference(open_boot(one), open_boot(other))
    assert difference.whole.change_ns == 0
    assert difference.causes
    assert "an accident" not in headline(difference)


def test_the_functions_of_a_cause_go_from_the_caller_to_the_callee_whatever_their_sizes(tmp_path: Path) -> None:
    one = settle(make_bundle(tmp_path))
    other = _calling(make_bundle(tmp_path, name="b.boot"), "setup_arch", "vprintk_emit", 300_000)
    _calling(other, "vprintk_emit", "putchar", 700_000)
    # The callee has another caller, too: with both it did more than its caller.
    _calling(other, "sched_init", "putchar", 400_000)
    difference = exact_difference(open_boot(one), open_boot(other))
    (cause,) = difference.causes
    assert cause.names == ("setup_arch", "vprintk_emit", "putchar")
    assert cause.caused_ns == 1_100_000


def test_tasks_and_functions_are_two_divisions_of_a_change_and_are_named_apart(tmp_path: Path) -> None:
    one = settle(make_bundle(tmp_path))
    other = make_bundle(tmp_path, name="b.boot")
    # Three tasks, none of which has most of the change; in the first of them one function does the work.
    for caller, function, ns in (
        ("ret_from_fork", "worker_a", 1_000),
        ("worker_a", "memset_slow", 500_000),
        ("entry_SYSCALL_64", "__x64_sys_read", 400_000),
        ("kernel_init", "rest_init", 300_000),
    ):
        _calling(other, caller, function, ns)
    difference = exact_difference(open_boot(one), open_boot(other))
    for kind in ("task", "function"):
        assert sum(cause.caused_ns for cause in difference.causes if cause.kind == kind) <= 1_201_000
    assert "; by function: memset_slow (+500.000 us)" in headline(difference)


@settings(deadline=None, max_examples=3)
@given(seed=st.integers(2, 9))
def test_the_splits_of_call_paths_add_up_to_twice_the_change_of_the_function(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    difference = _difference(tmp_path_factory.mktemp("pair"), seed=seed)
    assert difference.tree is not None
    assert difference.functions is not None
    splits = path_splits(difference.tree)
    assert splits
    for row in difference.functions.rows:
        if row.by_path is not None:
            parts = row.by_path
            total = parts.gone_doubled_ns + parts.new_doubled_ns + parts.calls_doubled_ns + parts.cost_doubled_ns
            assert total == 2 * row.change_ns


def test_the_first_line_names_the_cause_and_json_has_the_ledger(tmp_path: Path) -> None:
    make_bundle(tmp_path)
    make_bundle(tmp_path, name="b.boot", more=("early_init", 5_000_000))
    command = [sys.executable, "-m", "firstlight", "compare", "a.boot", "b.boot"]
    text = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    first = text.splitlines()[0]
    data = json.loads(
        subprocess.run([*command, "--json"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    )
    (found,) = data["data"]["comparisons"]
    assert found["causes"]
    assert first.startswith("B is slower by 5.000 ms")
    assert found["causes"][0]["names"][0] in first
    assert found["ledger"]["total"] == {"caused_ns": 5_000_000, "moved_ns": 0, "accident_ns": 0}
    for rows in found["ledger"]["levels"].values():
        assert sum(row["caused_ns"] for row in rows) == 5_000_000
