"""The critical path through threads: who woke, preempted or created whom, with what each wait was for."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings

from firstlight.analysis.kernel_phases import UNKNOWN
from firstlight.analysis.path.critical import CriticalPath, find_path
from firstlight.analysis.path.fold import folded
from firstlight.analysis.path.wait_reasons import WaitReason, wait_of
from imported_bundle import MS
from invented_threads import GOES_ON, IDLE, INIT, SHELL, SLEEPS, START, TOOL, WORKER, Turn, Wake, any_boot, bundle


def parts(path: CriticalPath) -> list[tuple[str, str, float, float, str | None]]:
    rows = path.rows.select("kind", "name", "start_ns", "end_ns", "reason").iter_rows()
    return [(kind, name, start / MS, end / MS, reason) for kind, name, start, end, reason in rows]


BEGIN = [
    ("phase", "early_init", 0, 100, None),
    ("phase", "early_init", 100, 300, None),
    ("phase", "early_init", 300, 400, None),
    ("phase", "initcalls", 400, 500, None),
    ("initcall", "disk_init", 500, 600, None),
    ("phase", "initcalls", 600, 1600, None),
]


def test_a_thread_that_another_woke_leads_to_the_waker(tmp_path: Path) -> None:
    turns = [
        *START,
        (INIT, 1700, 2000, SLEEPS, "child"),
        (SHELL, 2000, 4000, SLEEPS, "epoll"),
        (INIT, 4000, 4800, GOES_ON, None),
    ]
    path = find_path(bundle(tmp_path, turns, [(3900, SHELL, INIT, 0)]))
    assert parts(path) == [
        *BEGIN,
        ("running", "init", 1600, 1700, None),
        ("behind", "behind init", 1700, 2000, None),
        ("running", "sh", 2000, 3900, None),
        ("behind", "behind sh", 3900, 4000, None),
        ("running", "init", 4000, 4800, "a child"),
    ]
    assert path.rows["edge"].to_list()[-3:] == ["created", None, "woken"]


def test_a_thread_that_an_interrupt_woke_waited_itself(tmp_path: Path) -> None:
    turns = [
        *START,
        (INIT, 1700, 2000, SLEEPS, "nap"),
        (SHELL, 2000, 2500, SLEEPS, "epoll"),
        (IDLE, 2500, 3000, GOES_ON, None),
        (INIT, 3000, 4800, GOES_ON, None),
    ]
    path = find_path(bundle(tmp_path, turns, [(2900, IDLE, INIT, 1)], [(2600, 2890)]))
    nap = "a timer in hrtimer_nanosleep"
    assert parts(path)[-6:] == [
        ("running", "init", 1700, 2000, None),
        ("waiting", nap, 2000, 2600, nap),
        ("idle", f"idle until init was woken from {nap}", 2600, 2890, nap),
        ("waiting", nap, 2890, 2900, nap),
        ("behind", "behind [t0]", 2900, 3000, None),
        ("running", "init", 3000, 4800, nap),
    ]
    assert path.rows["ran"].to_list()[-5] == "sh 83 %, [t0] 17 %"
    charged = {name: row for name, _, *row in path.charged.iter_rows()}
    assert charged["init"] == [2200 * MS, 0, 610 * MS, 290 * MS, 3100 * MS]


def test_a_thread_that_was_preempted_is_behind_those_that_ran(tmp_path: Path) -> None:
    turns = [
        *START,
        (INIT, 1700, 2000, GOES_ON, None),
        (SHELL, 2000, 2900, GOES_ON, None),
        (TOOL, 2900, 3200, GOES_ON, None),
        (INIT, 3200, 4800, GOES_ON, None),
    ]
    path = find_path(bundle(tmp_path, turns, [(4700, INIT, SHELL, 0)]))
    assert parts(path)[-2:] == [
        ("behind", "behind sh and 1 more", 2000, 3200, None),
        ("running", "init", 3200, 4800, None),
    ]
    charged = {name: (service, ahead) for name, service, _, ahead, *_ in path.charged.iter_rows()}
    assert charged["sh"] == (None, 900 * MS)
    assert charged["tool"] == ("a.service", 300 * MS)


def test_what_an_interrupt_does_for_a_waiting_thread_is_the_wait_of_that_thread(tmp_path: Path) -> None:
    """A worker of the kernel that had nothing to do does not lead further back."""
    turns: list[Turn] = [
        (IDLE, 100, 300, GOES_ON, None),
        (INIT, 300, 400, GOES_ON, None),
        (WORKER, 400, 450, SLEEPS, "worker"),
        (INIT, 450, 2000, SLEEPS, "rcu"),
        (SHELL, 2000, 3000, GOES_ON, None),
        (WORKER, 3000, 3100, SLEEPS, "worker"),
        (INIT, 3100, 4800, GOES_ON, None),
    ]
    wakes = [(2950.0, SHELL, WORKER, 1), (3050.0, WORKER, INIT, 0)]
    grace = "an RCU grace period"
    assert parts(find_path(bundle(tmp_path, turns, wakes)))[-6:] == [
        ("running", "init", 1600, 2000, None),
        ("waiting", grace, 2000, 2950, grace),
        ("behind", "behind sh", 2950, 3000, None),
        ("running", "[t4]", 3000, 3050, "work"),
        ("behind", "behind [t4]", 3050, 3100, None),
        ("running", "init", 3100, 4800, grace),
    ]


def test_the_view_has_a_row_for_each_stay_in_a_program(tmp_path: Path) -> None:
    turns: list[Turn] = [*START]
    for at in range(1700, 4700, 10):
        turns.append((INIT if at % 20 else SHELL, at, at + 10, GOES_ON, None))
    turns.append((INIT, 4700, 4800, GOES_ON, None))
    path = find_path(bundle(tmp_path, turns, [(4750, INIT, SHELL, 0)]))
    rows = folded(path)
    assert path.rows.height > 300
    last = rows.row(-1, named=True)
    assert (last["kind"], last["name"], last["end_ns"]) == ("process", "init", 4800 * MS)
    assert last["parts"] == path.rows.filter(pl.col("process") == "init", pl.col("start_ns") >= last["start_ns"]).height
    assert rows["duration_ns"].sum() == 4800 * MS


def test_a_wait_has_the_reason_of_the_innermost_function_that_states_one() -> None:
    switch = ["__switch_to_asm", "__schedule", "schedule"]
    for names, reason, text in (
        ("schedule_timeout __wait_for_common wait_for_completion really_probe", WaitReason.PROBE, "a device probe"),
        ("io_schedule folio_wait_bit_common filemap_fault do_epoll_wait", WaitReason.PAGE, "a page or block"),
        ("futex_wait_queue futex_wait do_futex", WaitReason.FUTEX, "futex"),
        ("schedule_timeout __wait_for_common wait_for_completion some_driver", WaitReason.COMPLETION,
         "a completion in some_driver"),
        ("schedule_preempt_disabled __mutex_lock.constprop.0 mutex_lock some_driver", WaitReason.LOCK,
         "a lock in some_driver"),
        ("do_wait kernel_wait process_one_work worker_thread kthread", WaitReason.CHILD, "a child"),
        ("worker_thread kthread", WaitReason.IDLE_WORKER, "work"),
        ("odd_function kthread", WaitReason.FUNCTION, "odd_function"),
    ):  # fmt: skip
        wait = wait_of([*switch, *names.split()])
        assert (wait.reason, str(wait)) == (reason, text)
    assert str(wait_of(switch)) == "schedule"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(any_boot())
def test_the_parts_partition_the_time_to_the_goal_whatever_was_recorded(
    record: tuple[list[Turn], list[Wake], list[tuple[float, float]]],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        boot = bundle(Path(directory), *record)
        path = find_path(boot)
        rows = path.rows
        assert rows["start_ns"][0] == path.first_ns
        assert rows["end_ns"][-1] == path.goal_ns
        assert rows["start_ns"].to_list()[1:] == rows["end_ns"].to_list()[:-1]
        assert (rows["duration_ns"] > 0).all()
        assert path.charged["total_ns"].sum() == rows["duration_ns"].sum() == path.goal_ns - path.first_ns
        assert UNKNOWN not in rows["name"].to_list()
        idled = round(sum(end - start for start, end in record[2]) * MS)
        assert rows.filter(pl.col("kind") == "idle")["duration_ns"].sum() == idled
        assert folded(path)["duration_ns"].sum() == rows["duration_ns"].sum()
