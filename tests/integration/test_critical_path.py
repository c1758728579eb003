"""The critical path: its parts add up, its edges are told, slack and what-if agree with each other."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import firstlight
from firstlight.analysis.initcalls import initcalls
from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.path.critical import find_path
from firstlight.analysis.path.what_if import what_if
from firstlight.bundle.boot import Boot
from firstlight.errors import BundleError
from imported_bundle import MS, Spans, make_bare, make_imported, write_bundle

KINDS = ("initcall", "probe", "async", "async_wait", "uevent", "unit", "stage", "firmware")


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_imported(tmp_path_factory.mktemp("path")))


def names(rows: pl.DataFrame, kind: str) -> list[str]:
    return rows.filter(pl.col("kind") == kind)["name"].to_list()


def check_partition(rows: pl.DataFrame, first: int, goal: int) -> None:
    """Every part begins where the one before ends; together they are the whole."""
    assert rows["duration_ns"].sum() == goal - first
    assert (rows["end_ns"] - rows["start_ns"] == rows["duration_ns"]).all()
    assert rows["start_ns"].to_list()[1:] == rows["end_ns"].to_list()[:-1]


def test_the_path_follows_what_is_recorded(boot: Boot) -> None:
    rows = find_path(boot).rows
    check_partition(rows, 0, 4800 * MS)
    chain = ["check.service", "data.mount", "local-fs.target", "network.service", "app.service", "multi-user.target"]
    assert names(rows, "unit") == ["dev-disk0p1.device", *chain]
    edges = dict(rows.select("name", "edge").iter_rows())
    assert edges["app.service"] == "after"
    assert edges["/devices/pci/disk0/disk0p1"] == "blocked_by"
    assert edges["dev-disk0p1.device"] == edges["disk_scan"] == "inferred"


def test_a_wait_for_an_asynchronous_body_leads_to_the_body_and_back_to_its_waiter(boot: Boot) -> None:
    rows = find_path(boot, "run_init_start").rows
    place = rows["name"].to_list().index("disk_scan")
    assert rows["kind"][place] == "async"
    after = rows.slice(place + 1, 2)
    assert after["name"].to_list() == ["[waiting for asynchronous bodies]", "disk_init"]
    assert after["duration_ns"].to_list() == [10 * MS, 90 * MS]


def test_userspace_waits_for_the_kernel_whatever_else_it_waited_for(boot: Boot) -> None:
    rows = find_path(boot).rows
    at = rows.filter(pl.col("end_ns") == 1600 * MS)
    assert at["during"].to_list() == ["phase run_init_start; initcall unknown_end (no end)"]


def test_what_no_step_explains_is_a_part_that_says_what_else_ran(boot: Boot) -> None:
    unexplained = find_path(boot, charged=False).rows.filter(pl.col("name") == UNKNOWN)
    longest = unexplained.sort("duration_ns").row(-1, named=True)
    assert (longest["start_ns"], longest["duration_ns"]) == (1600 * MS, 800 * MS)
    assert longest["during"].startswith("initcall nic_init, initcall usb_init")


def test_slack_is_what_a_step_has_beside_the_path(boot: Boot) -> None:
    steps = find_path(boot).steps
    free = dict(steps.select("name", "slack_ns").iter_rows())
    assert free["logger.service"] == 300 * MS
    assert free["broken.service"] is None
    assert steps.filter(pl.col("critical"))["slack_ns"].unique().to_list() == [0]


def test_a_step_beside_the_path_delays_the_goal_only_beyond_its_slack(boot: Boot) -> None:
    assert what_if(boot, {"logger.service": 300 * MS}).change_ns == 0
    assert what_if(boot, {"logger.service": 310 * MS}).change_ns == 10 * MS


def test_a_shorter_step_gains_until_another_one_is_critical(boot: Boot) -> None:
    shorter = what_if(boot, {"network.service": -400 * MS})
    assert shorter.change_ns == -300 * MS
    assert "logger.service" in shorter.rows["name"].to_list()


def test_nothing_takes_less_than_no_time(boot: Boot) -> None:
    changed = what_if(boot, {"data.mount": -10_000 * MS})
    assert changed.changes == (("data.mount", -40 * MS),)
    assert changed.change_ns == -40 * MS


def test_a_goal_may_be_a_unit_or_a_mark_and_nothing_else(boot: Boot) -> None:
    assert find_path(boot, "network.service").goal_ns == 3400 * MS
    check_partition(find_path(boot, "kernel_start").rows, 0, 0)
    with pytest.raises(BundleError, match="no mark or unit `disk_init`"):
        find_path(boot, "disk_init")
    with pytest.raises(BundleError, match="no step `nothing`"):
        what_if(boot, {"nothing": 1})


def test_a_boot_of_phases_alone_has_a_path_of_phases(tmp_path: Path) -> None:
    rows = find_path(firstlight.open(make_bare(tmp_path))).rows
    assert rows["name"].to_list() == ["early_init", "initcalls", "run_init_start", UNKNOWN]


def test_units_that_wait_for_one_another_in_a_ring_end_the_walk(tmp_path: Path) -> None:
    spans = Spans()
    for name in ("a.service", "b.service"):
        spans.add("unit", name, (2000, 2000))
    links = [("after", "unit", "a.service", "unit", "b.service"), ("after", "unit", "b.service", "unit", "a.service")]
    rows = find_path(firstlight.open(write_bundle(tmp_path, "ring.boot", spans=spans, links=links))).rows
    check_partition(rows, 0, 4800 * MS)


instants = st.one_of(st.none(), st.integers(-100, 6000))
spans_ = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from("abcdef"), instants, instants,
        st.sampled_from(["", "task 1", "task 2", "udev worker 1", "systemd"]),
        st.one_of(st.none(), st.integers(0, 30)), st.sampled_from(["1", "2", "x"]),
    ),
    max_size=25,
)  # fmt: skip
links_ = st.lists(
    st.tuples(
        st.sampled_from([("after", "unit"), ("requires", "unit"), ("blocked_by", "uevent"), ("supplier", "probe")]),
        st.sampled_from([*"abcdef", "SEQNUM=1", "SEQNUM=2"]), st.sampled_from([*"abcdef", "SEQNUM=1", "SEQNUM=2"]),
    ),
    max_size=20,
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spans=spans_, links=links_, goal=st.sampled_from([None, "kernel_start", "userspace_start"]))
def test_whatever_is_recorded_the_parts_add_up_and_slack_is_never_negative(
    spans: list[tuple[str, str, int | None, int | None, str, int | None, str]],
    links: list[tuple[tuple[str, str], str, str]],
    goal: str | None,
) -> None:
    rows = Spans()
    for kind, name, start, end, track, parent, number in spans:
        rows.add(kind, name, (start, end), track=track, parent=parent, seqnum=number)
    told = [(edge, kind, one, kind, other) for (edge, kind), one, other in links]
    with tempfile.TemporaryDirectory() as directory:
        boot = firstlight.open(write_bundle(Path(directory), "any.boot", spans=rows, links=told))
        found = find_path(boot, goal)
        check_partition(found.rows, found.first_ns, found.goal_ns)
        assert (found.steps["slack_ns"].drop_nulls() >= 0).all()
        assert (found.steps.filter(pl.col("critical"))["slack_ns"] == 0).all()
        assert what_if(boot, {}, goal).goal_ns == found.goal_ns
        for name in sorted(set("abcdef") & set(found.steps["name"].to_list()))[:2]:
            assert what_if(boot, {name: -50 * MS}, goal).change_ns <= 0
            assert what_if(boot, {name: 50 * MS}, goal).change_ns >= 0


def test_what_was_logged_after_the_boot_was_done_is_no_goal(tmp_path: Path) -> None:
    marks = {"kernel_start": 0, "startup_finished": 3000, "record_end": 4800}
    boot = firstlight.open(write_bundle(tmp_path, "longer.boot", spans=Spans(), marks=marks))
    assert (find_path(boot).goal, find_path(boot).goal_ns) == ("startup_finished", 3000 * MS)
    assert find_path(boot, "record_end").goal_ns == 4800 * MS


def test_a_step_takes_what_the_initcall_is_known_to_take(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("phase", "initcalls", (0, 100))
    # The kernel's own figure is less than what its two lines lie apart: the first one was still being printed.
    long = spans.add("initcall", "long_init", (10, 90), track="task 1", level="device")
    spans.rows[long]["duration_ns"] = 70 * MS
    boot = firstlight.open(
        write_bundle(tmp_path, "a.boot", spans=spans, marks={"kernel_start": 0, "ready": 100}, length=100)
    )
    rows = find_path(boot).rows
    check_partition(rows, 0, 100 * MS)
    assert rows.filter(pl.col("name") == "long_init").select("start_ns", "duration_ns").row(0) == (20 * MS, 70 * MS)
    assert initcalls(boot)["duration_ns"].to_list() == [70 * MS]


def test_what_lists_the_goals_is_named_where_they_are_too_many(tmp_path: Path) -> None:
    spans = Spans()
    for number in range(60):
        spans.add("unit", f"unit-{number}.service", (number, number + 5))
    boot = firstlight.open(write_bundle(tmp_path, "a.boot", spans=spans))
    with pytest.raises(BundleError) as raised:
        find_path(boot, "zzz")
    assert "`firstlight units " in raised.value.report()
    with pytest.raises(BundleError) as raised:
        what_if(boot, {"zzz": -1})
    assert "`firstlight path --json " in raised.value.report()


def test_what_the_firmware_took_changes_nothing_of_what_userspace_waited_for(tmp_path: Path) -> None:
    def change(name: str, before: int) -> int:
        spans = Spans()
        if before:
            spans.add("phase", "firmware", (0, before), track="boot")
        call = spans.add("phase", "initcalls", (before, before + 1500), track="boot")
        late = spans.add("phase", "initramfs", (before + 1500, before + 4800), track="boot")
        if before:
            spans.add("stage", "firmware", (0, before), parent=0)
        spans.add("initcall", "gizmo_init", (before + 700, before + 703), parent=call, track="task 1")
        spans.add("probe", "gizmo", (before + 855, before + 900), parent=call)
        spans.add("stage", "initrd", (before + 1754, before + 4800), parent=late)
        marks = {"firmware_start": 0, "kernel_start": before, "startup_finished": before + 4800}
        path = write_bundle(tmp_path, name, spans=spans, marks=marks, length=before + 4800)
        return what_if(firstlight.open(path), {"gizmo": 2000 * MS}).change_ns

    assert change("without.boot", 0) == change("with.boot", 3000) > 0


def test_a_device_unit_waited_for_the_event_that_udevs_log_names_by_the_device(tmp_path: Path) -> None:
    for file, unit in (("name.boot", "dev-sda1.device"), ("path.boot", "sys-devices-pci-sda1.device")):
        spans = Spans()
        spans.add("uevent", "sda1", (4400, 4890), seqnum="101", also_called="/devices/pci/sda1")
        spans.add("unit", unit, (4900, 4900))
        rows = find_path(firstlight.open(write_bundle(tmp_path, file, spans=spans)), unit).rows
        assert rows.filter(pl.col("kind") == "uevent")["duration_ns"].to_list() == [490 * MS]


def test_where_the_kernel_ended_at_nobody_knows_when_the_time_before_a_unit_is_unknown(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("phase", "unknown", (0, 4800), track="boot")
    spans.add("unit", "a.service", (2000, 4800))
    rows = find_path(firstlight.open(write_bundle(tmp_path, "a.boot", spans=spans))).rows
    assert rows["name"].to_list() == [UNKNOWN, "a.service"]


def test_a_unit_is_nearer_to_the_goal_than_an_event_that_ended_later(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("unit", "app.service", (2000, 4000))
    spans.add("uevent", "/devices/usb/mouse", (4100, 4500), seqnum="7")
    rows = find_path(firstlight.open(write_bundle(tmp_path, "a.boot", spans=spans))).rows
    assert names(rows, "unit") == ["app.service"]
    assert names(rows, "uevent") == []


def test_an_event_leads_to_the_goal_where_units_are_points_alone(tmp_path: Path) -> None:
    spans = Spans()
    spans.add("unit", "app.service", (None, 4000))
    spans.add("uevent", "/devices/usb/mouse", (4100, 4500), seqnum="7")
    rows = find_path(firstlight.open(write_bundle(tmp_path, "a.boot", spans=spans))).rows
    assert names(rows, "uevent") == ["/devices/usb/mouse"]
