"""Evidence in the kernel's log: a line, a silence after it, and a time that a line states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from firstlight.advise.contexts import Stretch, merged
from firstlight.advise.entry import EntryEvidence
from firstlight.advise.evidence_text import shown, takes
from firstlight.advise.observed import LogLine, Observed
from firstlight.advise.price import Held, price

Found = tuple[str, Held] | None
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*(us|ms|s|seconds)")
_UNITS = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "seconds": 1_000_000_000}


def silence(observed: Observed, item: EntryEvidence) -> Found:
    """The time after a line of the log, until the next line or until a line that ends it."""
    before = re.compile(item.gap or "")
    until = re.compile(item.until) if item.until else None
    parts: list[Stretch] = []
    texts = []
    for line in observed.log:
        if line.time_ns is None or not before.search(line.text):
            continue
        after = (
            LogLine(observed.next_line(line.time_ns), "") if until is None else _first(observed, until, line.time_ns)
        )
        if after is not None and after.time_ns is not None:
            parts.append((line.time_ns, after.time_ns))
            texts.append((line.text, after.text))
    if not parts:
        return None
    held = Held(parts=_before_goal(observed, parts))
    ns = price(observed, held).ns
    begin, end = map(shown, texts[0])
    if until is None:
        return f"after “{begin}” nothing is logged for {takes(observed, ns)}", held
    return f"from “{begin}” to “{end}” it takes {takes(observed, ns)}", held


def _first(observed: Observed, pattern: re.Pattern[str], after: int) -> LogLine | None:
    """The first line of a pattern after an instant."""
    lines = (line for line in observed.log if line.time_ns is not None and line.time_ns > after
             and pattern.search(line.text))  # fmt: skip
    return next(lines, None)


def stated_line(observed: Observed, item: EntryEvidence) -> Found:
    """A line of the log, and the time before it that it states itself."""
    pattern = re.compile(item.log or "")
    lines = [line for line in observed.log if pattern.search(line.text)]
    if item.after is not None:
        lines = [line for line in lines if line.time_ns is not None and line.time_ns >= item.after]
    if len(lines) < (item.count or 1):
        return None
    more = f" and {len(lines) - 1:,} more lines" if len(lines) > 1 else ""
    parts = _before_goal(observed, _stated(lines, item.takes)) if item.takes else ()
    return f"the log has “{shown(lines[0].text)}”{more}", Held(parts=parts)


def _stated(lines: Sequence[LogLine], time: str) -> Iterator[Stretch]:
    """The intervals that end at lines and have the length that the lines state."""
    pattern = re.compile(time)
    for line in lines:
        match = pattern.search(line.text)
        if match is not None and match[1] is not None and line.time_ns is not None:
            yield max(0, line.time_ns - _stated_ns(match[1])), line.time_ns


def _before_goal(observed: Observed, parts: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Intervals without overlaps, cut at the end of the path."""
    goal = observed.goal_ns
    return merged(parts if goal is None else ((low, min(high, goal)) for low, high in parts))


def _stated_ns(text: str) -> int:
    """The time in nanoseconds; 0 if the text is not a time."""
    match = _TIME.fullmatch(text)
    return 0 if match is None else round(float(match[1]) * _UNITS[match[2]])
