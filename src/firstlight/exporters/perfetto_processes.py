"""Perfetto: processes, their threads with states and system calls, and wake-ups as flows.

These are packets of a sequence of their own, behind those of the engine: a trace is any sequence of packets. The
numbers are those of the fields in `protos/perfetto/trace`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from firstlight.analysis.processes.identity import ProcessName, process_names_of
from firstlight.analysis.processes.states import ThreadState, thread_states
from firstlight.analysis.processes.system_calls import system_calls
from firstlight.bundle.boot import Boot

_SEQUENCE, _BOOTTIME = 2, 6
_CLEARED, _NEEDED = 1, 2
_BEGIN, _END, _INSTANT = 1, 2, 3
_PROCESS, _THREAD = 1 << 40, 1 << 41
"""The first number of a track; the engine uses the numbers below."""
_FIRST_RANK = 1 << 10


def append_processes(boot: Boot, out: Path, shift_ns: int = 0) -> dict[str, int]:
    """Append the processes of a boot to the trace at *out*.

    :param shift_ns: the time in the trace minus the time in the bundle.
    :returns: the numbers of processes, system calls and wake-ups written; none where none were recorded.
    """
    names = process_names_of(boot)
    if not names or boot.runs().is_empty():
        return {}
    writer = _Writer(shift_ns)
    processes = boot.table("processes").select("process", "pid").rows()
    for process, pid in processes:
        writer.process(process, pid, names[process])
    threads = boot.threads().select("thread", "process", "pid", "name").drop_nulls("process").rows()
    for thread, process, pid, name in threads:
        writer.thread(thread, process, f"{name or '?'} {pid}")
    counts = {"processes": len(processes), "wake-ups": writer.states(boot), "system calls": writer.calls(boot)}
    with out.open("ab") as file:
        file.writelines(writer.packets)
    return counts


class _Writer:
    def __init__(self, shift_ns: int) -> None:
        self._shift = shift_ns
        self._names: dict[str, int] = {}
        self.packets: list[bytes] = []
        defaults = _bytes(59, _uint(58, _BOOTTIME))
        self._packet(_uint(87, 1) + defaults, flags=_CLEARED | _NEEDED)

    def process(self, process: int, pid: int, name: ProcessName) -> None:
        about = _uint(1, pid) + _text(6, name.text)
        track = _uint(1, _PROCESS + process) + _bytes(3, about) + _uint(12, _FIRST_RANK + process)
        self._packet(_bytes(60, track))

    def thread(self, thread: int, process: int, name: str) -> None:
        """Two tracks: a system call may last over several intervals of the thread."""
        for place, what in enumerate((name, f"{name} system calls")):
            track = _uint(1, _track(thread) + place) + _uint(5, _PROCESS + process) + _text(2, what)
            self._packet(_bytes(60, track + _uint(12, 2 * thread + place)))

    def states(self, boot: Boot) -> int:
        """The states of the threads as slices. A wake-up is a flow from the waker to the wakee's next state."""
        rows = thread_states(boot).select("thread", "start_ns", "end_ns", "state", "waker").rows()
        woken: dict[int, list[tuple[int, int]]] = {}
        for number, (_, start, _, _, waker) in enumerate(rows):
            if waker is not None:
                woken.setdefault(waker, []).append((start, number + 1))
        for waker in woken:
            woken[waker].sort(reverse=True)
        flows = 0
        for number, (thread, start, end, state, waker) in enumerate(rows):
            own = woken.get(thread, [])
            event = self._named(state, "state")
            if waker is not None:
                event += _fixed(48, number + 1)
                flows += 1
            self._event(start, _BEGIN, _track(thread), event)
            while state == ThreadState.RUNNING and own and own[-1][0] < end:
                at, flow = own.pop()
                if at >= start:
                    self._event(at, _INSTANT, _track(thread), self._named("wakes", "wake-up") + _fixed(47, flow))
            self._event(end, _END, _track(thread), b"")
        return flows

    def calls(self, boot: Boot) -> int:
        """The system calls as slices."""
        columns = ("thread", "name", "start_ns", "end_ns", "path", "result", "instructions")
        rows = system_calls(boot).sort("thread", "start_ns", maintain_order=True).select(columns).rows()
        for thread, name, start, end, path, result, instructions in rows:
            event = self._named(name, "system call")
            event += _note("path", path) + _note("result", result) + _note("instructions", instructions)
            self._event(start, _BEGIN, _track(thread) + 1, event)
            if end is not None:
                self._event(end, _END, _track(thread) + 1, b"")
        return len(rows)

    def _named(self, name: str, category: str) -> bytes:
        found = b""
        for field, text in ((10, name), (3, category)):
            if text not in self._names:
                self._names[text] = len(self._names) + 1
                entry = _uint(1, self._names[text]) + _text(2, text)
                # A text may be both a name and a category; their numbers belong to different tables.
                self._packet(_bytes(12, b"".join(_bytes(each, entry) for each in (1, 2))))
            found += _uint(field, self._names[text])
        return found

    def _event(self, time: int, kind: int, track: int, event: bytes) -> None:
        body = _uint(9, kind) + _uint(11, track) + event
        self._packet(_uint(8, max(0, time + self._shift)) + _bytes(11, body))

    def _packet(self, body: bytes, flags: int = _NEEDED) -> None:
        packet = body + _uint(10, _SEQUENCE) + _uint(13, flags)
        self.packets.append(_bytes(1, packet))


def _track(thread: int) -> int:
    return _THREAD + 2 * thread


def _note(name: str, value: str | int | None) -> bytes:
    if value is None:
        return b""
    return _bytes(4, _text(10, name) + (_text(6, value) if isinstance(value, str) else _uint(4, value)))


def _uint(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _fixed(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + value.to_bytes(8, "little")


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode("utf-8", "replace"))


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    if 0 <= value < 128:
        return _SHORT[value]
    return bytes(_groups(value & (1 << 64) - 1))


def _groups(value: int) -> Iterator[int]:
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value


_SHORT = [bytes([value]) for value in range(128)]
