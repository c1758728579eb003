"""Costs of the emulated machine: known costs, each counted once, with what removes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import firstlight
from answers import data_of_answer
from bundles import SCHEMA, make_bundle
from firstlight.analysis.ledger.costs import MachineCosts, costs_of, machine_costs
from firstlight.analysis.ledger.entries import Nature, Owner, ledger, read_ledger
from firstlight.cli.main import run
from firstlight.render.page.boot import page_data

LEDGER = """
[[entries]]
id = "wait"
title = "a wait"
owner = "machine"
nature = "busy wait"
functions = ["wait_for_timer"]
why = "It polls."
no_remedy = "it has to"

[[entries]]
id = "random"
title = "random numbers"
owner = "machine"
nature = "missing feature"
functions = ["random", "hash"]
callee = "extract"
outside = ["self_test"]
why = "No RDRAND."

[[entries.remedies]]
change = "--cpu other"
price = ""
measured = { recipe = "", before_ns = 100, after_ns = 70, on = "invented" }

[[entries]]
id = "firmware"
title = "firmware"
owner = "machine"
nature = "emulated device"
kinds = ["firmware"]
why = "SeaBIOS."
no_remedy = "it starts the boot"

[[entries]]
id = "tests"
title = "self-tests"
owner = "kernel"
nature = "self-test"
functions = ["self_test"]
why = "Every machine runs them."
no_remedy = "they are wanted"
"""


def costs(*nodes: tuple[int | None, str, int], kinds: dict[int, str] | None = None) -> MachineCosts:
    """The costs of a tree, given as parent, function and self of each node; every node was entered once."""
    totals = [own for _, _, own in nodes]
    for number in range(len(nodes) - 1, 0, -1):
        parent = nodes[number][0]
        assert parent is not None
        totals[parent] += totals[number]
    rows = [
        (number, parent, function, None, (kinds or {}).get(number, "function"), 1, own, totals[number], own,
         totals[number])
        for number, (parent, function, own) in enumerate(nodes)
    ]  # fmt: skip
    return costs_of(
        pl.DataFrame([(*row, None) for row in rows], schema=SCHEMA["calls"], orient="row"), read_ledger(LEDGER)
    )


def found(costs: MachineCosts) -> dict[str, int]:
    return {cost.entry.id: cost.ns for cost in (*costs.machine, *costs.kernel)}


def test_a_cost_is_the_total_of_its_contexts() -> None:
    them = costs((None, "[boot]", 1), (0, "start", 2), (1, "wait_for_timer", 50), (2, "read_clock", 7))
    assert found(them) == {"wait": 57}
    assert (them.ns, them.whole_ns, them.machine[0].calls) == (57, 60, 1)


def test_a_context_below_another_of_the_same_cost_is_not_counted_again() -> None:
    them = costs((None, "[boot]", 0), (0, "wait_for_timer", 5), (1, "wait_for_timer", 6))
    assert (found(them), them.machine[0].calls) == ({"wait": 11}, 1)


def test_a_context_below_another_cost_of_the_machine_belongs_to_the_outer_one() -> None:
    them = costs((None, "[boot]", 0), (0, "random", 5), (1, "extract", 1), (1, "wait_for_timer", 6))
    assert found(them) == {"random": 12}


def test_what_the_machine_adds_below_a_cost_of_the_kernel_is_the_machines() -> None:
    them = costs((None, "[boot]", 0), (0, "self_test", 100), (1, "wait_for_timer", 6), (1, "check", 3))
    assert found(them) == {"wait": 6, "tests": 103}
    assert them.ns == 6


def test_suffixes_of_the_compiler_do_not_hide_a_function() -> None:
    them = costs((None, "[boot]", 0), (0, "wait_for_timer.constprop.0", 5), (0, "wait_for_timer.cold", 6))
    assert found(them) == {"wait": 11}


def test_only_contexts_with_the_named_callee_count_where_an_entry_asks_for_one() -> None:
    them = costs((None, "[boot]", 0), (0, "random", 5), (0, "random", 9), (2, "extract.part.0", 4))
    assert found(them) == {"random": 13}


def test_contexts_below_a_function_that_an_entry_excludes_do_not_count() -> None:
    them = costs((None, "[boot]", 0), (0, "self_test", 1), (1, "caller", 1), (2, "hash", 5), (3, "extract", 2))
    assert found(them) == {"tests": 9}


def test_rows_that_are_no_function_are_recognised_by_their_kind() -> None:
    assert found(costs((None, "[boot]", 0), (0, "[firmware]", 9), kinds={1: "firmware"})) == {"firmware": 9}


def test_a_function_is_marked_when_most_of_its_self_is_one_cost() -> None:
    them = costs(
        (None, "[boot]", 0), (0, "wait_for_timer", 5), (1, "read_clock", 6), (0, "read_clock", 5), (1, "memset", 1),
        (0, "memset", 1), (0, "self_test", 3),
    )  # fmt: skip
    assert them.marks == {"wait_for_timer": "wait", "read_clock": "wait"}


def test_a_boot_without_profile_or_exactness_has_no_ledger(tmp_path: Path) -> None:
    assert machine_costs(firstlight.open(make_bundle(tmp_path, name="bare.boot", profile=False))) is None
    assert machine_costs(firstlight.open(make_bundle(tmp_path, name="live.boot", live=True))) is None


def test_an_unknown_architecture_has_no_costs(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["recipe"]["architecture"] = "vax"
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    them = machine_costs(firstlight.open(bundle))
    assert them is not None
    assert (them.machine, them.kernel, them.ns) == ((), (), 0)


def test_the_sum_never_exceeds_the_boot(tmp_path: Path) -> None:
    for seed in range(4):
        boot = firstlight.open(make_bundle(tmp_path, name=f"{seed}.boot", seed=seed))
        them = machine_costs(boot)
        assert them is not None
        assert 0 < them.ns <= them.whole_ns == boot.manifest.totals.virtual_ns
        assert sum(cost.ns for cost in (*them.machine, *them.kernel)) <= them.whole_ns


def test_every_entry_names_what_removes_it_with_a_measurement_or_says_why_nothing_does() -> None:
    for entry in ledger("x86_64").entries:
        assert entry.why.endswith("."), entry.id
        assert bool(entry.remedies) != bool(entry.no_remedy), entry.id
        for remedy in entry.remedies:
            assert remedy.change.startswith("--"), entry.id
            assert 0 < remedy.measured.after_ns < remedy.measured.before_ns, entry.id


def test_the_ledger_tells_the_kernels_own_costs_from_the_machines() -> None:
    owners = {entry.id: entry.owner for entry in ledger("x86_64").entries}
    assert owners["crypto-self-tests"] is Owner.KERNEL
    assert owners["apic-timer-calibration"] is Owner.MACHINE
    assert {entry.nature for entry in ledger("x86_64").entries} == set(Nature)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('owner = "machine"', 'owner = "nobody"'), "owner"),
        (('functions = ["wait_for_timer"]', ""), "names neither functions nor kinds"),
        (('no_remedy = "it has to"', ""), "needs either remedies or the reason"),
        (('id = "random"', 'id = "wait"'), "two entries have one id"),
        (('why = "It polls."', ""), "why"),
        (('why = "It polls."', "why = "), "value"),
    ],
)
def test_a_ledger_that_does_not_fit_is_refused_with_the_reason(change: tuple[str, str], told: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){told}"):
        read_ledger(LEDGER.replace(*change, 1))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run([*words]) == 0
    return capsys.readouterr().out


def data_of(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return data_of_answer(shown(capsys, *words, "--json"))


def test_show_lists_what_the_machine_adds_with_the_sum_and_what_removes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    bundle = make_bundle(tmp_path)
    text = shown(capsys, "show", str(bundle))
    section = text.partition("Costs of the emulated machine")[2]
    assert "calibration of the local APIC timer" in section
    assert "--append nolapic_timer" in section
    assert "\nall " in section
    costs = data_of(capsys, "show", str(bundle))["machine_costs"]
    assert costs["ns"] == sum(cost["ns"] for cost in costs["costs"])
    apic = next(cost for cost in costs["costs"] if cost["id"] == "apic-timer-calibration")
    assert apic["remedies"][0]["measured"]["saved_ns"] > 0


def test_functions_marks_what_the_machine_adds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = data_of(capsys, "functions", str(make_bundle(tmp_path)))
    marks = {row["function"]: row["machine_cost"] for row in rows}
    assert marks["calibrate_APIC_clock"] == "apic-timer-calibration"
    assert marks["kernel_init_freeable"] is None


def test_the_page_marks_the_same_functions_and_lists_the_same_costs(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path))
    data = page_data(boot)[0]
    them = machine_costs(boot)
    assert them is not None
    names, functions = data["strings"], data["functions"]
    marked = {names[name]: names[cost] for name, cost in zip(functions["name"], functions["machine"], strict=True)
              if cost >= 0}  # fmt: skip
    assert marked == {name: cost for name, cost in them.marks.items() if name in marked}
    assert marked["calibrate_APIC_clock"] == "apic-timer-calibration"
    assert data["machine"]["rows"][0][0] == "calibration of the local APIC timer"
    assert page_data(firstlight.open(make_bundle(tmp_path, name="live.boot", live=True)))[0]["machine"] is None
