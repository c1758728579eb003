"""What each thread of a recorded boot did, as a script that can be run again with less work."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstlight.analysis.path.wait_reasons import WaitReason
from firstlight.analysis.path.wakeups import WakeGraph

#: The longest turn that a thread takes while another one waits: one tick of the kernels of distributions (250 Hz).
QUANTUM_NS = 4_000_000

#: How a thread waits for any of several events.
_EVENT_LOOPS = (WaitReason.EPOLL, WaitReason.POLL)

#: So many threads of the kernel wake one another for one request.
_MOST_LINKS = 4


@dataclass(frozen=True)
class Wake:
    """A thread can go on with one of its runs."""

    thread: int
    run: int
    lag: int
    """How long the thread waited for its turn then."""
    by: int | None
    """The thread that woke or created it; null for an interrupt."""
    time: int
    """When, in the record."""


@dataclass(frozen=True)
class Run:
    """Work without a stop, at its place in the record."""

    start: int
    end: int


@dataclass(frozen=True)
class Reach:
    """A mark, or what the prediction is of."""

    name: str


@dataclass(frozen=True)
class Sleep:
    """Wait until something makes a run possible: a wake-up by a thread, or by an interrupt after a time."""

    run: int
    start: int
    end: int
    after: Wake | None = None
    """The wake-up by an interrupt, which comes as long after the begin of the sleep as in the record."""
    until: int | None = None
    """Of a sleep in an event loop that a timer ended: the run that the next event from a thread made possible. That
    event ends the sleep, too, if it comes first."""


@dataclass(frozen=True)
class Turn:
    """Leave the processor and stay able to run."""

    lag: int


Action = Run | Wake | Reach | Sleep | Turn


@dataclass
class Script:
    """What the threads of a boot do, and which of them begins."""

    begin: int
    threads: dict[int, list[Action]] = field(default_factory=dict)
    first: int | None = None
    unexplained: int = 0
    """Sleeps whose end no wake-up explains; they last as long as in the record."""
    late: list[Wake] = field(default_factory=list)
    """Threads that nothing created; they begin when they did."""


def script_of(graph: WakeGraph, reached: dict[str, int]) -> Script:
    """The script of a boot.

    :param reached: the marks after the first run, with their times.
    """
    begins = min((runs.starts[0] for runs in graph.runs.values()), default=0)
    script = Script(begins, first=graph.at(begins + 1))
    emitted: dict[int, list[tuple[int, Wake | Reach]]] = {}
    after: dict[tuple[int, int], Wake] = {}
    for thread, runs in graph.runs.items():
        if thread not in graph.idle and thread != script.first:
            wake = _creation(graph, thread, runs.starts[0])
            if wake.by is None:
                script.late.append(wake)
            else:
                emitted.setdefault(wake.by, []).append((wake.time, wake))
        for run in range(1, 1 if thread in graph.idle else len(runs.starts)):
            if graph.could_run(thread, run - 1):
                continue
            woken = graph.wake(thread, run)
            script.unexplained += woken is None
            wake, anchored = _wake(graph, thread, run, woken)
            if anchored is None:
                after[thread, run] = wake
            else:
                emitted.setdefault(anchored, []).append((wake.time, wake))
    for name, time in reached.items():
        if (place := _worked(graph, time)) is not None:
            emitted.setdefault(place[0], []).append((place[1], Reach(name)))
    for thread in graph.runs:
        if thread in graph.idle and thread != script.first:
            continue
        sent = sorted(emitted.get(thread, []), key=lambda each: each[0])
        script.threads[thread] = list(_actions(graph, thread, sent, after))
    return script


def _worked(graph: WakeGraph, time: int) -> tuple[int, int] | None:
    """The thread that ran when a mark was reached, and the instant; for one while nothing ran, the next work."""
    if (thread := _awake(graph, graph.at(time), time)) is not None:
        return thread, time
    works = [(thread, start, end) for thread, runs in graph.runs.items() if thread not in graph.idle
             for start, end in zip(runs.starts, runs.ends, strict=True)]  # fmt: skip
    later = min(((start, thread) for thread, start, _ in works if start >= time), default=None)
    if later is not None:
        return later[1], later[0]
    end, thread = max(((end, thread) for thread, _, end in works), default=(time, None))
    return None if thread is None else (thread, end)


def _creation(graph: WakeGraph, thread: int, start: int) -> Wake:
    time, by = graph.created.get(thread, (start, graph.at(start)))
    return Wake(thread, 0, max(0, start - time), _awake(graph, by, time), time)


def _awake(graph: WakeGraph, thread: int | None, time: int) -> int | None:
    """A thread, if it did not idle at an instant."""
    if thread is None or thread not in graph.idle:
        return thread
    return thread if time <= graph.runs[thread].ends[0] else None


def _wake(graph: WakeGraph, thread: int, run: int, woken: tuple[int, int, bool] | None) -> tuple[Wake, int | None]:
    """The wake-up before a run, and the thread in whose work it has its place; null where only time leads to it."""
    start = graph.runs[thread].starts[run]
    if woken is None:
        return Wake(thread, run, 0, None, start), None
    time, waker, by_interrupt = woken
    serves = thread in graph.kernel and graph.wait(thread, run - 1).of_main_loop
    if not by_interrupt and (serves or not _by_timer(graph, waker, time, graph.runs[thread].ends[run - 1])):
        return Wake(thread, run, start - time, waker, time), waker
    running = _awake(graph, graph.at(time + 1), time)
    if running is None:
        # The processor idled: it left the idle thread when it was able to.
        idle = graph.at(time + 1)
        ends = [] if idle is None else graph.runs[idle].ends
        place = bisect_right(ends, time)
        time = min(start, ends[place]) if place < len(ends) else time
        return Wake(thread, run, start - time, None, time), None
    # What a thread of the kernel is asked to do from an interrupt follows from the work at hand, not from the time.
    return Wake(thread, run, start - time, None, time), running if serves and running != thread else None


def _by_timer(graph: WakeGraph, waker: int, time: int, since: int) -> bool:
    """Whether a thread of the kernel that wakes another one does so because of an interrupt since an instant.

    A grace period of RCU ends so. The interrupt belongs to the thread that waits, and not to what the thread of the
    kernel did before.
    """
    for _ in range(_MOST_LINKS):
        if waker not in graph.kernel:
            return False
        runs = graph.runs[waker]
        run = bisect_right(runs.starts, time) - 1
        while run > 0 and graph.could_run(waker, run - 1):
            run -= 1
        woken = graph.wake(waker, run) if run > 0 and graph.wait(waker, run - 1).of_main_loop else None
        if woken is None or woken[0] < since:
            return False
        time, waker, by_interrupt = woken
        if by_interrupt:
            return True
    return False


def _actions(
    graph: WakeGraph, thread: int, sent: list[tuple[int, Wake | Reach]], after: dict[tuple[int, int], Wake]
) -> Iterator[Action]:
    runs, place = graph.runs[thread], 0
    last = 1 if thread in graph.idle else len(runs.starts)
    until = _next_events(graph, thread, last, after)
    for run in range(last):
        start, end = runs.starts[run], runs.ends[run]
        if run and graph.could_run(thread, run - 1):
            yield Turn(start - runs.ends[run - 1])
        elif run:
            yield Sleep(run, runs.ends[run - 1], start, after.get((thread, run)), until.get(run))
        at = start
        while place < len(sent) and (sent[place][0] <= end or run == last - 1):
            time, what = sent[place]
            yield from _work(at, min(max(at, time), end))
            at = min(max(at, time), end)
            yield what
            place += 1
        yield from _work(at, end)


def _next_events(graph: WakeGraph, thread: int, last: int, after: dict[tuple[int, int], Wake]) -> dict[int, int]:
    """The run that follows the next event from a thread, for each sleep in an event loop that an interrupt ended."""
    found, event = {}, None
    for run in reversed(range(1, last)):
        if graph.could_run(thread, run - 1) or graph.wait(thread, run - 1).reason not in _EVENT_LOOPS:
            continue
        if (thread, run) not in after:
            event = run
        elif event is not None:
            found[run] = event
    return found


def _work(start: int, end: int) -> Iterator[Action]:
    while end > start:
        yield Run(start, min(end, start + QUANTUM_NS))
        start += QUANTUM_NS
        if end > start:
            yield Turn(0)
