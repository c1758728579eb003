"""Firefox Profiler: a processed profile, gzipped; a thread with markers for every track, one with samples for calls.

The format is that of `docs-developer/processed-profile-format.md` of firefox-devtools/profiler at version 60, which
every later profiler upgrades.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.exporters.engine import Lanes, Unit, span_lanes, weighted_stacks
from firstlight.exporters.firefox_processes import Marker, process_threads
from firstlight.exporters.result import Exported
from firstlight.quantities import counted
from firstlight.version import VERSION

_PROCESSED, _GECKO = 60, 31
#: Where the numbers of processes begin; those of groups of spans lie below.
_FIRST_PROCESS = 1_000
_INSTANT, _INTERVAL, _INTERVAL_START = 0, 1, 2
_SPAN_FIELDS = ("kind", "level", "grade", "reason", "source", "attributes")
_CALL_FIELDS = ("path", "result", "instructions")
_CATEGORIES = {"Other": "grey", "Boot": "yellow", "Kernel": "blue", "udev": "green", "Units": "purple",
               "Processes": "orange", "Log": "grey"}  # fmt: skip
_CATEGORY = {name: number for number, name in enumerate(_CATEGORIES)}

Json = dict[str, Any]


def write_firefox(boot: Boot, out: Path, unit: Unit = "time") -> Exported:
    """Write *boot* as a profile to *out*; the same boot gives the same bytes.

    :param unit: the weight of the calling-context tree; spans are always in time.
    :raises BundleError: when a table cannot be read.
    """
    exported = Exported()
    strings = Strings()
    lanes = span_lanes(boot.directory)
    exported.leave_out(lanes.left_out)
    shared: Json = _shared_tables([], [], strings)
    threads = []
    if not boot.calls().is_empty():
        stacks = weighted_stacks(boot.directory, unit)
        exported.weigh(stacks.summary, unit)
        shared = _shared_tables(stacks.parent, stacks.name, strings)
        threads.append(_thread("Calls", _samples(boot, stacks.weight, unit), _markers([]), main=True))
    threads.append(_thread("Log and marks", _no_samples(), _instants(boot, strings, exported), main=not threads))
    threads += _span_threads(boot, lanes, strings, exported)
    threads += _process_threads(boot, strings, exported, len(threads))
    exported.counts["threads"] = len(threads)
    document = {
        "meta": _meta(boot, len(threads)),
        "libs": [],
        "pages": [],
        "counters": [],
        "shared": {**shared, "stringArray": strings.all},
        "threads": threads,
    }
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    out.write_bytes(gzip.compress(text.encode("ascii"), compresslevel=6, mtime=0))
    return exported


class Strings:
    """The texts of a profile, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The place of *text* in the list."""
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]


def _ms(ns: int) -> float:
    return ns / 1e6


def _meta(boot: Boot, threads: int) -> Json:
    field = {"format": "string"}
    span = [{"key": key, "label": key.capitalize(), **field} for key in _SPAN_FIELDS]
    manifest, name = boot.manifest, boot.directory.resolve().name.removesuffix(".boot")
    return {
        "interval": 1,
        "startTime": 0,
        "processType": 0,
        "product": f"{name} ({manifest.mode}, {manifest.clock.kind} clock)",
        "importedFrom": f"firstlight {VERSION}",
        "stackwalk": 1,
        "debug": False,
        "version": _GECKO,
        "preprocessedProfileVersion": _PROCESSED,
        "symbolicated": True,
        "symbolicationNotSupported": True,
        "usesOnlyOneStackType": True,
        "sourceCodeIsNotOnSearchfox": True,
        "keepProfileThreadOrder": True,
        "initialVisibleThreads": list(range(min(threads, 20))),
        "initialSelectedThreads": [0],
        "extensions": {"id": [], "name": [], "baseURL": [], "length": 0},
        "categories": [{"name": name, "color": color, "subcategories": ["Other"]}
                       for name, color in _CATEGORIES.items()],
        "markerSchema": [
            {"name": "Span", "display": ["timeline-overview", "marker-chart", "marker-table"],
             "tooltipLabel": "{marker.name}", "chartLabel": "{marker.name}", "tableLabel": "{marker.data.kind}",
             "fields": span},
            {"name": "Instant", "display": ["timeline-overview", "marker-chart", "marker-table"],
             "tableLabel": "{marker.data.detail}", "fields": [{"key": "detail", "label": "Detail", **field}]},
            {"name": "State", "display": ["timeline-overview", "marker-chart", "marker-table"],
             "fields": [{"key": "waker", "label": "Woken by", **field}]},
            {"name": "SystemCall", "display": ["marker-chart", "marker-table"],
             "tableLabel": "{marker.data.path}",
             "fields": [{"key": key, "label": key.capitalize(), **field} for key in _CALL_FIELDS]},
        ],
    }  # fmt: skip


def _shared_tables(parent: list[int | None], names: list[str], strings: Strings) -> Json:
    """One function and one frame for each name, one stack for each node."""
    functions: dict[str, int] = {}
    frames = [functions.setdefault(name or "[nameless]", len(functions)) for name in names]
    count = len(functions)

    def none() -> list[None]:
        return [None] * count

    return {
        "stackTable": {"frame": frames, "prefix": parent, "length": len(frames)},
        "frameTable": {"address": [-1] * count, "inlineDepth": [0] * count, "category": [_CATEGORY["Kernel"]] * count,
                       "subcategory": [0] * count, "func": list(range(count)), "nativeSymbol": none(),
                       "innerWindowID": [0] * count, "line": none(), "column": none(), "length": count},
        "funcTable": {"name": [strings.number(name) for name in functions], "isJS": [False] * count,
                      "relevantForJS": [False] * count, "resource": [-1] * count, "source": none(),
                      "lineNumber": none(), "columnNumber": none(), "length": count},
        "resourceTable": {"lib": [], "name": [], "host": [], "type": [], "length": 0},
        "nativeSymbols": {"libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0},
        "sources": {"uuid": [], "filename": [], "length": 0},
    }  # fmt: skip


def _samples(boot: Boot, weights: list[int], unit: Unit) -> Json:
    """The self weight of each node; where the boot has it by phase, at the time of the phase.

    Within a phase the order is that of the tree: the true one is not recorded.
    """
    column = "self_ns" if unit == "time" else "self_instructions"
    rows: list[tuple[int, int, int, int]] = []
    by_phase = boot.phase_calls()
    known = {} if by_phase.is_empty() else dict(boot.phases().select("phase", "start_ns").iter_rows())
    if known:
        for node, phase, weight, lasts in by_phase.select(
            "node", "phase", pl.col(column).alias("weight"), "self_ns"
        ).iter_rows():
            rows.append((known.get(phase) or 0, node, weight or 0, lasts or 0))
        rows.sort(key=lambda row: row[:2])
    else:
        rows = [(0, node, weight, weight if unit == "time" else 0) for node, weight in enumerate(weights) if weight]
    stack, time, weigh = [], [], []
    now = 0
    for start, node, weight, lasts in rows:
        now = max(now, start)
        if weight:
            stack.append(node)
            time.append(_ms(now))
            weigh.append(_ms(weight) if unit == "time" else weight)
        now += lasts
    kind = "tracing-ms" if unit == "time" else "samples"
    return {"stack": stack, "time": time, "weight": weigh, "weightType": kind, "length": len(stack)}


def _no_samples() -> Json:
    return {"stack": [], "time": [], "weight": None, "weightType": "samples", "length": 0}


def _markers(rows: Sequence[tuple[int, float | None, float | None, int, int, Json]]) -> Json:
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(6)]
    names = ("name", "startTime", "endTime", "phase", "category", "data")
    return {**dict(zip(names, columns, strict=True)), "length": len(rows)}


def _thread(name: str, samples: Json, markers: Json, *, main: bool = False, pid: int = 0, tid: int = 0) -> Json:
    return {
        "name": name,
        "isMainThread": main,
        "processType": "default",
        "processName": name if main else "",
        "processStartupTime": 0,
        "processShutdownTime": None,
        "registerTime": 0,
        "unregisterTime": None,
        "pausedRanges": [],
        "showMarkersInTimeline": True,
        "pid": str(pid),
        "tid": tid,
        "samples": samples,
        "markers": markers,
    }


def _instants(boot: Boot, strings: Strings, exported: Exported) -> Json:
    rows = []
    for name, time, detail in boot.marks().select("mark", "time_ns", "detail").iter_rows():
        data = {"type": "Instant", "detail": detail or "mark"}
        rows.append((strings.number(name), _ms(time), None, _INSTANT, _CATEGORY["Boot"], data))
    log = boot.log().select("time_ns", "text")
    without = log["time_ns"].null_count()
    for time, text in log.filter(pl.col("time_ns").is_not_null()).iter_rows():
        data = {"type": "Instant", "detail": text}
        rows.append((strings.number("log"), _ms(time), None, _INSTANT, _CATEGORY["Log"], data))
    if without:
        exported.notes.append(f"{counted(without, 'log line')} left out: they have no time")
    return _markers(rows)


def _process_threads(boot: Boot, strings: Strings, exported: Exported, before: int) -> list[Json]:
    """A process for every process, a thread for every thread."""
    seen: list[int] = []

    def made(name: str, process_name: str, process: int, markers: list[Marker]) -> Json:
        rows = [
            (strings.number(marker), _ms(start), None if end is None else _ms(end),
             _INTERVAL_START if end is None else _INTERVAL, _CATEGORY["Processes"], data)
            for marker, start, end, data in markers
        ]  # fmt: skip
        main = process not in seen
        seen.append(process)
        number = before + len(seen)
        thread = _thread(name, _no_samples(), _markers(rows), main=main, pid=_FIRST_PROCESS + process, tid=number)
        return {**thread, "processName": process_name}

    threads, calls = process_threads(boot, made)
    if threads:
        exported.counts |= {"processes": len(set(seen)), "system calls": calls}
    return threads


def _span_threads(boot: Boot, lanes: Lanes, strings: Strings, exported: Exported) -> list[Json]:
    """A process for every group, a thread for every track; the profiler puts overlapping markers on separate rows."""
    spans = boot.spans()
    names = [strings.number(name or "[nameless]") for name in spans["name"].to_list()]
    fields = {key: spans[key].to_list() for key in _SPAN_FIELDS}
    tracks: dict[tuple[str, str], list[int]] = {}
    for lane in lanes.lanes:
        tracks.setdefault((lane.group, lane.track), []).extend(step for step in lane.steps if step >= 0)
    threads: list[Json] = []
    groups: dict[str, int] = {}
    unfinished = 0
    for (group, track), rows in tracks.items():
        pid = groups.setdefault(group, len(groups) + 1)
        markers = []
        for row in sorted(rows, key=lambda row: (lanes.start[row], row)):
            start, end = lanes.start[row], lanes.end[row]
            data = {"type": "Span", **{key: fields[key][row] for key in _SPAN_FIELDS if fields[key][row] is not None}}
            ended = (None, _INTERVAL_START) if end is None else (_ms(end), _INTERVAL)
            unfinished += end is None
            markers.append((names[row], _ms(start or 0), *ended, _CATEGORY.get(group, 0), data))
        main = not any(thread["pid"] == str(pid) for thread in threads[-1:])
        thread = _thread(track, _no_samples(), _markers(markers), main=main, pid=pid, tid=len(threads) + 1)
        threads.append({**thread, "processName": group})
    if unfinished:
        exported.notes.append(f"{counted(unfinished, 'span')} without an end: drawn to the end of the profile")
    return threads
