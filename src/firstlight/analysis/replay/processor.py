"""One processor runs the threads of a boot again, in the turns that the record shows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count

from firstlight.analysis.replay.script import Action, Reach, Run, Script, Sleep, Turn, Wake

#: How much of the work at a place of the record is left, in millionths, by thread.
Left = Callable[[int, int, int], int]
_ALL = 1_000_000


@dataclass(frozen=True)
class Ran:
    """A thread had the processor in the replay."""

    thread: int
    start: int
    end: int
    recorded: int
    """Where this work began in the record."""
    woken: Wake | None
    """What ended the thread's sleep before; null where it only waited for its turn."""
    woken_at: int
    """When it was able to run."""


@dataclass
class Replay:
    """What a replay gives."""

    reached: dict[str, int] = field(default_factory=dict)
    """When each mark was reached."""
    ran: list[Ran] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)
    """Threads that were able to go on when their record ended."""


class Processor:
    """A processor, the threads that can run, and the interrupts to come.

    The thread that can run and is due first runs. It is due as long after it became able to run as in the record: so
    the replay of all work is the record, and a thread that becomes able to run earlier runs earlier, too. A thread
    that becomes due takes the processor from another one; threads that are all due take turns of one tick.
    """

    def __init__(self, script: Script, left: Left, gone: Callable[[int, int], bool]) -> None:
        """:param left: how much of the work from one instant of the record to another a thread still has.
        :param gone: whether a thread's work at an instant of the record is taken out, and with it its waiting.
        """
        self._left, self._gone = left, gone
        self._script = replace(script, threads={thread: list(actions) for thread, actions in script.threads.items()})
        self._order = count()
        self._place = dict.fromkeys(script.threads, 0)
        self._due: dict[int, int] = {}
        self._woken: dict[int, tuple[Wake | None, int]] = {}
        self._asleep: dict[int, Sleep] = {}
        self._fired: set[tuple[int, int | None]] = set()
        self._clock: list[tuple[int, int, Wake]] = []
        self._now = script.begin
        self._replay = Replay()

    def run(self, goal: str) -> Replay:
        """Run until a mark is reached; without it in `reached` where the record does not lead there."""
        if self._script.first is not None:
            self._due[self._script.first] = self._now
        for wake in self._script.late:
            heappush(self._clock, (wake.time, next(self._order), wake))
        while goal not in self._replay.reached:
            self._fire(self._now)
            if not self._due:
                if not self._clock:
                    break
                self._now = max(self._now, self._clock[0][0])
                continue
            thread = min(self._due, key=lambda each: (self._due[each], each))
            del self._due[thread]
            self._dispatch(thread, goal)
        return self._replay

    def _fire(self, until: int) -> None:
        while self._clock and self._clock[0][0] <= until:
            time, _, wake = heappop(self._clock)
            self._wake(wake, time)

    def _wake(self, wake: Wake, time: int) -> None:
        self._fired.add((wake.thread, wake.run))
        if wake.run:
            asleep = self._asleep.get(wake.thread)
            if asleep is None or wake.run not in (asleep.run, asleep.until):
                return
            del self._asleep[wake.thread]
        if wake.thread in self._script.threads:
            self._due[wake.thread] = time if self._gone(wake.thread, wake.time + wake.lag) else time + wake.lag
            self._woken[wake.thread] = (wake, time)

    def _dispatch(self, thread: int, goal: str) -> None:
        """Let a thread run until it sleeps, ends, or another one takes the processor."""
        since, actions = self._now, self._script.threads[thread]
        while (place := self._place[thread]) < len(actions):
            action = actions[place]
            if isinstance(action, Run):
                if not self._execute(thread, action, since):
                    self._due[thread] = self._now
                    return
                self._place[thread] += 1
                continue
            self._place[thread] += 1
            if isinstance(action, Reach):
                self._replay.reached.setdefault(action.name, self._now)
                if action.name == goal:
                    return
            elif isinstance(action, Wake):
                self._wake(action, self._now)
                if self._due.get(action.thread) is not None and self._gone(action.thread, action.time + action.lag):
                    # What was taken out does what it did for others at once.
                    del self._due[action.thread]
                    self._dispatch(action.thread, goal)
            elif self._leaves(thread, action):
                return
        self._replay.ended.add(thread)

    def _leaves(self, thread: int, action: Action) -> bool:
        """Whether a thread leaves the processor: to sleep, or for its next turn."""
        if isinstance(action, Turn):
            self._due[thread] = self._now + action.lag
            self._woken.pop(thread, None)
            return True
        if not isinstance(action, Sleep) or (self._gone(thread, action.start) and self._gone(thread, action.end)):
            return False
        if not self._fired.isdisjoint(((thread, action.run), (thread, action.until))):
            return False
        self._asleep[thread] = action
        if (wake := action.after) is not None:
            heappush(self._clock, (self._now + wake.time - action.start, next(self._order), wake))
        return True

    def _execute(self, thread: int, action: Run, since: int) -> bool:
        """Do work; false where another thread became due before its end: the rest stays to be done."""
        whole = self._left(thread, action.start, action.end)
        wake, woken_at = self._woken.pop(thread, (None, self._now))
        start = self._now
        while True:
            end = start + whole
            due = min((each for each in self._due.values() if each > since), default=None)
            until = end if due is None else min(end, max(due, self._now))
            if self._clock and self._clock[0][0] < until:
                self._now = max(self._now, self._clock[0][0])
                self._fire(self._now)
                continue
            break
        self._now = until
        if until > start or not whole:
            self._replay.ran.append(Ran(thread, start, until, action.start, wake, woken_at))
        elif until < end:
            self._woken[thread] = (wake, woken_at)
        if until < end:
            rest = self._rest(thread, action, until - start)
            self._script.threads[thread][self._place[thread]] = Run(rest, action.end)
        return until >= end

    def _rest(self, thread: int, action: Run, done: int) -> int:
        """Where in the record the work goes on after a part of it was done."""
        low, high = action.start, action.end
        while low < high:
            middle = (low + high) // 2
            if self._left(thread, action.start, middle) < done:
                low = middle + 1
            else:
                high = middle
        return low


@dataclass(frozen=True)
class Cut:
    """Work of which a part is left, in millionths, between two instants of the record."""

    start: int
    end: int
    left: int


class Work:
    """The work of a boot's threads after it was cut."""

    def __init__(self, cuts: dict[int, list[Cut]]) -> None:
        """:param cuts: by thread; where several overlap, each takes its part of what the others leave."""
        self._edges: dict[int, list[int]] = {}
        self._shares: dict[int, list[int]] = {}
        for thread, own in cuts.items():
            edges = sorted({edge for cut in own for edge in (cut.start, cut.end)})
            shares = []
            for edge in edges:
                share = _ALL
                for cut in own:
                    if cut.start <= edge < cut.end:
                        share = share * cut.left // _ALL
                shares.append(share)
            self._edges[thread], self._shares[thread] = edges, shares

    def left(self, thread: int, start: int, end: int) -> int:
        """What is left of the work between two instants, in nanoseconds."""
        edges = self._edges.get(thread)
        if edges is None:
            return end - start
        shares, total, at = self._shares[thread], 0, start
        place = bisect_right(edges, start) - 1
        while at < end:
            until = min(end, edges[place + 1]) if place + 1 < len(edges) else end
            total += (until - at) * (shares[place] if place >= 0 else _ALL)
            at, place = until, place + 1
        return total // _ALL

    def gone(self, thread: int, time: int) -> bool:
        """Whether nothing is left of a thread's work at an instant."""
        edges = self._edges.get(thread)
        if edges is None:
            return False
        place = bisect_right(edges, time) - 1
        return place >= 0 and self._shares[thread][place] == 0
