"""Firefox Profiler: a thread with markers for every thread of every process: its states and its system calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firstlight.analysis.processes.identity import process_names_of
from firstlight.analysis.processes.states import thread_states
from firstlight.analysis.processes.system_calls import system_calls
from firstlight.bundle.boot import Boot

#: Name, start, end, what the marker is, data: of an interval, or without an end of one that begins.
Marker = tuple[str, int, int | None, dict[str, Any]]


def process_threads(boot: Boot, thread: Callable[[str, str, int, list[Marker]], Any]) -> tuple[list[Any], int]:
    """The threads of all processes, in the order in which the processes were created, and the number of their calls.

    :param thread: makes one, of its name, that of its process, the number of the process and its markers in order of
        time.
    """
    names = process_names_of(boot)
    if not names or boot.runs().is_empty():
        return [], 0
    markers: dict[int, list[Marker]] = {}
    named = boot.threads().select("thread", "name", "pid")
    labels = {number: f"{name or '?'} {pid}" for number, name, pid in named.rows()}
    states = thread_states(boot).select("thread", "start_ns", "end_ns", "state", "waker")
    for number, start, end, state, waker in states.iter_rows():
        data = {"type": "State"} | ({} if waker is None else {"waker": labels.get(waker, "?")})
        markers.setdefault(number, []).append((state, start, end, data))
    calls = system_calls(boot)
    columns = ("thread", "name", "start_ns", "end_ns", "path", "result", "instructions")
    for number, name, start, end, path, result, instructions in calls.select(columns).iter_rows():
        known = {"path": path, "result": result, "instructions": instructions}
        data = {"type": "SystemCall"} | {key: str(value) for key, value in known.items() if value is not None}
        markers.setdefault(number, []).append((name, start, end, data))
    rows = boot.threads().select("process", "thread").drop_nulls().sort("process", "thread").rows()
    made = [
        thread(labels[number], names[process].text, process, sorted(markers.get(number, []), key=lambda each: each[1]))
        for process, number in rows
    ]
    return made, calls.height
