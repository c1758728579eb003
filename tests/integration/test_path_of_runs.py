"""A path that says what ran: what no step explains is charged to threads, and only idle time is waiting."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import firstlight
from bundles import SCHEMA, thread_tables, write_table
from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.path.critical import CriticalPath, find_path
from firstlight.analysis.path.what_if import what_if
from firstlight.bundle.boot import Boot
from firstlight.comparison.exact.path import path_difference
from firstlight.comparison.exact.totals import whole
from imported_bundle import MS, Spans, write_bundle

Turn = tuple[int, str, float, float, float]

#: Thread, its name then, start and end, and how much of the end it idled: milliseconds.
TURNS: list[Turn] = [
    (0, "swapper/0", 100, 400, 0),
    (1, "swapper/0", 400, 1600, 0),
    (1, "systemd", 1600, 1900, 0),
    (2, "udevd", 1900, 2000, 0),
    (0, "swapper/0", 2000, 2050, 30),
    (1, "systemd", 2050, 2400, 0),
    (3, "kworker/0:1", 2400, 2500, 0),
    (0, "swapper/0", 2500, 2520, 20),
    (2, "app", 2520, 4800, 0),
]


def with_runs(path: Path, turns: list[Turn]) -> Path:
    """Give a bundle the tables of who had the processor, and the counter of idle time."""
    whole_turns = [
        (thread, name, round(start * MS), round(end * MS), round((end - start - idle) * MS), round(idle * MS))
        for thread, name, start, end, idle in turns
    ]
    for table, rows in thread_tables(whole_turns).items():
        write_table(path, table, pl.DataFrame(rows, schema=SCHEMA[table], orient="row"))
    idled, counters = 0, []
    for _, _, _, end, _, idle in whole_turns:
        if idle:
            idled += idle
            counters.append(("idle_ns", end, idled))
    write_table(path, "counters", pl.DataFrame(counters, schema=SCHEMA["counters"], orient="row"))
    return path


def bundle(directory: Path, turns: list[Turn] | None, name: str = "a.boot") -> Boot:
    """A boot with two units: one from 1,950 to 2,100 ms, one from 2,450 to 4,700 ms."""
    spans = Spans()
    for phase, start, end in (("early_init", 0, 400), ("initcalls", 400, 1600), ("userspace", 1600, 4800)):
        spans.add("phase", phase, (start, end), track="boot")
    spans.add("unit", "udevd.service", (1950, 2100), track="systemd")
    spans.add("unit", "app.service", (2450, 4700), track="systemd")
    links = [("after", "unit", "app.service", "unit", "udevd.service")]
    path = write_bundle(directory, name, spans=spans, links=links)
    return firstlight.open(path if turns is None else with_runs(path, turns))


def parts(path: CriticalPath) -> list[tuple[str, str, float, float]]:
    rows = path.rows.select("kind", "name", "start_ns", "end_ns").iter_rows()
    return [(kind, name, start / MS, end / MS) for kind, name, start, end in rows]


def test_what_no_step_explains_is_what_ran_and_waiting_is_what_idled(tmp_path: Path) -> None:
    assert parts(find_path(bundle(tmp_path, TURNS))) == [
        ("phase", "early_init", 0, 400),
        ("phase", "initcalls", 400, 1600),
        ("running", "systemd", 1600, 1900),
        ("running", "udevd", 1900, 1950),
        ("unit", "udevd.service", 1950, 2020),
        ("waiting", UNKNOWN, 2020, 2050),
        ("unit", "udevd.service", 2050, 2100),
        ("running", "systemd", 2100, 2400),
        ("running", "kworker/0:1", 2400, 2450),
        ("unit", "app.service", 2450, 2500),
        ("waiting", UNKNOWN, 2500, 2520),
        ("unit", "app.service", 2520, 4700),
        ("running", "app", 4700, 4800),
    ]


def test_each_part_says_who_had_the_processor_and_what_it_cuts(tmp_path: Path) -> None:
    rows = find_path(bundle(tmp_path, TURNS)).rows
    said = rows.select("ran").to_series().to_list()
    assert said[0] == "swapper/0 (pid 0) 75 %, [before the kernel] 25 %"
    assert said[2] == "systemd"
    assert said[4] == "udevd 71 %, swapper/0 (pid 0) 29 %"
    assert said[5] is None
    assert rows["during"][5] == "unit udevd.service"
    assert rows["edge"].to_list()[4:8] == ["serial", None, "serial", None]


def test_what_ran_adds_up_with_what_idled_to_the_path(tmp_path: Path) -> None:
    path = find_path(bundle(tmp_path, TURNS))
    ran = {(name, kind): (ns / MS, left / MS) for name, kind, _, ns, left in path.ran.iter_rows()}
    assert ran == {
        ("app", "user"): (2280, 100),
        ("swapper/0 (pid 0)", "kernel"): (320, 0),
        ("swapper/0 (pid 1)", "user"): (1200, 0),
        ("systemd", "user"): (650, 600),
        ("udevd", "user"): (100, 50),
        ("kworker/0:1", "kernel"): (100, 50),
        ("[before the kernel]", "firmware"): (100, 0),
    }
    assert path.ran["run_ns"].sum() + 50 * MS == path.goal_ns - path.first_ns


def test_a_thread_is_the_kernels_until_it_was_on_the_way_to_user_mode(tmp_path: Path) -> None:
    boot = bundle(tmp_path, TURNS)
    threads = boot.threads().with_columns(
        user_start_ns=pl.when(pl.col("thread") == 1).then(pl.lit(1600 * MS)).otherwise("user_start_ns")
    )
    write_table(boot.directory, "threads", threads)
    ran = find_path(firstlight.open(boot.directory)).ran
    swapper = ran.filter(pl.col("name").str.starts_with("swapper")).sort("name")
    assert swapper.select("name", "kind", "threads").rows() == [
        ("swapper/0 (pid 0)", "kernel", 1),
        ("swapper/0 (pid 1)", "kernel", 1),
    ]


def test_threads_that_all_begin_as_the_idle_task_are_told_apart(tmp_path: Path) -> None:
    turns: list[Turn] = [
        (0, "swapper/0", 0, 396, 0),
        (1, "swapper/0", 396, 397, 0),
        (1, "kthreadd", 397, 398, 0),
        (2, "swapper/0", 398, 1600, 0),
        (2, "init", 1600, 4800, 0),
    ]
    rows = find_path(bundle(tmp_path, turns)).rows
    assert rows["ran"][0] == "swapper/0 (pid 0) 99 %, swapper/0 (pid 1) <1 %, swapper/0 (pid 2) <1 % and 1 more"
    # Without the name of kthreadd nobody knows which of the two is the first process.
    turns[2] = (1, "other", 397, 398, 0)
    rows = find_path(bundle(tmp_path, turns, "b.boot")).rows
    assert rows["ran"][0].startswith("swapper/0 (pid 0) 99 %, swapper/0 (thread 2) <1 %, swapper/0 (thread 1) <1 %")


def test_what_a_change_would_do_does_not_depend_on_who_ran(tmp_path: Path) -> None:
    change = {"udevd.service": -100 * MS}
    one, other = bundle(tmp_path, TURNS), bundle(tmp_path, None, "b.boot")
    assert what_if(one, change).change_ns == what_if(other, change).change_ns == -100 * MS


def test_a_boot_without_runs_is_compared_by_what_both_tell(tmp_path: Path) -> None:
    one, other = bundle(tmp_path, TURNS), bundle(tmp_path, None, "b.boot")
    compared = path_difference(one, other, whole(one, other)).path
    assert compared is not None
    assert compared.changed == []


def test_a_boot_of_which_nobody_followed_the_switches_waits_for_an_unknown_cause(tmp_path: Path) -> None:
    path = find_path(bundle(tmp_path, None))
    assert ("waiting", UNKNOWN, 1600, 1950) in parts(path)
    assert path.ran.is_empty()
    assert path.rows["ran"].is_null().all()


@st.composite
def any_turns(draw: st.DrawFn) -> list[Turn]:
    """Turns of a few threads from some instant to the boot's end, any of them idle at its end."""
    borders = draw(st.lists(st.integers(1, 4799), min_size=1, max_size=30, unique=True))
    turns: list[Turn] = []
    for start, end in zip(sorted(borders), [*sorted(borders)[1:], 4800], strict=True):
        thread = draw(st.integers(0, 3))
        name = draw(st.sampled_from(["kworker", "app", "systemd"]))
        turns.append((thread, name, start, end, draw(st.integers(0, end - start)) if thread == 0 else 0))
    return turns


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(any_turns())
def test_waiting_is_the_idle_time_whatever_ran(turns: list[Turn]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        boot = bundle(Path(directory), turns)
        path = find_path(boot)
        rows = path.rows
        assert rows["duration_ns"].sum() == path.goal_ns - path.first_ns
        assert rows["start_ns"].to_list()[1:] == rows["end_ns"].to_list()[:-1]
        idle = round(sum(idle for *_, idle in turns) * MS)
        assert rows.filter(pl.col("name") == UNKNOWN)["duration_ns"].sum() == idle
        assert path.ran["run_ns"].sum() + idle == path.goal_ns - path.first_ns
