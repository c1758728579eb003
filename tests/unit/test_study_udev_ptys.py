"""The study of legacy pseudo-terminals: its measures and its verdicts, on figures invented or old."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from bundles import make_bundle
from firstlight.bundle.open import open as open_boot
from firstlight.errors import LabError
from firstlight.lab.rootfs.ext4 import EPOCH
from firstlight.lab.rootfs.libraries import needed_libraries
from firstlight.study.claims import UNTIMED, claims_of
from firstlight.study.historical import historical_tables
from firstlight.study.outcome import Finding
from firstlight.study.runner import Lab
from firstlight.study.table import MissingValue
from firstlight.study.verdicts import evaluate
from firstlight_studies.udev_ptys import early_udev, stages
from firstlight_studies.udev_ptys.competitors import waiting_table
from firstlight_studies.udev_ptys.counts import IN_KERNEL, Counted, difference
from firstlight_studies.udev_ptys.events import clock_ahead, with_kernel_stamps
from firstlight_studies.udev_ptys.figures import PtyEvidence, figures_of
from firstlight_studies.udev_ptys.latency import Latency, latency_chart, latency_of, latency_table
from firstlight_studies.udev_ptys.model import CostLaw, law_of
from firstlight_studies.udev_ptys.per_device import payers_table, per_device_table
from firstlight_studies.udev_ptys.queue import Queue, queue_of, queue_table
from firstlight_studies.udev_ptys.residual_files import Left, NotLeftError, read_units
from firstlight_studies.udev_ptys.share import programs_of, share_table
from firstlight_studies.udev_ptys.system_files import write_system_files
from firstlight_studies.udev_ptys.udev_end import Done, done_table
from firstlight_studies.udev_ptys.watched import latencies

MS = 1_000_000


def old_arms() -> list[dict[str, int | MissingValue]]:
    """The three arms of the old table, in nanoseconds."""
    table = historical_tables("firstlight_studies.udev_ptys")[0]
    rows = {str(row[0]): row for row in table.rows if not str(row[0]).startswith("(")}
    arms: list[dict[str, int | MissingValue]] = []
    for column in (1, 2, 4):
        arm: dict[str, int | MissingValue] = {name: round(float(str(row[column])) * 1e9) for name, row in rows.items()}
        arm[stages.WHOLE] = sum(int(str(arm[name])) for name in (stages.KERNEL, stages.INITRAMFS, stages.SYSTEM))
        early = (stages.START_EARLY, stages.TRIGGER_EARLY, stages.PROCESSING_EARLY)
        arm[stages.COLDPLUG_EARLY] = sum(int(str(arm[name])) for name in early)
        arm[stages.COLDPLUG] = int(str(arm[stages.TRIGGER])) + int(str(arm[stages.PROCESSING]))
        arm[stages.NOT_YET] = 0
        # Then udev's share was what it took to process, of the stage.
        arm[stages.UDEV_EARLY], arm[stages.PROGRAMS_EARLY] = arm[stages.PROCESSING_EARLY], arm[stages.INITRAMFS]
        arm[stages.UDEV], arm[stages.PROGRAMS] = arm[stages.PROCESSING], arm[stages.SYSTEM]
        arms.append(arm)
    return arms


def test_the_old_figures_give_the_old_percentages() -> None:
    old = historical_tables("firstlight_studies.udev_ptys")[0]
    made = stages.stage_table("stages", "", old_arms(), stages.ROWS, ())
    assert [row[0] for row in made.rows] == [row[0] for row in old.rows]
    for row, before in zip(made.rows, old.rows, strict=True):
        if str(before[0]).startswith("("):
            assert (row[1], row[2], row[4]) == (before[1], before[2], before[4])
        else:
            for column in (3, 5, 6):
                assert str(row[column]).partition("(")[2] == str(before[column]).partition("(")[2], (row, before)


def test_an_arm_that_is_missing_is_a_hole_and_the_others_stay() -> None:
    _, b, c = old_arms()
    table = stages.stage_table("stages", "", [MissingValue("did not boot"), b, c], stages.ROWS, ())
    row = next(row for row in table.rows if row[0] == stages.TRIGGER)
    assert row[1] == MissingValue("did not boot")
    assert row[2:] == (590 * MS, None, 90 * MS, "-0.500 s (15%)", None)


def test_what_a_guest_did_not_get_to_is_named() -> None:
    left = Left({"trigger": 5, "triggered": 9}, read_units("Id=a.service\nActiveEnterTimestampMonotonic=0\n"), {})
    assert left.between("trigger", "triggered") == 4
    with pytest.raises(NotLeftError, match="instant `settled`"):
        left.between("triggered", "settled")
    with pytest.raises(NotLeftError, match="never at"):
        left.unit("a.service", "ActiveEnterTimestampMonotonic")


def events(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(
        rows,
        schema={
            "seqnum": pl.Int64, "device": pl.String, "arrival_ns": pl.Int64, "end_ns": pl.Int64, "latency_ns": pl.Int64,
            "blocked_ns": pl.Int64, "service_start_ns": pl.Int64, "service_ns": pl.Int64, "worker": pl.String,
        },
    )  # fmt: skip


def test_latencies_are_reported_for_all_and_for_the_others() -> None:
    seen = [("/devices/virtual/tty/ttyp0", 30), ("/devices/virtual/tty/ptyp0", 10), ("/devices/pnp0/rtc0", 20)]
    rows = [{"device": device, "latency_ns": took * MS} for device, took in seen]
    found = latency_of(events(*rows, {"device": "lost", "latency_ns": None}))
    assert isinstance(found, Latency)
    assert (found.events, found.unfinished, found.mean, found.median) == (3, 1, 20 * MS, 20 * MS)
    assert (found.others, found.others_mean, found.others_worst) == (1, 20 * MS, 20 * MS)
    assert found.mode - found.bin // 2 <= 10 * MS < found.mode + found.bin // 2
    table = latency_table("system", [MissingValue("not run"), found, found])
    assert table.rows[0] == ("mean", MissingValue("not run"), "20.000 ms", "20.000 ms")


def test_the_histogram_counts_every_event_with_one_width() -> None:
    few = latency_of(events(*({"device": "a", "latency_ns": at * MS} for at in (1, 2, 3))))
    many = latency_of(events(*({"device": "a", "latency_ns": at * MS} for at in (100, 200, 300, 400))))
    chart = latency_chart("system", {"B": many, "C": few})
    assert chart is not None
    assert [sum(count for _, count in series.points) for series in chart.series] == [4, 3]
    assert len({series.points[1][0] if len(series.points) > 1 else None for series in chart.series} - {None}) == 1


def logged_and_monitored() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Three events, of which the log has two from beginning to end."""
    logged = events(
        {"seqnum": 1, "arrival_ns": 4, "service_start_ns": 6, "worker": "7"},
        {"seqnum": 2, "arrival_ns": 5, "service_start_ns": 20, "blocked_ns": 12, "worker": "7"},
        {"seqnum": 3, "arrival_ns": 6},
    )
    monitored = events(
        *({"seqnum": number, "arrival_ns": 0, "end_ns": end} for number, end in ((1, 10), (2, 30), (3, 9)))
    )
    return logged, monitored


def test_socket_waiting_blocked_and_service_add_up_to_the_monitors_latency() -> None:
    logged, monitored = logged_and_monitored()
    found = queue_of(logged, monitored)
    assert isinstance(found, Queue)
    assert (found.events, found.left_out) == (2, 1)
    assert (found.socket, found.blocked, found.service, found.latency) == (4, 6, 7, 20)
    assert found.socket + found.waiting + found.blocked + found.service == found.latency
    assert (found.workers, found.most_in_socket, found.most_waiting, found.held_back, found.busy) == (1, 2, 2, 1, 30)
    table = queue_table({("B", "system"): found, ("C", "system"): MissingValue("no log")}, {("system", "B"): LATENCY})
    titles = [field.title for field in table.fields]
    assert table.rows[0][titles.index("Latency without the log")] == LATENCY.mean
    assert table.rows[1][2] == MissingValue("no log")


def test_an_event_that_is_read_before_it_is_sent_is_left_out_and_counted() -> None:
    logged, monitored = logged_and_monitored()
    late = monitored.with_columns(pl.when(pl.col("seqnum") == 1).then(5).otherwise(0).alias("arrival_ns"))
    found = queue_of(logged, late)
    assert isinstance(found, Queue)
    assert (found.events, found.left_out) == (1, 2)
    assert queue_of(logged.head(0), monitored) == MissingValue(
        "no event was seen from beginning to end by both log and monitor"
    )


def test_a_log_and_a_monitor_come_into_one_clock() -> None:
    line = "1777319336.250000 (61) ttyp0: Device processed (SEQNUM=9, ACTION=add)"
    ahead = clock_ahead("  .get_time:   ktime_get_real\n  .offset:     1777319331000400000 nsecs\n")
    assert ahead == 1777319331000400000
    begins, stamped = with_kernel_stamps(line, ahead).splitlines()
    assert begins.startswith("[    0.000000] "), "an import counts from the first line"
    assert stamped.startswith("[    5.249600] systemd-udevd[61]: ttyp0")
    assert clock_ahead("Timer List Version: v0.9") is None


def counted(count: int) -> Counted:
    """A boot in which each pseudo-terminal costs 2 uevents in the kernel and 30 system calls, 6 of them stat."""
    system = {"entry_SYSCALL_64": 1000 + 30 * count, "__x64_sys_newfstatat": 100 + 6 * count, "__x64_sys_clone": 7}
    return Counted(
        {"kernel": {"kobject_uevent_env.isra.0": 10 + 2 * count}, "initramfs": {}, "system": system},
        {"kernel": {IN_KERNEL: 500}, "initramfs": {}, "system": {"systemd": 100 + 9 * count, IN_KERNEL: count}},
    )


def test_calls_of_one_pseudo_terminal_are_differences_of_boots() -> None:
    table = per_device_table({count: counted(count) for count in (0, 16, 256)})
    rows = {row[0]: row for row in table.rows}
    assert rows["system calls"][2:] == (0.0, 0.0, 30.0, 30.0, 30.0, 30.0)
    assert rows["stat"][1:] == ("2", 0.0, 0.0, 6.0, 6.0, 6.0, 6.0)
    assert rows["uevents asked for"][2] == 2.0
    assert rows["mknod"][5] == 0.0, "what was named then is told even where it is nothing now"
    assert "rename" not in rows


def test_who_pays_adds_up() -> None:
    table = payers_table(counted(0), counted(10), 10)
    named = {row[0]: row for row in table.rows}
    assert named["systemd"][3:] == (90, 0.9, 9)
    assert sum(int(str(row[3])) for row in table.rows[:-1]) == named["all"][3] == 100
    assert difference({"a": 1}, {"a": 1, "b": 2}) == {"b": 2}


def test_shares_say_in_which_mode_and_the_kernel_is_nobodys() -> None:
    found = Counted({}, {"initramfs": {"udevadm": 6, "sh": 2, IN_KERNEL: 8}})
    row = next(row for row in share_table({"B": found}).rows if row[1] == "initramfs")
    assert row[2:] == (16, 6 / 16, 0.0, 2 / 16, 8 / 16, 6 / 8)
    assert programs_of(found)[stages.UDEV_EARLY] == 6
    assert programs_of(found)[stages.PROGRAMS_EARLY] == 8


def test_a_law_that_misses_by_far_is_none() -> None:
    found = law_of({0: 746.5, 16: 737.9, 64: 701.0, 128: 713.1, 256: 28.4})
    assert isinstance(found, MissingValue)
    assert found.reason.startswith("no scaling model fits")


def test_where_nobody_waits_less_is_saved_and_saved_is_positive() -> None:
    def arm(whole: int) -> Any:
        return SimpleNamespace(time=lambda _: whole, left=Left({}, {}, {"settled": 1}))

    table = waiting_table({"nobody": (arm(5 * MS), arm(3 * MS))})
    assert table.rows[0][1:5] == (5 * MS, 3 * MS, 2 * MS, 0.4)


def test_udev_is_done_before_its_waiter_starts() -> None:
    done = Done(events=2, first=1, up=0, asked=20, done=30, waiter=90, notified=95, busy=25, system=100)
    titles = [field.title for field in done_table({}).fields]
    row = done_table({"B": done, "C": MissingValue("no monitor")}).rows
    assert row[0][titles.index("Nothing to do before the waiter starts")] == 60
    assert row[0][titles.index("Of the system")] == 0.25
    assert row[1][1] == MissingValue("no monitor")
    busy = done_table({"B": replace(done, waiter=25)}).rows[0]
    assert busy[titles.index("Nothing to do before the waiter starts")] == 0


def test_a_law_needs_five_sizes() -> None:
    assert law_of({0: 1.0, 16: 2.0}) == MissingValue("2 sizes were measured, a law needs 5")
    found = law_of({count: 100.0 + 3 * count for count in (0, 16, 64, 128, 256)})
    assert isinstance(found, CostLaw)
    assert (found.law, found.slope) == ("n", 3.0)


LATENCY = Latency(
    events=3, unfinished=0, mean=9, median=9, mode=9, bin=2, stddev=1, others=1, others_mean=9, others_median=9,
    others_worst=9, too_early=0, up_after_first=0, figures=(9, 9, 9),
)  # fmt: skip


def evidence() -> PtyEvidence:
    a, b, c = old_arms()
    sooner = replace(LATENCY, mean=5, median=5, others_mean=5)
    return PtyEvidence(
        a=a, b=b, c=c, sizes={count: counted(count) for count in (0, 256)}, terminals={0: 71, 256: 583},
        latency={(stage, "B"): LATENCY for stage in ("initramfs", "system")}
        | {(stage, "C"): sooner for stage in ("initramfs", "system")},
        done=Done(events=2, first=0, up=1, asked=2, done=3, waiter=9, notified=9, busy=30, system=100),
        law=law_of({count: 1e9 + 3e6 * count for count in (0, 16, 64, 128, 256)}),
        free=(30_000 * MS, 29_990 * MS), band=0.001,
    )  # fmt: skip


def findings(found: PtyEvidence, untimed: frozenset[str] = frozenset()) -> dict[str, Finding]:
    """By claim; every part of the machine is timed unless *untimed* names it."""
    claims = claims_of("firstlight_studies.udev_ptys")
    return {each.id: each for each in evaluate(claims, figures_of(found), untimed)}  # type: ignore[arg-type]


def verdicts(found: PtyEvidence) -> dict[str, str]:
    return {name: each.verdict.value for name, each in findings(found).items()}


def test_the_old_figures_hold_against_themselves() -> None:
    # Of the calls our invented boots have none of what was named then; their latencies are others.
    found = verdicts(evidence())
    assert [name for name, verdict in found.items() if not verdict.startswith("holds")] == ["calls"]
    assert [name for name, verdict in found.items() if verdict == "holds in direction"] == []


def test_figures_that_changed_no_longer_hold() -> None:
    a, b, _ = old_arms()
    level = evidence()
    same = verdicts(replace(level, c=dict(b), latency=dict.fromkeys(level.latency, LATENCY)))
    for name in ("shorter", "trigger", "late-processing", "sooner-initramfs", "sooner-system", "throttled-initramfs"):
        assert same[name] == "no longer holds", name
    assert same["boot-waits"] == "not testable here", "nothing is saved that could be compared"
    assert verdicts(replace(level, free=(31_000 * MS, 29_000 * MS)))["boot-waits"] == "no longer holds"
    slower = replace(level, a={name: 2 * int(str(time)) for name, time in a.items()})
    assert verdicts(slower)["same-number"] == "no longer holds"
    square = law_of({count: 1e9 + 1e4 * count**2 for count in (0, 16, 64, 128, 256)})
    assert verdicts(replace(level, law=square))["linear"] == "no longer holds"


def test_a_saving_inside_the_noise_band_is_none() -> None:
    inside = findings(replace(evidence(), band=0.5))["shorter"]
    assert "inside the noise band" in inside.now


def test_what_one_processor_decides_is_no_fact_about_linux() -> None:
    found = findings(evidence(), frozenset(UNTIMED))
    assert {name for name, each in found.items() if each.verdict == "decided by the machine here"} == {
        "sooner-system", "throttled-system", "boot-waits",
    }  # fmt: skip


def test_the_share_of_the_system_does_not_hang_on_when_the_waiter_starts() -> None:
    level = evidence()
    assert not isinstance(level.b, MissingValue)
    late = dict(level.b) | {stages.PROCESSING: 1, stages.NOT_YET: 10_000 * MS}
    assert verdicts(replace(level, b=late))["late-share"] == verdicts(level)["late-share"] == "holds"
    few = dict(level.b) | {stages.UDEV: int(str(level.b[stages.PROGRAMS])) // 5}
    assert verdicts(replace(level, b=few))["late-share"] == "no longer holds"


def test_what_an_observer_did_not_see_is_missing_by_name(tmp_path: Path) -> None:
    blind = open_boot(make_bundle(tmp_path / "monitor-0.boot"))
    lab = Lab(tmp_path, progress=None)  # type: ignore[arg-type]
    found = latencies(lab, {"monitor-0": blind})
    assert isinstance(found["initramfs", "C"], MissingValue)
    assert [each.what for each in lab.missing] == ["monitor-0: latency, initramfs", "monitor-0: latency, system"]
    assert lab.missing[0].reason == "the guest left no `monitor-initramfs`"


def test_what_was_not_booted_is_not_testable_and_says_why() -> None:
    found = findings(PtyEvidence()).values()
    assert {each.verdict for each in found} == {"not testable here"}
    assert all(each.now for each in found)


def test_a_program_says_which_libraries_it_needs() -> None:
    shell = Path("/bin/sh")
    assert "libc.so.6" in needed_libraries(shell.read_bytes(), str(shell))
    with pytest.raises(LabError, match="cannot be read"):
        needed_libraries(shell.read_bytes()[:80], str(shell))


def test_a_userspace_without_udev_is_reported(tmp_path: Path) -> None:
    tar = tmp_path / "land.tar"
    with tarfile.open(tar, "w") as archive:
        member = tarfile.TarInfo("./etc/hostname")
        member.size = 2
        archive.addfile(member, io.BytesIO(b"x\n"))
    with pytest.raises(LabError, match="the root file system has no `/usr/lib/systemd/systemd-udevd`"):
        early_udev.write_early_udev(tar, tmp_path / "early")


def test_every_arm_has_the_same_files(tmp_path: Path) -> None:
    folder = write_system_files(tmp_path / "system")
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    assert names == [
        "etc/firstlight/after-ready",
        "etc/systemd/system/firstlight-udev-monitor.service",
        "etc/systemd/system/sysinit.target.wants/systemd-udev-settle.service",
        "etc/systemd/system/systemd-udevd.service.d/log-target.conf",
    ]
    first = (folder / "etc/firstlight/after-ready").read_text().splitlines()[0]
    assert first == "[ -e /run/udev/queue ] && settled=0 || settled=1", "asked before anything else takes time"
    # Dates come into the guest: of another day it would be another boot.
    assert {path.lstat().st_mtime for path in folder.rglob("*")} == {EPOCH}
