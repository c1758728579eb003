"""The study of hot spots, on small invented trees, symbols, lines and facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import firstlight
from bundles import make_bundle
from firstlight.study.claims import claims_of
from firstlight.study.outcome import Verdict
from firstlight.study.serial_line import on_the_line_ns
from firstlight.study.table import MissingValue, Table
from firstlight.study.verdicts import evaluate
from firstlight_studies.kernel_hotspots.arms import Booted
from firstlight_studies.kernel_hotspots.boot_observations import Uneven, of_lines, of_trace, uneven
from firstlight_studies.kernel_hotspots.console_output import Printed
from firstlight_studies.kernel_hotspots.coverage import coverage
from firstlight_studies.kernel_hotspots.deviation import deviation
from firstlight_studies.kernel_hotspots.devices import POPULATIONS
from firstlight_studies.kernel_hotspots.differences import broken, differences
from firstlight_studies.kernel_hotspots.figures import Arms, HotspotEvidence, figures_of
from firstlight_studies.kernel_hotspots.guest import AddedMemory, Probed, machine_of
from firstlight_studies.kernel_hotspots.health import HotspotHealth
from firstlight_studies.kernel_hotspots.health_tables import NOTHING, health_table
from firstlight_studies.kernel_hotspots.hotspots import HotSpot, hot_spots
from firstlight_studies.kernel_hotspots.linked import Linked, LinkedFunction, linked_functions
from firstlight_studies.kernel_hotspots.measured import HotspotTimings, measure
from firstlight_studies.kernel_hotspots.partition import IDLE, REST, Partition, partition
from firstlight_studies.kernel_hotspots.remedies import KERNELS, PLAIN, Remedy, chosen, remedies
from firstlight_studies.kernel_hotspots.remedy_tables import Remedies, remedy_table, serial_table
from firstlight_studies.kernel_hotspots.share_tables import Plain, function_table, share_table
from firstlight_studies.kernel_hotspots.size_tables import device_table, memory_table
from firstlight_studies.kernel_hotspots.timing_methods import ways_on
from firstlight_studies.kernel_hotspots.unmeasured import unmeasured
from firstlight_studies.kernel_hotspots.way_tables import agreement_table, initcall_table
from firstlight_studies.kernel_hotspots.window import Tree, Window

MS = 1_000_000


def tree(*rows: tuple[int, str, int], kinds: dict[int, str] | None = None) -> Tree:
    """Nodes as parent, function and own time; each was called once."""
    names = [function for _, function, _ in rows]
    return Tree(
        [parent for parent, _, _ in rows],
        names,
        [(kinds or {}).get(place, "function") for place in range(len(rows))],
        [1] * len(rows),
        [own for _, _, own in rows],
    )


def test_time_belongs_to_the_innermost_named_function_and_all_parts_add_up() -> None:
    boot = tree(
        (-1, "[boot]", 1), (0, "start_kernel", 10), (1, "calibrate_delay", 100), (2, "_printk", 1000),
        (1, "mem_init", 7), (0, "[idle]", 5), (4, "memblock_free_all.isra.0", 3), kinds={5: "idle"},
    )  # fmt: skip
    found = partition(boot, hot_spots())
    assert {key: value for key, value in found.spots_ns.items() if value} == {
        "console": 1000, "calibration": 100, "memory": 10, REST: 11, IDLE: 5,
    }  # fmt: skip
    assert found.whole_ns == sum(boot.self_ns)
    assert (found.functions["calibrate_delay"].total_ns, found.functions["calibrate_delay"].own_ns) == (1100, 100)
    assert found.functions["memblock_free_all"].total_ns == 3


def test_a_recursion_counts_once_in_the_total_and_own_times_add_up_to_the_hot_spot() -> None:
    boot = tree((-1, "[boot]", 0), (0, "device_add", 1), (1, "bus_probe", 2), (2, "device_add", 4))
    found = partition(boot, hot_spots())
    share = found.functions["device_add"]
    assert (share.calls, share.total_ns, share.own_ns) == (2, 7, 7)
    assert found.spots_ns["resources"] == 7


def test_a_named_function_that_did_not_run_in_this_part_is_not_reported() -> None:
    boot = tree((-1, "[boot]", 3), (0, "proc_get_tree", 0))
    boot = replace(boot, calls=[1, 0])
    assert "proc_get_tree" not in partition(boot, hot_spots()).functions


def test_no_function_belongs_to_two_hot_spots() -> None:
    several = Counter(function for spot in hot_spots() for function in spot.functions)
    assert [function for function, count in several.items() if count > 1] == []


SYMBOLS = """\
1000 T _text
1000 T startup_64
1040 t twice
1050 T alias_long
1050 T alias
1080 t twice
1090 T _etext
1094 D data
2000 T _sinittext
2000 t calibrate_delay
2100 T _einittext
3000 t probe\t[nd_pmem]
not a line
"""


def test_functions_end_where_the_next_begins_and_aliases_are_one() -> None:
    linked = linked_functions(SYMBOLS)
    assert [(each.name, each.size, each.init) for each in linked.functions] == [
        ("startup_64", 0x40, False), ("twice", 0x10, False), ("alias", 0x30, False), ("twice", 0x10, False),
        ("calibrate_delay", 0x100, True),
    ]  # fmt: skip
    assert linked.size == 0x90 + 0x100


def test_a_text_may_begin_with_a_later_symbol() -> None:
    text = SYMBOLS.replace("1000 T _text\n", "1000 T _stext\n").replace("1090 T _etext", "1090 D _etext")
    assert linked_functions(text) == linked_functions(SYMBOLS)


def test_coverage_counts_a_shared_name_once_and_says_how_many_there_are() -> None:
    linked = Linked((LinkedFunction("a", 10, True), LinkedFunction("s", 4, False), LinkedFunction("s", 6, False)))
    found = coverage(linked, [("early", ["a"]), ("late", ["a", "s", "of_a_module"])])
    assert [(each.functions, each.first, each.size, each.first_size) for each in found.stages] == [
        (1, 1, 10, 10), (2, 1, 14, 4),
    ]  # fmt: skip
    assert (found.linked, found.whole.size, found.ambiguous, found.unknown) == (3, 14, 1, ("of_a_module",))
    assert sum(each.first_size for each in found.stages) == found.whole.size


def test_every_remedy_is_held_beside_an_arm_that_is_booted_on_the_same_kernel() -> None:
    for quick in (True, False):
        for kernel in KERNELS:
            names = {each.name for each in chosen(kernel, quick=quick)} | {PLAIN}
            assert [each.name for each in chosen(kernel, quick=quick) if each.against not in names] == []


def test_arms_have_names_of_their_own() -> None:
    names = [each.name for each in remedies()]
    names += [each.arm(count) for each in POPULATIONS for count in each.counts]
    assert len(names) == len(set(names))
    assert {spot.key for spot in hot_spots()} >= {each.spot for each in remedies()}


def test_a_value_that_was_not_measured_is_a_hole() -> None:
    remedy = Remedy("lpj", "loops per jiffy preset", "calibration", "lpj={lpj:8}")
    assert isinstance(remedy.command_line(None), MissingValue)


def test_an_initcall_that_ran_twice_under_one_name_is_left_out() -> None:
    lines = [(0, "calling  f+0x0/0x9 @ 1"), (5, "initcall f+0x0/0x9 returned 0 after 4 usecs"), (6, "other"),
             (7, "calling  g+0x0/0x9 [ext4] @ 1"), (8, "calling  f+0x0/0x9 @ 1"),
             (9, "initcall f+0x0/0x9 returned 0 after 0 usecs")]  # fmt: skip
    assert of_lines(lines) == {}
    assert of_lines(lines[:3]) == {"f": 5}


def test_a_trace_without_an_end_tells_nothing_of_that_initcall() -> None:
    trace = (
        "# tracer: nop\n"
        "       swapper/0-1       [000] .....     0.123456: initcall_start: func=f+0x0/0x1a\n"
        "       swapper/0-1       [000] .....     0.123460: initcall_start: func=g\n"
        "       swapper/0-1       [000] .....     0.123479: initcall_finish: func=g ret=-19\n"
    )
    assert of_trace(trace) == {"g": 19_000}


def test_a_deviation_is_of_those_initcalls_that_both_ways_saw() -> None:
    off = deviation({"a": 12, "b": 20, "x": 1}, {"a": 10, "b": 30, "y": 1})
    assert off is not None
    assert (off.intervals, off.sum_ns, off.profile_ns, off.middle_ns, off.largest_ns, off.largest) == (
        2, 32, 40, 6, -10, "b",
    )  # fmt: skip
    assert deviation({"a": 1}, {"b": 1}) is None


HEALTHY = HotspotHealth(
    lpj=4_000_000,
    clock_source="tsc",
    memory=500 << 20,
    devices=frozenset({"device.pci/0 e", "device.acpi/1"}),
    warnings=frozenset(),
    mounts=frozenset({"/", "/proc"}),
    hash_entries=1000,
    probed=Probed(101 * MS, (2, 1, 20), 0, 28, 70, "lapic", True),
    delay=(10, 5000),
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"probed": Probed(None, (), None)}, "userspace does not find its own programs"),
        ({"lpj": 500_000}, "loops per jiffy 500,000, not 4,000,000"),
        ({"clock_source": "hpet"}, "clock source hpet, not tsc"),
        ({"memory": 200 << 20}, "memory 200 MiB, not 500 MiB"),
        ({"devices": frozenset({"device.acpi/1"})}, "1 device lost (`pci/0 e`)"),
        ({"warnings": frozenset({"TSC unstable"})}, "1 warning more (`TSC unstable`)"),
        ({"mounts": frozenset({"/"})}, "1 mount lost (`/proc`)"),
        ({"hash_entries": 10}, "hash entries 10, not 1,000"),
        ({"probed": Probed(202 * MS, (2, 1, 20), 0)}, "a sleep of 100 ms takes 202.000 ms, not 101.000 ms"),
        ({"probed": Probed(101 * MS, (0, 0, 1), 0)}, "userspace finds 0, 0, 1 of settings, processes and buses"),
        ({"probed": Probed(101 * MS, (2, 1, 20), 1)}, "names are left in an event's format"),
        ({"delay": (10, 40_000)}, "the kernel's short delays take 8 times as long"),
        ({"probed": Probed(101 * MS, (2, 1, 20), 0, 4, 70, "lapic", True)}, "block devices 4, not 28"),
        ({"probed": Probed(101 * MS, (2, 1, 20), 0, 28, 68, "lapic", True)}, "terminals 68, not 70"),
        ({"probed": Probed(101 * MS, (2, 1, 20), 0, 28, 70, "hpet", True)}, "clock event device hpet, not lapic"),
        ({"probed": Probed(101 * MS, (2, 1, 20), 0, 28, 70, "lapic", False)}, "timers end only with a tick"),
    ],
)
def test_what_a_remedy_broke_is_said_with_both_values(change: dict[str, object], said: str) -> None:
    assert any(said in each for each in broken(replace(HEALTHY, **change), HEALTHY))  # type: ignore[arg-type]


def test_what_is_as_it_was_is_not_reported() -> None:
    nearly = replace(HEALTHY, memory=(500 << 20) + 4096, probed=Probed(103 * MS, (2, 1, 20), 0))
    assert broken(nearly, HEALTHY) == []
    assert broken(replace(HEALTHY, lpj=3_999_972), HEALTHY) == []
    other_work = replace(HEALTHY, delay=(11, 90_000))
    assert broken(other_work, HEALTHY) == []


def test_what_a_remedy_is_there_to_change_is_no_breakage() -> None:
    small = replace(HEALTHY, hash_entries=10, lpj=500_000)
    assert broken(small, HEALTHY, frozenset({"hash entries"})) == ["loops per jiffy 500,000, not 4,000,000"]
    less = replace(HEALTHY, devices=HEALTHY.devices, memory=100 << 20)
    more = replace(HEALTHY, devices=HEALTHY.devices | {"device.memory/memory4"})
    assert [each.fact for each in differences(less, more)] == ["memory", "memory"]


def test_every_fact_that_a_remedy_is_meant_to_change_is_one_that_is_looked_at() -> None:
    other = HotspotHealth(
        lpj=1, clock_source="hpet", memory=1 << 20, devices=frozenset(), warnings=frozenset({"w"}), mounts=frozenset(),
        hash_entries=1, probed=Probed(MS, (0, 0, 1), 1, 1, 1, "pit", False), delay=(10, 1),
    )  # fmt: skip
    facts = {each.fact for each in differences(other, HEALTHY)}
    assert {fact for each in remedies() for fact in each.meant} <= facts


def test_what_the_guest_could_not_tell_of_its_machine_is_left_out() -> None:
    assert machine_of("") == {}
    assert machine_of("block\ntty 70\nclockevent lapic\n  .hres_active    : 1\n") == {
        "tty": "70", "clockevent": "lapic", "hres_active": "1",
    }  # fmt: skip


def arm(
    length: int, after: int = 10 * MS, size: int = 0, health: HotspotHealth = HEALTHY, **parts: int
) -> HotspotTimings:
    """An arm with a window of so many nanoseconds, of which *parts* belong to hot spots."""
    spots = dict.fromkeys((*(spot.key for spot in hot_spots()), REST, IDLE), 0) | parts
    spots[REST] += length - sum(spots.values())
    window = Window(1000, 1000 + length, length, 0, ("early_init",), 1000 + length + after)
    return HotspotTimings(window, Partition(spots), Printed(size // 70, size), health, mounts_ns=0)


def evidence(
    arms: Mapping[str, HotspotTimings | MissingValue],
    added: AddedMemory | MissingValue = MissingValue("not added"),  # noqa: B008  a plain value
    **costs: tuple[int, int],
) -> HotspotEvidence:
    """Of the lab's kernel alone."""
    return HotspotEvidence(
        {"lab": arms, "stock": {}},
        {kernel: chosen(kernel, quick=False) for kernel in KERNELS},
        hot_spots(),
        added,
        {name.replace("_", "-"): cost for name, cost in costs.items()},
        0.0001,
        8_388_608,
    )


def verdict(found: HotspotEvidence, claim: str) -> tuple[str, str]:
    """Verdict and figure of a claim, of a machine that times everything."""
    claims = claims_of("firstlight_studies.kernel_hotspots")
    (one,) = [each for each in evaluate(claims, figures_of(found), ()) if each.id == claim]
    return one.verdict.value, one.now


def test_each_finding_follows_its_figures() -> None:
    plain = arm(1000 * MS, calibration=300 * MS, console=4 * MS, memory=40 * MS)
    saves = evidence({PLAIN: plain, "lpj": arm(700 * MS)})
    assert verdict(saves, "lpj") == ("holds", "saves 300.000 ms of the window (+30.000 %)")
    assert verdict(evidence({PLAIN: plain, "lpj": arm(1000 * MS - 1)}), "lpj")[0] == "no longer holds"
    lost = evidence({PLAIN: plain, "lpj": MissingValue("it did not come up")})
    assert verdict(lost, "lpj") == ("not testable here", "it did not come up")


def test_a_hot_spot_has_time_share_and_rank_without_self_tests_and_tracing_and_no_verdict() -> None:
    parts: dict[str, Any] = {"calibration": 89 * MS, "console": 4 * MS, "self-tests": 500 * MS, "tracing": 113 * MS}
    found = verdict(evidence({PLAIN: arm(1000 * MS, **parts)}), "spot-calibration")
    assert found[0] == "counted, no verdict"
    assert "lab's kernel 23.0 %, rank 1" in found[1]
    assert verdict(evidence({}), "spot-console")[0] == "not testable here"


def test_a_remedy_is_compared_with_its_own_baseline() -> None:
    found = evidence({PLAIN: arm(1000 * MS), "no-tsc": arm(1100 * MS), "no-tsc-lpj": arm(1050 * MS)})
    assert verdict(found, "no-tsc-lpj") == ("holds", "saves 50.000 ms of the window (+4.545 %)")


def test_a_way_of_timing_that_a_quick_run_leaves_out_is_named_so() -> None:
    assert verdict(evidence({}), "timed-within") == ("not testable here", "a quick run leaves this arm out")
    failed = replace(evidence({}), way_costs={"graph-all": None, "no-profile": (100, 0)})
    assert verdict(failed, "timed-within") == ("not testable here", "not measured in this run")
    assert verdict(failed, "timed-outside")[0] == "no longer holds"


def test_printing_states_the_line_that_the_emulated_port_lacks_and_leaves_the_verdict_to_it() -> None:
    found = evidence({PLAIN: arm(1000 * MS, size=11_520), "quiet": arm(1000 * MS, size=0)})
    assert "1.000000 s of a line at 115,200 Bd" in verdict(found, "quiet")[1]
    assert on_the_line_ns(960, 9600) == 1_000 * MS
    claims = claims_of("firstlight_studies.kernel_hotspots")
    decided = {each.id for each in evaluate(claims, figures_of(found)) if each.verdict == Verdict.MACHINE}
    assert "quiet" in decided


def test_memory_that_can_be_added_refutes_the_old_limit() -> None:
    much = {"much-memory": arm(1000 * MS, memory=200 * MS), "memory-limited": arm(800 * MS, memory=28 * MS)}
    found = evidence(much, AddedMemory(20, 1, 128 << 20, 10 * MS, 2 * MS))
    assert verdict(found, "memory-later") == ("no longer holds", "20 blocks, 2.5 GiB, added in 12.000 ms")
    assert verdict(found, "hidden-memory") == ("holds", "200.000 ms to 28.000 ms, of 4 GiB and of 512 MiB")
    assert verdict(evidence(much, AddedMemory(0, 21, 128 << 20, 0, 0)), "memory-later")[0] == "holds"
    none = evidence(much, MissingValue("no such file"))
    assert verdict(none, "memory-later") == ("not testable here", "no such file")


def test_a_wrong_preset_that_boots_asks_for_a_sanity_check_warned_of_or_not() -> None:
    wrong = replace(HEALTHY, warnings=frozenset({"odd"}), clock_source="jiffies")
    warned = evidence({PLAIN: arm(MS), "lpj-eightfold": arm(MS, health=wrong)})
    text = "1 of 1 wrong values boot and change another fact, 1 of these with a new warning"
    assert verdict(warned, "sanity-check") == ("holds", text)
    harmless = evidence({PLAIN: arm(MS), "lpj-eightfold": arm(MS), "lpj-eighth": arm(MS)})
    assert verdict(harmless, "sanity-check")[0] == "no longer holds"
    assert verdict(evidence({}), "sanity-check") == ("not testable here", "not measured in this run")


def test_remedies_that_change_more_than_they_are_meant_to_are_counted_without_a_verdict() -> None:
    changed = arm(MS, health=replace(HEALTHY, clock_source="jiffies"))
    names = [each.name for each in chosen("lab", quick=False) if each.remedy and not each.wrong][:13]
    found = evidence({PLAIN: arm(MS)} | dict.fromkeys(names, changed))
    assert verdict(found, "failure-modes")[0] == "counted, no verdict"


def test_the_ring_that_stamps_need_is_not_charged_to_the_stamps() -> None:
    ways = {each.arm: each for each in ways_on(quick=True)}
    ring, beside = ways["ring"], ways[ways["ring"].against]
    assert set(ring.words.split()) - set(beside.words.split()) == {"initcall_debug"}


def test_the_stamps_before_the_switch_are_reported_beside_the_port() -> None:
    first, last = "printk: console [ttyS0] enabled", "clocksource: Switched to clocksource tsc-early"
    found = uneven([(1, "early"), (5 * MS, first), (90 * MS, last)], [(40 * MS, first), (70 * MS, last)])
    assert found == Uneven(85 * MS, 30 * MS)
    assert uneven([(5, first)], [(4, first), (7, last)]) is None
    below = " ".join(agreement_table(MissingValue("not booted"), found).below)
    assert "count 85.000 ms, and 30.000 ms passed" in below


def test_a_remedy_that_changes_nothing_looked_at_is_not_said_to_change_nothing() -> None:
    arms: Arms = {"stock": {}, "lab": {PLAIN: arm(MS), "quiet": arm(MS)}}
    tried: Remedies = {"stock": [], "lab": [each for each in remedies() if each.name == "quiet"]}
    assert figures(health_table(arms, tried), "quiet")[-1] == NOTHING


def test_the_cost_of_instrumentation_is_that_of_each_way() -> None:
    found = evidence({}, graph_all=(1000 * MS, 188 * MS), no_profile=(1000 * MS, 0))
    assert verdict(found, "timed-within") == ("holds", "+18.8 %")
    assert verdict(found, "timed-outside") == ("no longer holds", "+0.0 %")


def figures(table: Table, row: str) -> tuple[object, ...]:
    """A row of a table by its first cell."""
    (found,) = [each for each in table.rows if each[0] == row]
    return found


def test_a_kernel_that_is_missing_leaves_holes_and_the_other_its_figures() -> None:
    spots: tuple[HotSpot, ...] = hot_spots()
    missing = MissingValue("the kernel cannot be built")
    table = share_table({"stock": arm(100 * MS, console=25 * MS), "lab": missing}, spots)
    assert figures(table, "console")[3:] == (25 * MS, 0.25, missing, None)
    assert figures(table, "whole")[3:5] == (100 * MS, 1.0)
    shown = [row for row in table.rows if row[0] != "whole"]
    assert sum(value for row in shown if isinstance(value := row[3], int)) == 100 * MS
    lacking: dict[str, HotspotTimings | MissingValue] = dict.fromkeys(
        (PLAIN, *(each.name for each in remedies())), missing
    )
    arms: Arms = {"stock": {PLAIN: arm(MS)}, "lab": lacking}
    tried = {kernel: chosen(kernel, quick=True) for kernel in KERNELS}
    for each in (
        remedy_table(arms, tried, spots),
        health_table(arms, tried),
        serial_table(arms, {PLAIN: "as it is"}),
        memory_table(lacking, {}, missing),
        device_table(lacking, quick=True),
        agreement_table(missing, None),
        initcall_table(missing),
    ):
        assert any(reason == missing.reason for _, _, reason in each.gaps()), each.key


def test_a_function_that_a_kernel_lacks_is_shown_as_such() -> None:
    linked = Linked((LinkedFunction("console_init", 10, True),))
    plain: Plain = {"stock": arm(MS), "lab": arm(MS)}
    table = function_table(plain, hot_spots(), {"stock": linked, "lab": linked})
    rows = {row[1]: row[2:] for row in table.rows}
    assert rows["console_init"] == (0, 0, 0, 0, 0, 0)
    assert isinstance(rows["raid6_select_algo"][0], MissingValue)


def test_what_could_not_be_measured_of_a_boot_is_missing_and_named(tmp_path: Path) -> None:
    boot = firstlight.open(make_bundle(tmp_path, profile=False))
    lost = MissingValue("it did not come up")
    booted = Booted({("stock", PLAIN): boot, ("lab", PLAIN): lost}, {}, (), "lab", {})
    measured: Arms = {"stock": {PLAIN: measure(boot)}, "lab": {PLAIN: lost}}
    (one, other) = unmeasured(booted, measured, {"stock": MissingValue("no symbols"), "lab": lost}, lost, lost)
    unable = measured["stock"][PLAIN]
    assert isinstance(unable, MissingValue)
    assert (one.what, one.reason) == ("stock-plain", unable.reason)
    assert (other.what, other.reason) == ("how much of the stock kernel runs", "no symbols")
