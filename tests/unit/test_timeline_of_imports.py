"""The timeline of imported boots has the system calls and samples of their records, and says no more than these."""

from __future__ import annotations

from pathlib import Path

import firstlight
from firstlight.render.page.timeline.build import timeline_tracks
from firstlight.render.page.timeline.lanes import Bar, Look, Sign, Track
from imported_records import imported
from invented_processes import make_processes

STRACE = """1 0.000100 execve("/sbin/init", ["/sbin/init"], 0x7ff /* 10 vars */) = 0 <0.000300>
1 0.002000 read(3, "x", 4096) = 1 <0.500000>
1 0.600000 clone(child_stack=NULL) = 22 <0.000100>
22 0.600300 execve("/bin/sh", ["sh"], 0x7 /* 1 var */) = 0 <0.000200>
22 0.700000 exit_group(0) = ?
22 0.700100 +++ exited with 0 +++
"""


def tracks_of(boot: firstlight.Boot) -> list[Track]:
    """The tracks of the page's timeline."""
    return timeline_tracks(boot, boot.path())[2]


def bars_of(tracks: list[Track], role: str) -> list[Bar]:
    """The bars of all tracks with a role."""
    return [bar for track in tracks if track.role == role for lane in track.lanes for bar in lane]


def test_calls_that_strace_recorded_are_below_their_processes(tmp_path: Path) -> None:
    tracks = tracks_of(imported(tmp_path, {"strace.txt": STRACE}))
    calls = {
        track.parent: [bar.name for lane in track.lanes for bar in lane] for track in tracks if track.role == "calls"
    }
    assert {parent: sorted(names) for parent, names in calls.items()} == {
        "init · 1": ["clone", "execve", "read"],
        "sh · 22": ["execve", "exit_group"],
    }
    [read] = [bar for bar in bars_of(tracks, "calls") if bar.name == "read"]
    assert read.end_ns - read.start_ns == 500_000_000
    [last] = [bar for bar in bars_of(tracks, "calls") if bar.name == "exit_group"]
    assert last.look & Sign.OPEN


def test_without_runs_nothing_had_the_processor(tmp_path: Path) -> None:
    tracks = tracks_of(imported(tmp_path, {"strace.txt": STRACE}))
    assert bars_of(tracks, "path")
    assert [bar for track in tracks for lane in track.lanes for bar in lane if bar.look & 15 == Look.RUNNING] == []


def test_samples_of_processors_and_disks_are_graphs_with_the_sums_of_the_path(tmp_path: Path) -> None:
    processors = "".join(f"{100 + 10 * i}\ncpu  {6 * i} 0 {2 * i} {i} {i} 0 0\n\n" for i in range(20))
    boot = imported(tmp_path, {"proc_stat.log": processors})
    graphs = {track.label: track for track in tracks_of(boot) if track.role == "load"}
    assert list(graphs) == ["Processors busy, sampled", "Waits for disks, sampled"]
    for label, share in zip(graphs, (80, 10), strict=True):
        [lane] = graphs[label].lanes
        assert len(lane) == 19
        assert set(graphs[label].heights) == {share}


def test_runs_and_calls_without_a_place_in_a_page_are_counted(tmp_path: Path) -> None:
    boot = firstlight.open(make_processes(tmp_path))
    few = [track for track in timeline_tracks(boot, boot.path(), most=8)[2] if track.role in ("process", "calls")]
    every = [track for track in timeline_tracks(boot, boot.path())[2] if track.role in ("process", "calls")]

    def together(tracks: list[Track]) -> int:
        """The time of runs and calls, shown or left out."""
        lanes = [lane for track in tracks for lane in track.lanes[1 if track.role == "process" else 0 :]]
        shown = sum(bar.end_ns - bar.start_ns for lane in lanes for bar in lane)
        return shown + sum(track.left_out_ns for track in tracks)

    assert sum(track.left_out for track in few) > 0
    assert sum(track.left_out for track in every) == 0
    assert together(few) == together(every)
