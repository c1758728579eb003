"""What a thread is called on a path: its program, or the kernel's thread, and the service that it belongs to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from firstlight.analysis.path.processor import BEFORE_TASKS, Processor
from firstlight.analysis.processes.processes import service_of
from firstlight.analysis.processes.system_calls import image_at
from firstlight.bundle.boot import Boot

#: The kernel's number of the first process.
_INIT = 1


class Named(NamedTuple):
    """A program or a thread of the kernel, and its service."""

    name: str
    service: str | None


class Programs:
    """The names of a boot's threads over time."""

    def __init__(self, boot: Boot, processor: Processor) -> None:
        self._processor = processor
        threads = boot.threads().select("thread", "pid", "kind", "user_start_ns").rows()
        self.idle = frozenset(thread for thread, _, kind, _ in threads if kind == "idle")
        self.init = frozenset(thread for thread, pid, *_ in threads if pid == _INIT)
        #: The first process belongs to the kernel until it runs a program.
        self._user_from = {thread: user for thread, _, _, user in threads if thread in self.init}
        self._times: dict[int, list[int]] = {}
        self._images: dict[int, list[Named]] = {}
        last = boot.table("processes").select("process", last=service_of("cgroup"))
        services = dict(boot.threads().join(last, on="process").select("thread", "last").iter_rows())
        for thread, time, image, service in image_at(boot).select("thread", "from_ns", "image", "service").iter_rows():
            if image:
                self._times.setdefault(thread, []).append(time)
                self._images.setdefault(thread, []).append(
                    Named(image.rpartition("/")[2] or image, service or services.get(thread))
                )
        kernel: dict[int, str] = {}
        for stretch in processor.stretches:
            if stretch.thread is not None:
                kernel[stretch.thread] = stretch.name
        self._kernel = kernel

    def at(self, thread: int | None, time: int) -> Named:
        """The program that a thread runs at an instant; before its first one, that one."""
        if thread is None:
            return Named(BEFORE_TASKS, None)
        times, early = self._times.get(thread), self._user_from.get(thread)
        if not times or (early is not None and time < early):
            name = self._kernel.get(thread, "") if early is None else "init"
            return Named(f"[{name}]", None)
        return self._images[thread][max(0, bisect_right(times, time) - 1)]

    def between(self, thread: int | None, start: int, end: int) -> Iterator[tuple[int, int, Named]]:
        """The time of a thread between two instants, divided where it began to run another program."""
        times = [] if thread is None else self._times.get(thread, [])
        early = None if thread is None else self._user_from.get(thread)
        changes = times[bisect_right(times, start) : bisect_left(times, end)]
        if early is not None and start < early < end:
            changes = sorted({early, *changes})
        for low, high in pairwise([start, *changes, end]):
            yield low, high, self.at(thread, low)

    def who(self, start: int, end: int) -> dict[Named, int]:
        """How long each program executed between two instants, the longest first. Idle time belongs to none."""
        took: dict[Named, int] = {}
        for stretch in self._processor.between(start, end):
            for low, high, named in self.between(stretch.thread, stretch.start, stretch.end):
                ran = sum(to - at for at, to, idles in self._processor.by_idleness(low, high) if not idles)
                took[named] = took.get(named, 0) + ran
        return dict(sorted(((each, ns) for each, ns in took.items() if ns > 0), key=lambda entry: -entry[1]))


def threads_of(boot: Boot, processor: Processor, spans: pl.DataFrame) -> dict[int, int]:
    """The thread that each span began on, by the number of the span."""
    begun = ((span, next(processor.between(start, start + 1), None))
             for span, start in spans.drop_nulls("start_ns").select("span", "start_ns").iter_rows())  # fmt: skip
    return {span: ran.thread for span, ran in begun if ran is not None and ran.thread is not None}
