"""Perfetto's own protocol definitions read our trace. They are an independent decoder, not Perfetto's trace processor:

that one is a binary which no package registry carries.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped]
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb  # type: ignore[import-untyped]

import firstlight
from bundles import HOSTILE, make_bundle
from export_boots import make_imported
from firstlight.exporters.formats import To
from firstlight.exporters.write import write_export

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Decoded:
    """A trace as the rules of the format have it: interned names resolved, slices nested."""

    def __init__(self, data: bytes) -> None:
        self.trace: Any = pb.Trace()
        self.trace.ParseFromString(data)
        self.tracks: dict[int, Any] = {}
        self.slices: list[dict[str, Any]] = []
        self.events: list[tuple[int, str, Any]] = []
        interned: dict[str, dict[int, str]] = defaultdict(dict)
        stacks: dict[int, list[dict[str, Any]]] = defaultdict(list)
        last: dict[int, int] = defaultdict(int)
        for number, packet in enumerate(self.trace.packet):
            assert packet.trusted_packet_sequence_id == 1
            assert packet.sequence_flags & 1 == (number == 0)
            for field, values in packet.interned_data.ListFields():
                for entry in values:
                    text = entry.str.decode() if field.name == "debug_annotation_string_values" else entry.name
                    assert entry.iid
                    assert interned[field.name].setdefault(entry.iid, text) == text
            if packet.HasField("track_descriptor"):
                assert packet.track_descriptor.uuid not in self.tracks
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if not packet.HasField("track_event"):
                continue
            event, track = packet.track_event, packet.track_event.track_uuid
            assert track in self.tracks, "a track is described before it is used"
            assert last[track] <= packet.timestamp
            last[track] = packet.timestamp
            if event.type == BEGIN:
                told = {"name": interned["event_names"][event.name_iid], "start": packet.timestamp, "end": None,
                        "kind": interned["event_categories"][event.category_iids[0]], "track": track,
                        "flows": list(event.flow_ids)}  # fmt: skip
                for note in event.debug_annotations:
                    told[interned["debug_annotation_names"][note.name_iid]] = self.value(note, interned)
                stacks[track].append(told)
                self.slices.append(told)
            elif event.type == END:
                stacks[track].pop()["end"] = packet.timestamp
            else:
                self.events.append((event.type, event.name, packet))

    @staticmethod
    def value(note: Any, interned: dict[str, dict[int, str]]) -> Any:
        if note.dict_entries:
            return {entry.name: entry.string_value for entry in note.dict_entries}
        if note.HasField("string_value_iid"):
            return interned["debug_annotation_string_values"][note.string_value_iid]
        return note.int_value if note.HasField("int_value") else note.string_value


def unknown(message: Any) -> int:
    """Fields that the definitions do not know."""
    found = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            found += sum(map(unknown, value if field.is_repeated else [value]))
    return found


def decoded(bundle: Path) -> Decoded:
    out = bundle.with_suffix(".pftrace")
    write_export(bundle, To.perfetto, out)
    return Decoded(out.read_bytes())


@pytest.mark.parametrize("sort", ["exact", "hostile", "failed", "live"])
def test_every_span_is_a_slice_with_its_times(tmp_path: Path, sort: str) -> None:
    bundle = make_bundle(tmp_path, hostile=sort == "hostile", failed=sort == "failed", live=sort == "live")
    trace = decoded(bundle)
    assert unknown(trace.trace) == 0
    spans = firstlight.open(bundle).spans().sort("span").to_dicts()
    drawn = sorted(trace.slices, key=lambda piece: piece["span"])
    for piece, span in zip(drawn, spans, strict=True):
        assert (piece["name"], piece["kind"], piece["start"], piece["end"]) == (
            span["name"], span["kind"], span["start_ns"], span["end_ns"])  # fmt: skip
        for column in ("parent", "level", "grade", "reason", "instructions", "idle_ns", "source"):
            assert piece.get(column) == span[column], column


def test_marks_log_and_counters_are_there(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path, hostile=True)
    boot, trace = firstlight.open(bundle), decoded(bundle)
    instants = [(name, packet.timestamp) for kind, name, packet in trace.events if kind == INSTANT]
    assert set(boot.marks().select("mark", "time_ns").iter_rows()) <= set(instants)
    lines = [(text[:1000], time) for text, time in boot.log().select("text", "time_ns").iter_rows() if time is not None]
    assert {(name.removesuffix("…"), time) for name, time in instants} >= set(lines)
    assert any(name in HOSTILE for name, _ in instants)
    values = [
        (packet.timestamp, packet.track_event.counter_value) for kind, _, packet in trace.events if kind == COUNTER
    ]
    assert values == list(boot.counters().select("time_ns", "value").iter_rows())


def test_groups_are_processes_and_tasks_threads(tmp_path: Path) -> None:
    trace = decoded(make_bundle(tmp_path))
    named = {track.process.process_name or track.thread.thread_name or track.name for track in trace.tracks.values()}
    assert {"Boot a", "Kernel", "Log", "Counters", "marks", "boot", "task 1", "idle_ns"} <= named
    for track in trace.tracks.values():
        assert not track.parent_uuid or track.parent_uuid in trace.tracks
    description = next(track.description for track in trace.tracks.values() if track.name == "Boot a")
    assert description.startswith("Exact boot; virtual clock, time 0 is power_on")


def test_spans_that_overlap_stand_in_lanes_and_ends_are_reckoned(tmp_path: Path) -> None:
    trace = decoded(make_imported(tmp_path))
    by_name = {piece["name"]: piece for piece in trace.slices}
    assert set(by_name) == {"kernel", "acpi_init", "rtc_cmos", "ssh.service", "dbus.service", "cron.service"}
    assert by_name["acpi_init"]["track"] != by_name["rtc_cmos"]["track"]
    assert trace.tracks[by_name["rtc_cmos"]["track"]].name == "task 1 (overlapping)"
    assert (by_name["dbus.service"]["start"], by_name["cron.service"]["end"]) == (5_000, 8_500)
    assert "reckoned" in by_name["cron.service"]["placed"]
    assert by_name["ssh.service"]["end"] is None
    assert by_name["acpi_init"]["attributes"] == {"returned": "0"}
    assert by_name["dbus.service"]["attributes"] == "no object"
    # What was waited for, and what waited.
    assert by_name["dbus.service"]["flows"] == by_name["cron.service"]["flows"] == [1]
