"""Imports a record and compares what comes out with the truth of its boot."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import median_low

import polars as pl

import firstlight
from corpus.cases import Case
from corpus.figures import Figure, Tally
from corpus.lines import Line, as_bytes
from corpus.truth import Initcall, Truth
from firstlight.api import Boot, import_all
from firstlight.errors import FirstlightError
from firstlight.schema.spans import Grade

#: Marks that one message sets, and how it begins.
_MARKS = {
    "kernel_start": "Linux version ",
    "clocksource_switch": "clocksource: Switched to clocksource ",
    "user_start": "Run ",
}
#: Any of these begins userspace, in this order.
_USER_MARKS = ("user_start", "initramfs_start", "userspace_start", "userspace")
#: Phases of the kernel; that of userspace is not among them.
_KERNEL_PHASES = ("free_init_memory", "run_init", "initcalls", "initcall_late", "early_init", "kernel_init")
#: How far a duration of a grade may be from the truth: in steps of the record's times, or as a share of the truth.
_PROMISES = {Grade.EXACT: (3, 0.01), Grade.GOOD: (3, 0.05), Grade.COARSE: (3, 0.0)}
_GAPS = 5
#: Formats of programs that stamp each line of a console.
_HOST_STAMPED = ("grabserial", "ts")


@dataclass(frozen=True)
class _Shown:
    """What a record shows of one boot."""

    truth: Truth
    lines: tuple[Line, ...]
    step_us: int | None
    has_host_times: bool
    """Whether the host stamped each line, too."""

    @cached_property
    def messages(self) -> frozenset[int]:
        """The messages that are shown as they were."""
        return frozenset(line.message for line in self.lines if line.is_intact and line.message is not None)


def score(case: Case, truth: Truth, directory: Path) -> Tally:
    """Import a case with the public interface and compare.

    :param directory: where the record and the bundles are written.
    """
    record = directory / "record.log"
    record.write_bytes(as_bytes(case.lines))
    numbers = sorted({line.boot for line in case.lines})
    tally = Tally()
    try:
        written = import_all([record], output=directory / "record.boot", split=True, force=True)
    except FirstlightError as error:
        tally.count(Figure.BOOTS, [(False, f"not imported: {error.message.splitlines()[0]}")])
        return tally
    tally.count(Figure.BOOTS, [(len(written) == len(numbers), f"{len(written)} boots, not {len(numbers)}")])
    for number, bundle in zip(numbers, written, strict=False):
        lines = tuple(line for line in case.lines if line.boot == number)
        _compare(firstlight.open(bundle.path), _Shown(truth, lines, case.step_us, case.format in _HOST_STAMPED), tally)
    return tally


def _compare(boot: Boot, shown: _Shown, tally: Tally) -> None:
    shift_ns, messages = _aligned(boot, shown)
    tally.count(Figure.MESSAGES, messages)
    tally.count(Figure.INITCALLS, _initcalls(boot, shown))
    tally.count(Figure.GRADED, _graded(boot, shown))
    tally.count(Figure.PROBES, _probes(boot, shown, deferred=False))
    tally.count(Figure.DEFERRALS, _probes(boot, shown, deferred=True))
    if shown.step_us is None or shift_ns is None:
        return
    tally.count(Figure.MARKS, _marks(boot, shown, shift_ns))
    tally.count(Figure.USERSPACE, [_userspace(boot, shown, shift_ns)])
    tally.count(Figure.USERSPACE_KNOWN, _userspace_known(boot, shown))
    tally.count(Figure.USERSPACE_SURE, _userspace_sure(boot, shown))
    tally.count(Figure.GAPS, _gaps(boot, shown))
    tally.count(Figure.LENGTH, _length(boot, shown))


def _aligned(boot: Boot, shown: _Shown) -> tuple[int | None, list[tuple[bool, str]]]:
    """What the bundle's clock is ahead of the stamps by, and each message with whether the log has it at its time."""
    logged: dict[str, list[int | None]] = defaultdict(list)
    for text, time_ns in boot.log().select("text", "time_ns").iter_rows():
        logged[text.strip()].append(time_ns)
    found: list[tuple[int, int | None, bool]] = []
    for number in sorted(shown.messages):
        times = logged[shown.truth.messages[number].text.strip()]
        found.append((number, times.pop(0), True) if times else (number, None, False))
    ahead = [
        time_ns - stamp_us * 1000
        for number, time_ns, _ in found
        if time_ns is not None and (stamp_us := shown.truth.messages[number].stamp_us) is not None
    ]
    shift_ns = median_low(ahead) if ahead else None
    rows = []
    for number, time_ns, is_there in found:
        stamp_us = shown.truth.messages[number].stamp_us
        timed = shown.step_us is not None and stamp_us is not None and shift_ns is not None
        off_ns = None if time_ns is None or not timed else time_ns - shift_ns - stamp_us * 1000  # type: ignore[operator]
        right = is_there and (not timed or (off_ns is not None and abs(off_ns) <= 2000 * (shown.step_us or 0)))
        text = shown.truth.messages[number].text[:60]
        rows.append((right, f"`{text}` is {'missing' if not is_there else f'off by {off_ns} ns'}"))
    return shift_ns, rows


def _pairs(boot: Boot, shown: _Shown) -> Iterator[tuple[Initcall, tuple[int | None, str] | None]]:
    """The initcalls of which both messages are there, each with duration and grade of the import."""
    frame = boot.initcalls()
    found: dict[str, list[tuple[int | None, str]]] = defaultdict(list)
    for name, took, grade in frame.select("function", "duration_ns", "grade").iter_rows():
        found[name].append((took, grade))
    for call in shown.truth.initcalls:
        is_shown = call.calling in shown.messages and call.returned in shown.messages
        if call.returned in shown.messages or call.calling in shown.messages:
            rows = found[call.name]
            row = rows.pop(0) if rows else None
            if is_shown:
                yield call, row


def _initcalls(boot: Boot, shown: _Shown) -> Iterator[tuple[bool, str]]:
    for call, row in _pairs(boot, shown):
        right = row is not None and keeps_promise(row[0], row[1], call.duration_ns, shown.step_us or 1)
        words = "is missing" if row is None else f"took {row[0]} ns, {row[1]}; it took {call.duration_ns} ns"
        yield right, f"{call.name} {words}"


def keeps_promise(took_ns: int | None, grade: str, true_ns: int, step_us: int) -> bool:
    """Whether a duration is as near the truth as its grade promises; what promises nothing keeps it.

    >>> keeps_promise(1_000_000, "exact", 1_004_000, 1), keeps_promise(1_000_000, "coarse", 1_004_000, 1)
    (True, False)
    >>> keeps_promise(20_000, "bounded", 4, 1), keeps_promise(None, "unknown", 4, 1)
    (True, True)
    """
    if took_ns is None:
        return grade == Grade.UNKNOWN
    if grade == Grade.BOUNDED:
        return true_ns <= took_ns + step_us * 1000
    if grade not in _PROMISES:
        return True
    steps, share = _PROMISES[Grade(grade)]
    return abs(took_ns - true_ns) <= max(steps * step_us * 1000, share * true_ns)


def _graded(boot: Boot, shown: _Shown) -> Iterator[tuple[bool, str]]:
    for call, row in _pairs(boot, shown):
        yield row is not None and row[1] not in (Grade.DOUBTFUL, Grade.UNKNOWN), f"{call.name}: {row}"


def _probes(boot: Boot, shown: _Shown, *, deferred: bool) -> Iterator[tuple[bool, str]]:
    found: dict[str, list[int | None]] = defaultdict(list)
    spans = boot.spans()
    for name, took in spans.filter(spans["kind"] == "probe").sort("span").select("name", "duration_ns").iter_rows():
        found[name].append(took)
    for probe in shown.truth.probes:
        if probe.message in shown.messages:
            rows = found[probe.device]
            took = rows.pop(0) if rows else None
            if probe.is_deferred == deferred:
                yield took == probe.duration_us * 1000, f"{probe.device} took {took} ns, not {probe.duration_us} us"


def _first(truth: Truth, messages: frozenset[int], beginning: str) -> int | None:
    """The stamp of the first message of the boot that begins so, if the record has it."""
    number = next((n for n, one in enumerate(truth.messages) if one.text.startswith(beginning)), None)
    return truth.messages[number].stamp_us if number is not None and number in messages else None


def _marks(boot: Boot, shown: _Shown, shift_ns: int) -> Iterator[tuple[bool, str]]:
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    for mark, beginning in _MARKS.items():
        stamp_us = _first(shown.truth, shown.messages, beginning)
        if stamp_us is not None:
            off_ns = None if mark not in marks else marks[mark] - shift_ns - stamp_us * 1000
            right = off_ns is not None and abs(off_ns) <= 2000 * (shown.step_us or 1)
            yield right, f"{mark} is {'missing' if off_ns is None else f'off by {off_ns} ns'}"


def _userspace(boot: Boot, shown: _Shown, shift_ns: int) -> tuple[bool, str]:
    """Right within 1 %, within the stated bounds, or unknown: no mark, and no phase of the kernel beyond it."""
    user_ns = shown.truth.user_us * 1000
    said = _user_mark(boot)
    if said is not None:
        begins, sure, by_ns = said
        off = (begins - shift_ns - user_ns) / user_ns
        step_ns = 2000 * (shown.step_us or 1)
        if sure:
            return abs(off) <= 0.01, f"begins {off:+.1%} off"
        late = by_ns is not None and by_ns - shift_ns < user_ns - step_ns
        words = f"is bounded {off:+.1%} off, by {by_ns}"
        return begins - shift_ns <= user_ns + step_ns and not late, words
    for phase, end_ns in boot.phases().select("phase", "end_ns").iter_rows():
        if phase in _KERNEL_PHASES and end_ns is not None and end_ns - shift_ns > 1.01 * user_ns:
            return False, f"`{phase}` lasts {(end_ns - shift_ns) / user_ns - 1:.1%} beyond it"
    return True, ""


def _user_mark(boot: Boot) -> tuple[int, bool, int | None] | None:
    """When userspace began, whether the import is sure of it, and by when it began, if anything bounds it."""
    marks = dict(boot.marks().select("mark", "time_ns").iter_rows())
    at = next((marks[mark] for mark in _USER_MARKS if mark in marks), None)
    if at is None:
        return None
    phases = boot.spans().filter((pl.col("kind") == "phase") & (pl.col("start_ns") == at))
    for grade, attributes in phases.select("grade", "attributes").iter_rows():
        by_ns = json.loads(attributes or "{}").get("began_by_ns")
        return at, grade != Grade.BOUNDED, None if by_ns is None else int(by_ns)
    return at, True, None


def _userspace_known(boot: Boot, shown: _Shown) -> Iterator[tuple[bool, str]]:
    if _first(shown.truth, shown.messages, "Run /") is not None:
        yield not set(_USER_MARKS).isdisjoint(boot.marks()["mark"].to_list()), "its line is there, its mark is not"


def _userspace_sure(boot: Boot, shown: _Shown) -> Iterator[tuple[bool, str]]:
    if _first(shown.truth, shown.messages, "Run /") is not None:
        said = _user_mark(boot)
        yield said is not None and said[1], "no line shows it to 1 %"


def _length(boot: Boot, shown: _Shown) -> Iterator[tuple[bool, str]]:
    """No shorter than the messages of the kernel are apart, and no longer than the host saw the boot last."""
    messages = shown.truth.messages
    stamps = [us for number in shown.messages if (us := messages[number].stamp_us) is not None]
    # What returned was called before, even where the record begins later.
    called = (messages[call.calling].stamp_us for call in shown.truth.initcalls if call.returned in shown.messages)
    host = [line.host_us for line in shown.lines if line.message is not None or line.host_us]
    least_us, most_us = max(stamps) - min(stamps), max(host) - min([*host, *(us for us in called if us is not None)])
    total_ns = boot.manifest.totals.virtual_ns or 0
    right = 990 * least_us <= total_ns <= 1010 * most_us
    yield right, f"{total_ns} ns, not {least_us} to {most_us} us"


def _gaps(boot: Boot, shown: _Shown) -> Iterator[tuple[bool, str]]:
    said = boot.gaps(explained=0).drop_nulls(["line_before", "line_after"])["gap_ns"].to_list()
    for gap_us in _silences_us(shown):
        near = min(said, key=lambda one: abs(one - gap_us * 1000), default=None)
        right = near is not None and abs(near - gap_us * 1000) <= 2000 * (shown.step_us or 1)
        yield right, f"{gap_us} us are silent; the nearest gap is {near} ns"
        if right:
            said.remove(near)


def _silences_us(shown: _Shown) -> list[int]:
    """The longest, between neighbours that are both undamaged: a damaged line may still divide a silence.

    So does a line of a program that the host stamped.
    """
    stamps = sorted((us, line.is_intact) for line in shown.lines if (us := _at_us(shown, line)) is not None)
    both = (later[0] - earlier[0] for earlier, later in pairwise(stamps) if earlier[1] and later[1])
    return sorted(both, reverse=True)[:_GAPS]


def _at_us(shown: _Shown, line: Line) -> int | None:
    """When a line was printed, as far as the record shows it: by the kernel's stamp, or by the host's of userspace."""
    stamp_us = None if line.message is None else shown.truth.messages[line.message].stamp_us
    if stamp_us is None and shown.has_host_times and line.host_us >= shown.truth.user_us:
        return line.host_us
    return stamp_us
