"""Initcalls, devices, uevents, units and the log of imported boots."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firstlight
from bundles import make_bundle, write_table
from firstlight.analysis.console_cost import console_cost
from firstlight.analysis.devices import devices
from firstlight.analysis.initcall_sums import InitcallSums, initcall_sums
from firstlight.analysis.initcalls import OTHER_LEVELS, OUTSIDE, by_level, initcalls, levels, remarks
from firstlight.analysis.interval_union import clipped, merged, most_at_once, union_ns
from firstlight.analysis.log_lines import gaps, log_lines
from firstlight.analysis.udev_queue import histogram, queue_over_time, queue_summary
from firstlight.analysis.uevents import uevents
from firstlight.analysis.units import LATER, stages, units
from firstlight.bundle.boot import Boot
from firstlight.cli.main import run
from imported_bundle import MS, Spans, make_bare, make_imported, write_bundle


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_imported(tmp_path_factory.mktemp("spans")))


def row(frame: pl.DataFrame, column: str, value: object) -> dict[str, Any]:
    return frame.filter(pl.col(column) == value).row(0, named=True)


def test_probes_inside_an_initcall_count_once_where_they_overlap(boot: Boot) -> None:
    call = row(initcalls(boot), "function", "disk_init")
    # 30 ms alone; 60 ms and 40 ms that overlap for 20 ms.
    assert (call["probes"], call["probes_ns"], call["self_ns"]) == (3, 110 * MS, 690 * MS)


def test_what_an_initcall_without_an_end_took_is_not_known(boot: Boot) -> None:
    call = row(initcalls(boot), "function", "unknown_end")
    assert (call["duration_ns"], call["self_ns"], call["grade"]) == (None, None, "unknown")


def test_a_level_has_wall_and_sum_apart(boot: Boot) -> None:
    modules = row(levels(boot), "level", "module")
    assert (modules["wall_ns"], modules["sum_ns"]) == (350 * MS, 550 * MS)


def test_what_lies_outside_all_initcalls_is_a_row_whatever_level_is_asked_for(boot: Boot) -> None:
    assert row(levels(boot), "level", OUTSIDE)["wall_ns"] == (80 + 98) * MS
    assert row(by_level(boot, initcalls(boot), "module"), "level", OUTSIDE)["wall_ns"] == (80 + 98) * MS


def test_a_single_level_and_the_others_together_add_up_to_all(boot: Boot) -> None:
    table = by_level(boot, initcalls(boot), "device")
    assert table["level"].to_list() == ["device", OTHER_LEVELS, OUTSIDE, "all"]
    assert table.tail(1).equals(levels(boot).tail(1))
    for figure in ("initcalls", "phase_ns", "sum_ns", "probes", "unknown"):
        assert table[figure].head(-1).sum() == table[figure][-1], figure


def test_the_durations_lead_to_the_phase(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("phase", "initcalls", (200, 900))
    # Wholly before; two that overlap; one that reaches beyond the phase; wholly after.
    calls = [("console", 50, 60), ("core", 200, 400), ("fs", 300, 500), ("late", 800, 950), ("module", 950, 1000)]
    for level, start, end in calls:
        spans.add("initcall", level, (start, end), track=f"task {start}", level=level)
    boot = firstlight.open(write_bundle(tmp_path, "sums.boot", spans=spans, length=1500))
    sums = initcall_sums(boot, initcalls(boot))
    assert sums == InitcallSums(
        phase=(200 * MS, 900 * MS), all_ns=610 * MS, apart=2, apart_ns=60 * MS, stamps_ns=-150 * MS, outside_ns=300 * MS
    )
    assert (sums.all_ns - sums.apart_ns + sums.stamps_ns + sums.outside_ns) == 700 * MS


def test_the_shares_of_levels_are_of_all_phases_of_initcalls(tmp_path: Path) -> None:
    # As a recording has them: consoles long before, a mark `initcalls` between two levels, a module beside the last.
    spans = Spans()
    edges = [("early_init", 0, 100), ("initcall_early", 100, 130), ("smp_init", 130, 200), ("initcalls", 200, 210),
             ("initcall_core", 210, 500), ("initcall_late", 500, 900), ("userspace", 900, 1500)]  # fmt: skip
    for name, start, end in edges:
        spans.add("phase", name, (start, end))
    calls = [("console", 50, 60), ("early", 100, 120), ("core", 210, 400), ("late", 500, 900), ("module", 850, 950)]
    for level, start, end in calls:
        spans.add("initcall", level, (start, end), track="task 1", level=level)
    table = levels(firstlight.open(write_bundle(tmp_path, "levels.boot", spans=spans, length=1500)))
    whole = row(table, "level", "all")
    assert (whole["start_ns"], whole["end_ns"], whole["phase_ns"]) == (100 * MS, 900 * MS, 800 * MS)
    assert {level: own // MS for level, own in table.select("level", "phase_ns").head(-1).iter_rows()} == {
        "early": 20, "core": 190, "late": 400, "console": 0, "module": 0, OUTSIDE: 190,
    }  # fmt: skip
    assert table["phase_ns"].head(-1).sum() == whole["phase_ns"]


def test_the_levels_of_an_exact_recording_add_up_to_their_phases(tmp_path: Path) -> None:
    table = levels(firstlight.open(make_bundle(tmp_path)))
    *parts, whole = table["wall_ns"].to_list()
    assert sum(parts) == whole


def test_a_device_that_was_put_off_tells_tries_cost_and_wait(boot: Boot) -> None:
    device = row(devices(boot), "device", "disk0")
    assert (device["tries"], device["deferrals"], device["deferred_ns"]) == (2, 1, 30 * MS)
    assert (device["waited_ns"], device["supplier"], device["result"]) == (1760 * MS, "power0", "bound")


def test_a_device_that_waited_to_the_end_is_there(boot: Boot) -> None:
    device = row(devices(boot), "device", "sound")
    assert (device["tries"], device["result"], device["supplier"]) == (0, "deferred", "codec")


def test_the_last_try_is_the_one_that_ended_last(tmp_path: Path) -> None:
    spans = Spans()
    # Ends are dates, of one second; the starts are counted back from them.
    first = spans.add("probe", "pmic", (100, 100), attempt="1", returned="517")
    spans.rows[first]["duration_ns"] = MS
    spans.add("probe", "pmic", (88, 100), attempt="2", returned="0")
    device = devices(firstlight.open(write_bundle(tmp_path, "dates.boot", spans=spans))).row(0, named=True)
    assert (device["result"], device["tries"], device["duration_ns"]) == ("bound", 2, 12 * MS)
    assert device["deferred_ns"] == MS


def test_a_recording_without_profile_says_how_to_have_initcalls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_bundle(tmp_path, profile=False)
    spans = firstlight.open(path).spans()
    write_table(path, "spans", spans.filter(pl.col("kind") != "initcall"))
    assert run(["initcalls", str(path)]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "note: this boot has no record of initcalls",
        "hint: record it again without `--no-profile`",
    ]


def test_what_the_kernel_remarks_of_initcalls_is_reported(boot: Boot, tmp_path: Path) -> None:
    spans = Spans()
    spans.add("initcall", "imb_init", (10, 20), warning="preemption imbalance")
    spans.add("initcall", "none_init", (20, 30), warning="error code -19", returned="-19")
    facts = {"kernel.initcalls_blacklisted": "blk_init odd_init"}
    told = remarks(firstlight.open(write_bundle(tmp_path, "told.boot", spans=spans, facts=facts)))
    assert told == {
        "warnings": [{"function": "imb_init", "warning": "preemption imbalance"}],
        "blacklisted": ["blk_init", "odd_init"],
    }
    assert remarks(boot) == {}


def test_the_driver_comes_from_the_facts_where_the_record_does_not_tell(boot: Boot) -> None:
    device = row(devices(boot), "device", "0000:00:04.0")
    assert (device["bus"], device["driver"]) == ("pci", "virtio-pci")


def test_a_uevent_tells_its_queue_what_blocked_it_and_its_worker(boot: Boot) -> None:
    event = row(uevents(boot), "seqnum", 101)
    assert (event["queued_ns"], event["blocked_ns"], event["blocked_by"]) == (96 * MS, 95 * MS, "100")
    assert (event["service_ns"], event["worker"], event["latency_ns"]) == (98 * MS, "8", 195 * MS)


def test_an_event_that_two_records_tell_has_one_row(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("uevent", "/devices/a", (10, 30), seqnum="5", subsystem="net", action="add")
    whole = spans.add("uevent", "a", (11, 29), seqnum="5")
    spans.add("uevent_service", "a", (12, 29), parent=whole, track="udev worker 3", seqnum="5")
    rows = uevents(firstlight.open(write_bundle(tmp_path, "two.boot", spans=spans)))
    assert rows.select("device", "subsystem", "worker", "latency_ns").rows() == [("a", "net", "3", 18 * MS)]


def test_the_queue_tells_its_length_and_its_workers(boot: Boot) -> None:
    queue = queue_summary(boot)
    assert (queue.events, queue.finished, queue.workers) == (4, 3, 2)
    assert (queue.most_waiting, queue.most_at_work) == (2, 2)
    assert queue.busy_ns == 200 * MS
    assert queue.service_ns == (90 + 98 + 39) * MS
    assert queue.utilisation == pytest.approx(227 / 400)
    assert (queue.mean_ns, queue.median_ns) == (round(395 * MS / 3), 100 * MS)
    assert queue.share == pytest.approx(200 / 4800)


def test_the_queue_is_empty_at_the_end(boot: Boot) -> None:
    over = queue_over_time(uevents(boot))
    assert over.row(-1)[1:] == (0, 0)
    assert over["waiting"].max() == 2


def test_waiting_and_working_of_a_unit_add_up_to_the_time_since_it_was_wanted(boot: Boot) -> None:
    for unit in units(boot).filter(pl.col("end_ns").is_not_null()).iter_rows(named=True):
        parts = [unit[part] or 0 for part in ("ordered_ns", "held_ns", "working_ns", "hardware_ns")]
        assert sum(parts) == unit["end_ns"] - unit["wanted_ns"], unit["unit"]


def test_a_unit_waited_for_the_last_of_those_that_it_is_ordered_after(boot: Boot) -> None:
    unit = row(units(boot), "unit", "app.service")
    assert (unit["waited_for"], unit["ordered_ns"], unit["held_ns"]) == ("network.service", 1800 * MS, 10 * MS)
    assert (unit["working_ns"], unit["grade"]) == (1290 * MS, "bounded")


def test_a_device_unit_waits_for_hardware_and_does_no_work(boot: Boot) -> None:
    unit = row(units(boot), "unit", "dev-disk0p1.device")
    assert (unit["hardware_ns"], unit["working_ns"], unit["held_ns"]) == (682 * MS, None, None)


def test_failed_and_unfinished_units_are_told_apart(boot: Boot) -> None:
    states = dict(units(boot).select("unit", "state").iter_rows())
    assert (states["broken.service"], states["slow.service"]) == ("failed", "unfinished")


@pytest.mark.parametrize(
    ("attributes", "state"),
    [
        ({"result": "timeout"}, "failed"),
        ({"result": "dependency"}, "failed"),
        ({"result": "canceled"}, "canceled"),
        ({"state": "active", "result": "watchdog"}, "active"),
        ({"state": "failed", "result": "exit-code"}, "failed"),
    ],
)
def test_a_start_failed_whose_job_did_by_whatever(tmp_path: Path, attributes: dict[str, Any], state: str) -> None:
    spans = Spans()
    spans.add("unit", "a.mount", (10, 20), **attributes)
    assert units(firstlight.open(write_bundle(tmp_path, "one.boot", spans=spans)))["state"].to_list() == [state]


def test_a_unit_that_failed_and_came_up_by_a_restart_has_a_start_of_each_state(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("unit", "a.service", (10, 20), result="failed")
    spans.add("unit", "a.service", (30, 40))
    rows = units(firstlight.open(write_bundle(tmp_path, "again.boot", spans=spans)))
    assert rows["state"].to_list() == ["failed", "active"]


def test_a_start_after_the_start_up_waited_for_nothing_in_it(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("stage", "userspace", (10, 4500))
    spans.add("unit", "a.service", (20, 40))
    spans.add("unit", "b.timer", (86_400_000, 86_400_100))
    marks = {"record_start": 0, "startup_finished": 4500, "record_end": 86_400_100}
    rows = units(firstlight.open(write_bundle(tmp_path, "later.boot", spans=spans, marks=marks, length=86_400_100)))
    assert rows["waiting_ns"].to_list() == [10 * MS, None]
    assert rows["reason"].to_list() == [None, LATER]


def test_a_part_of_a_stage_names_its_stage(boot: Boot) -> None:
    assert row(stages(boot), "stage", "units-load")["part_of"] == "userspace"


def test_gaps_add_up_to_the_boot_and_name_what_ran(boot: Boot) -> None:
    table = gaps(boot)
    assert table["gap_ns"].sum() == 4800 * MS
    second = table.row(1, named=True)
    assert (second["gap_ns"], second["line_before"], second["line_after"]) == (980 * MS, 5, 6)
    assert "initcall disk_init" in second["running"]


def test_what_was_said_after_the_boot_is_no_gap_of_it(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("phase", "userspace_start", (0, 4800))
    said: list[tuple[float | None, str, int | None]] = [(100, "one", None), (4700, "two", None), (20000, "late", None)]
    table = gaps(firstlight.open(write_bundle(tmp_path, "long.boot", spans=spans, log=said)))
    assert table["gap_ns"].to_list() == [4600 * MS, 100 * MS, 100 * MS]
    assert table["after"].to_list() == ["two", "one", None]


def test_lines_keep_the_time_since_the_line_before_whatever_is_left_out(boot: Boot) -> None:
    rows = log_lines(boot, level=4)
    assert rows.select("text", "delta_ns").rows() == [("ata1: link is slow to respond, please be patient", 980 * MS)]


def test_a_serial_console_costs_ten_bits_for_each_character(boot: Boot) -> None:
    cost = console_cost(boot)
    assert (cost.console, cost.baud, cost.baud_known, cost.level) == ("ttyS0", 115200, True, 8)
    first = cost.costly.filter(pl.col("line") == 1).row(0, named=True)
    # `[    0.000000] `, the text, and the end of the line.
    assert first["characters"] == 15 + len("Linux version 6.1.0 (builder@host)") + 2
    assert first["cost_ns"] == first["characters"] * 10 * 1_000_000_000 // 115200
    assert cost.diagnostic_lines == 2
    assert cost.measured_ns is None


def test_a_capture_of_another_machine_tells_what_the_console_held_up(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("console", "lines had accumulated", (1000, 1400), lines="30")
    log: list[tuple[float | None, str, int | None]] = [(10, "one", 6), (1000, "two", 6), (1400, "three", 6)]
    path = write_bundle(tmp_path, "serial.boot", spans=spans, log=log, host=[500, 1890, 1890])
    cost = console_cost(firstlight.open(path))
    assert (cost.measured_ns, cost.behind_ns) == (400 * MS, 400 * MS)
    assert (cost.console, cost.computed_ns, cost.share) == (None, None, None)


@pytest.mark.parametrize("make", [make_bare, make_bundle])
def test_a_boot_that_tells_nothing_of_a_kind_has_no_rows_of_it(make: object, tmp_path: Path) -> None:
    boot = firstlight.open(make(tmp_path))  # type: ignore[operator]
    for frame in (devices(boot), uevents(boot), units(boot), stages(boot)):
        assert frame.is_empty()
    assert queue_summary(boot).events == 0


def test_hostile_attributes_and_names_are_no_more_than_names(tmp_path: Path) -> None:
    boot = firstlight.open(make_imported(tmp_path, "bad.boot", hostile=True))
    assert initcalls(boot).filter(pl.col("level") == "module")["returned"].null_count() == 7
    assert devices(boot)["result"].to_list().count("failed: ENODEV") == 7
    assert units(boot).height == 11 + 7


figures = st.integers(-50, 200)
intervals = st.lists(st.tuples(figures, figures), max_size=30)


@given(intervals, figures, figures)
def test_a_union_is_no_longer_than_the_sum_and_lies_within(rows: list[tuple[int, int]], start: int, end: int) -> None:
    instants = {at for begin, finish in rows for at in range(begin, finish)}
    assert union_ns(rows) == len(instants)
    assert union_ns(clipped(rows, start, end)) == len(instants & set(range(start, end)))
    assert all(one[1] < other[0] for one, other in zip(merged(rows), merged(rows)[1:], strict=False))
    deepest = max((sum(begin <= at < finish for begin, finish in rows) for at in instants), default=0)
    assert most_at_once(rows) == deepest


@given(st.lists(st.integers(0, 10**15), max_size=50))
def test_a_histogram_loses_nothing(values: list[int]) -> None:
    width, bins = histogram(values)
    assert sum(each.count for each in bins) == len(values)
    assert len(bins) <= 16
    assert width is None or str(width)[0] in "125"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(-100, 6000)), st.sampled_from(["a", "[x", ""])), max_size=20),
    st.lists(st.tuples(st.integers(0, 1500), st.integers(0, 1500), st.sampled_from(["task 1", "task 2", ""])),
             max_size=12),
)  # fmt: skip
def test_gaps_are_the_window_and_initcalls_with_the_rest_their_phase(
    lines: list[tuple[int | None, str]], calls: list[tuple[int, int, str]]
) -> None:
    spans = Spans()
    spans.add("phase", "initcalls", (0, 1500))
    for start, end, track in calls:
        spans.add("initcall", "f", (min(start, end), max(start, end)), track=track, level="device")
    log: list[tuple[float | None, str, int | None]] = [(at, text, None) for at, text in lines]
    with tempfile.TemporaryDirectory() as directory:
        boot = firstlight.open(write_bundle(Path(directory), "any.boot", spans=spans, log=log))
        known = [at for at, _ in lines if at is not None]
        if known:
            # What was said before or after the boot is not part of it.
            assert gaps(boot)["gap_ns"].sum() == 4800 * MS
        table = levels(boot)
        device = table.filter(pl.col("level") == "device")["wall_ns"].sum()
        assert device + row(table, "level", OUTSIDE)["wall_ns"] == 1500 * MS
        sums = initcall_sums(boot, initcalls(boot))
        if sums is not None:
            assert sums.all_ns - sums.apart_ns + sums.stamps_ns + sums.outside_ns == 1500 * MS
        assert all(call["wall_ns"] <= call["sum_ns"] for call in table.to_dicts() if call["level"] == "device")


@pytest.mark.parametrize(("record", "told"), [("printk", [0, -19, None]), ("function-graph", [None, -19, None])])
def test_what_the_log_of_a_kernel_does_not_tell_returned_0(record: str, told: list[int | None], tmp_path: Path) -> None:
    spans = Spans()
    spans.add("initcall", "a", (10, 20), track="task 1")
    spans.add("initcall", "b", (20, 30), track="task 1", returned="-19")
    spans.add("initcall", "c", (30, None), track="task 1", grade="unknown")
    boot = firstlight.open(write_bundle(tmp_path, "one.boot", spans=spans, record=record))
    assert initcalls(boot)["returned"].to_list() == told
