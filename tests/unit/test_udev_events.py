"""udev's queue from system calls: what triggered an event, when the daemon read it, which worker handled it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from bundles import write_table
from firstlight.analysis.processes.udev_events import queue_of, udev_events
from firstlight.analysis.udev_queue import queue_over_time
from firstlight.analysis.window import window
from firstlight.api import Boot
from firstlight.render.page.timeline.columns import encoded
from firstlight.render.page.timeline.lanes import Look, Track
from firstlight.render.page.timeline.udev import MOST_STEPS, udev_tracks
from firstlight.render.svg.timeline import timeline_svg
from imported_bundle import make_imported
from invented_processes import make_processes
from unit.test_device_costs import DISK, TTY, make_udev

#: The daemon's socket, and the file that a process has open when it triggers an event.
SOCKET, FILE = 3, 7


def make_queue(directory: Path, reads: int = 2) -> Path:
    """The boot of `make_udev`, in which process 1 triggers the disk's event, and the daemon reads *reads* events."""
    bundle = make_udev(directory)
    calls = pl.read_parquet(bundle / "system_calls.parquet")
    service = pl.read_parquet(bundle / "images.parquet")["start_ns"][1]
    rows: list[tuple[int, str, int, int, int, str | None, int]] = [
        (1, "openat", -90_000, -89_000, FILE, f"/sys{DISK}/uevent", 0),
        (1, "write", -88_000, -80_000, 3, None, FILE),
        (1, "close", -79_000, -78_900, 0, None, FILE),
        (1, "write", -78_000, -77_000, 3, None, FILE),
        (2, "recvmsg", -70_000, -69_000, -11, None, SOCKET),
        (2, "sendmsg", 30_000, 31_000, 80, None, SOCKET),
        (2, "recvmsg", 30_500, 30_600, 4, None, SOCKET + 1),
    ]
    rows += [(2, "recvmsg", at, at + 500, 90, None, SOCKET) for at in (-60_000, 20_000, 25_000)[:reads]]
    more = [
        (calls.height + number, thread, name, service + start, service + end, end - start, 0, result, path, first, 0, 0)
        for number, (thread, name, start, end, result, path, first) in enumerate(rows)
    ]
    table = pl.DataFrame([(*row, None) for row in more], schema=calls.schema, orient="row")
    write_table(bundle, "system_calls", pl.concat([calls, table]).sort("start_ns"))
    # The slices of the invented boot have other calls.
    for name in ("slice_threads", "slice_system_calls", "slice_user_functions"):
        write_table(bundle, name, pl.read_parquet(bundle / f"{name}.parquet").clear())
    return bundle


@pytest.fixture(scope="module")
def boot(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    return firstlight.open(make_queue(tmp_path_factory.mktemp("queue")))


def after_service(boot: Boot, times: pl.Series) -> list[int | None]:
    service = boot.table("images")["start_ns"][1]
    return [None if at is None else at - service for at in times.to_list()]


def test_an_event_arrives_with_the_write_that_triggered_it(boot: Boot) -> None:
    rows = udev_events(boot)
    assert rows["device"].to_list() == [DISK, TTY]
    # The second write went to a file that was closed; nothing triggered the terminal's event.
    assert after_service(boot, rows["arrival_ns"]) == [-80_000, None]
    assert after_service(boot, rows["read_ns"]) == [-59_500, 20_500]
    assert rows.select("start_ns", "end_ns").rows() == boot.device_costs().select("start_ns", "end_ns").rows()


def test_reads_that_are_not_as_many_as_the_events_belong_to_none(tmp_path: Path) -> None:
    rows = udev_events(firstlight.open(make_queue(tmp_path, reads=3)))
    assert rows["read_ns"].to_list() == [None, None]


def test_an_event_waits_from_its_arrival_or_else_from_the_read(boot: Boot) -> None:
    over = queue_over_time(queue_of(udev_events(boot)))
    assert after_service(boot, over["time_ns"]) == [-80_000, 10, 20_500, 30_000, 40_000, 50_000]
    assert over["waiting"].to_list() == [1, 0, 1, 1, 0, 0]
    assert over["at_work"].to_list() == [0, 1, 1, 0, 1, 0]


def tracks_of(boot: Boot, least: int = 0) -> dict[str, Track]:
    return {track.label: track for track in udev_tracks(boot, window(boot), least)}


def test_the_tracks_have_the_queue_and_the_workers(boot: Boot) -> None:
    tracks = tracks_of(boot)
    worker = boot.table("processes").filter(pl.col("process") == 3)["pid"][0]
    assert list(tracks) == ["Queue", "waiting", "Workers", f"worker {worker}"]
    assert tracks["Queue"].heights == [1, 1]
    assert tracks["Queue"].note == "at most 1"
    assert tracks["waiting"].note == "1 of 2 events"
    assert [bar.name for lane in tracks["waiting"].lanes for bar in lane] == [DISK]
    assert [bar.name for bar in tracks["Workers"].lanes[0]] == [DISK, TTY]
    described, _ = encoded(list(tracks.values()), 0)
    assert described["tracks"][1]["parent"] == 0
    assert described["tracks"][0]["heights"] == [1, 1]


def test_a_record_of_uevents_has_the_same_tracks(tmp_path: Path) -> None:
    boot = firstlight.open(make_imported(tmp_path))
    tracks = tracks_of(boot)
    assert list(tracks) == ["Queue", "Workers", "worker 7", "worker 8"]
    handled = boot.uevents().drop_nulls(["worker", "service_ns"])
    ends = (handled["service_start_ns"] + handled["service_ns"]).to_list()
    assert sorted(bar.end_ns for lane in tracks["Workers"].lanes for bar in lane) == sorted(ends)
    over = boot.udev_queue_over_time()
    for bar, count in zip(tracks["Queue"].lanes[0], tracks["Queue"].heights, strict=True):
        then = over.filter(pl.col("time_ns") <= bar.start_ns)["waiting"][-1]
        assert (then, bar.name) == (count, f"{count} waiting")
    short = tracks_of(boot, least=95_000_000)["Workers"]
    assert short.left_out + sum(map(len, short.lanes)) == handled.height
    assert short.left_out > 0


def test_a_long_queue_is_drawn_with_the_largest_number_of_each_stretch(
    boot: Boot, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 4 * MOST_STEPS + 1
    over = pl.DataFrame({"time_ns": range(steps), "waiting": [place % 9 for place in range(steps)]})
    monkeypatch.setattr("firstlight.render.page.timeline.udev.queue_over_time", lambda _events: over)
    queue = tracks_of(boot)["Queue"]
    assert len(queue.lanes[0]) <= MOST_STEPS
    assert max(queue.heights) == 8
    assert all(bar.look == Look.WAITING for bar in queue.lanes[0])
    assert queue.lanes[0][-1].end_ns == steps - 1


def test_a_boot_without_udev_has_no_such_track(tmp_path: Path) -> None:
    other = firstlight.open(make_processes(tmp_path))
    assert udev_events(other).is_empty()
    assert udev_events(other).columns == ["device", "worker", "pid", "arrival_ns", "read_ns", "start_ns", "end_ns"]
    assert tracks_of(other) == {}


def test_the_drawing_shows_the_queue_as_steps(boot: Boot) -> None:
    document, exported = timeline_svg(boot)
    assert "<title>Queue: at most 1<" in document
    assert exported.counts["spans"] > 4
