"""The critical path through a replay: what decided when the goal was reached then."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from firstlight.analysis.path.thread_names import Named, Programs
from firstlight.analysis.replay.processor import Ran, Replay
from firstlight.schema.spans import CallRow

#: The time on a path in which nothing ran.
IDLE = Named(CallRow.IDLE, None)


def charged(replay: Replay, begin: int, goal: int, programs: Programs) -> dict[Named, int]:
    """What the path to the goal consists of, by program, in nanoseconds: what the thread on the path executed, and what
    others executed while it could have run or slept until an interrupt. The rest of the time nothing ran: `IDLE`.

    :param begin: when the replay began; what was before is not on the path.
    """
    ran = [each for each in replay.ran if each.start < goal]
    starts = [each.start for each in ran]
    own: dict[int, list[Ran]] = {}
    for each in ran:
        own.setdefault(each.thread, []).append(each)
    took: dict[Named, int] = {}

    def charge(each: Ran, ns: int) -> None:
        named = programs.at(each.thread, each.recorded)
        took[named] = took.get(named, 0) + ns

    def others(start: int, end: int) -> None:
        """What executed between two instants."""
        for each in ran[max(0, bisect_right(starts, start) - 1) : bisect_left(starts, end)]:
            if (ns := min(end, each.end) - max(start, each.start)) > 0:
                charge(each, ns)

    at = goal
    current = ran[-1] if ran else None
    seen: set[int] = set()
    # Work that was taken out takes no time, so that time alone does not show where the walk was.
    while current is not None and at > begin and id(current) not in seen:
        seen.add(id(current))
        charge(current, max(0, min(at, current.end) - current.start))
        at = min(at, current.start)
        woken, mine = current.woken, own[current.thread]
        place = bisect_left(mine, current.start, key=lambda each: each.start)
        before = mine[place - 1] if place else None
        if woken is None or woken.by is None:
            # It waited for its turn, or for an interrupt.
            others(before.end if before else begin, at)
            current = before
            at = before.end if before else begin
            continue
        others(current.woken_at, at)
        at = current.woken_at
        by = own.get(woken.by, [])
        place = bisect_right(by, at, key=lambda each: each.start) - 1
        if place < 0:
            break
        current = by[place]
        if current.end < at:
            others(current.end, at)
            at = current.end
    took[IDLE] = goal - begin - sum(took.values())
    return took
