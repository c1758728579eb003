"""Processes in the formats of other tools: states, system calls and wake-ups, and stacks that sum to the boot."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb  # type: ignore[import-untyped]

import firstlight
from bundles import make_bundle
from firstlight.analysis.processes.states import process_states, thread_states
from firstlight.cli.main import run
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export
from invented_processes import make_processes


@pytest.fixture(params=[False, True], ids=["plain", "hostile"])
def bundle(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return make_processes(tmp_path, hostile=request.param)


def test_states_of_a_thread_have_no_gaps_and_it_runs_as_the_runs_say(bundle: Path) -> None:
    boot = firstlight.open(bundle)
    states = thread_states(boot)
    running = states.filter(pl.col("state") == "running").select("thread", "start_ns", "end_ns").sort("start_ns")
    assert running.rows() == boot.runs().filter(pl.col("end_ns") > pl.col("start_ns")).select(
        "thread", "start_ns", "end_ns"
    ).sort("start_ns").rows()  # fmt: skip
    for frame in states.partition_by("thread"):
        assert frame["end_ns"].to_list()[:-1] == frame["start_ns"].to_list()[1:]
    for frame in process_states(boot).partition_by("process"):
        assert frame["start_ns"].is_sorted()
        assert (frame["end_ns"].shift(1) <= frame["start_ns"]).drop_nulls().all()


def test_perfetto_has_each_process_its_calls_and_a_flow_for_each_wake_up(bundle: Path) -> None:
    out = bundle.with_suffix(".pftrace")
    boot, counts = firstlight.open(bundle), write_export(bundle, To.perfetto, out).counts
    trace = pb.Trace()
    trace.ParseFromString(out.read_bytes())
    own = [packet for packet in trace.packet if packet.trusted_packet_sequence_id == 2]
    assert own[0].sequence_flags & 1
    tracks = {
        packet.track_descriptor.uuid: packet.track_descriptor for packet in own if packet.HasField("track_descriptor")
    }
    assert {track.process.pid for track in tracks.values() if track.HasField("process")} == set(
        boot.processes()["pid"].to_list()
    )
    names = {entry.iid: entry.name for packet in own for entry in packet.interned_data.event_names}
    began, flows = [], defaultdict(list)
    depth: dict[int, int] = defaultdict(int)
    last: dict[int, int] = defaultdict(int)
    for packet in own:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        assert tracks[event.track_uuid].parent_uuid in tracks
        assert last[event.track_uuid] <= packet.timestamp
        last[event.track_uuid] = packet.timestamp
        depth[event.track_uuid] += {1: 1, 2: -1}.get(event.type, 0)
        assert depth[event.track_uuid] in (0, 1)
        if event.type == 1:
            began.append(names[event.name_iid])
        for flow in (*event.flow_ids, *event.terminating_flow_ids):
            flows[flow].append(packet.timestamp)
    assert sorted(name for name in began if name not in ("running", "runnable", "blocked")) == sorted(
        boot.system_calls()["name"].to_list()
    )
    assert counts["wake-ups"] == len(flows)
    assert all(len(set(times)) == 1 for times in flows.values())


def test_the_profile_of_firefox_has_a_thread_for_each_thread(bundle: Path) -> None:
    out = bundle.with_suffix(".json.gz")
    write_export(bundle, To.firefox, out)
    profile = json.loads(gzip.decompress(out.read_bytes()))
    threads = [each for each in profile["threads"] if int(each["pid"]) >= 1_000]
    boot = firstlight.open(bundle)
    assert len(threads) == boot.threads().height
    assert len({each["tid"] for each in threads}) == len(threads)
    texts = profile["shared"]["stringArray"]
    called = [
        texts[name]
        for each in threads
        for name, data in zip(each["markers"]["name"], each["markers"]["data"], strict=True)
        if data["type"] == "SystemCall"
    ]
    assert sorted(called) == sorted(boot.system_calls()["name"].to_list())
    schemas = {schema["name"] for schema in profile["meta"]["markerSchema"]}
    assert {data["type"] for each in threads for data in each["markers"]["data"]} <= schemas


@pytest.mark.parametrize("unit", ["time", "instructions"])
def test_folded_stacks_of_processes_sum_to_the_boot(bundle: Path, unit: Any) -> None:
    out = bundle.with_suffix(".folded")
    firstlight.export(bundle, "folded", out, by="process", unit=unit)
    rows = [line.rsplit(" ", 1) for line in out.read_text(encoding="utf-8").split("\n") if line]
    totals = firstlight.open(bundle).manifest.totals
    assert sum(int(weight) for _, weight in rows) == (totals.virtual_ns if unit == "time" else totals.instructions)
    assert all(stack.startswith("[boot];") and int(weight) > 0 for stack, weight in rows)


def folded_by_process(bundle: Path) -> dict[str, int]:
    """The weights of the stacks below the process `udevadm settle`, and of those of `svc` below it."""
    out = bundle.with_suffix(".folded")
    assert run(["export", str(bundle), "--to", "folded", "--by", "process", "-o", str(out)]) == 0
    rows = [line.rsplit(" ", 1) for line in out.read_text(encoding="utf-8").splitlines()]
    return {stack.partition("udevadm settle;")[2]: int(weight) for stack, weight in rows if "udevadm settle;" in stack}


def test_a_process_stands_below_its_creator_with_user_mode_and_calls(tmp_path: Path) -> None:
    stacks = folded_by_process(make_processes(tmp_path, user_code=False))
    assert stacks["[user]"] == 150_000
    assert stacks["[kernel];openat"] == 2_000
    assert stacks["svc;[user]"] == 100_000


def test_user_functions_stand_below_their_file_and_above_the_calls_that_they_make(tmp_path: Path) -> None:
    stacks = folded_by_process(make_processes(tmp_path))
    user = {stack: weight for stack, weight in stacks.items() if stack.startswith("[user]")}
    assert {stack: weight for stack, weight in user.items() if stack.count(";") == 2} == {
        "[user];gone;gone+0x40": 20_000,
        "[user];libc.so.6;malloc": 40_000,
        "[user];udevadm;udevadm+0x2000": 70_000,
        "[user];udevadm;.plt": 20_000,
    }
    assert user["[user];libc.so.6;malloc;openat"] == 2_000
    assert {stack.rpartition(";")[2] for stack in user if stack.count(";") == 3} == {
        "clone",
        "execve",
        "openat",
        "read",
    }


def test_the_chart_for_print_has_the_processes(bundle: Path) -> None:
    out = bundle.with_suffix(".svg")
    write_export(bundle, To.svg, out)
    titles = [each.text or "" for each in ElementTree.parse(out).getroot().iter("{http://www.w3.org/2000/svg}title")]
    assert any("udevadm" in title for title in titles)


def test_without_processes_there_are_none_and_by_process_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = make_bundle(tmp_path)
    assert "processes" not in write_export(plain, To.perfetto, tmp_path / "a.pftrace").counts
    assert run(["export", str(plain), "--to", "folded", "--by", "process"]) == 1
    assert "this boot has no processes" in capsys.readouterr().err
    assert run(["export", str(plain), "--to", "svg", "--by", "process"]) == 2
