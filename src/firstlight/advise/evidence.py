"""Whether a boot shows an item of evidence, its text, and the time that it locates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from firstlight.advise.contexts import Stretch, merged, without
from firstlight.advise.entry import EntryEvidence, Only
from firstlight.advise.evidence_of_log import silence, stated_line
from firstlight.advise.evidence_text import names_text, shown, takes
from firstlight.advise.observed import Observed, ObservedRow
from firstlight.advise.price import NOTHING, Held, Portion, Turn, price
from firstlight.quantities import counted, time_text


@dataclass(frozen=True)
class Seen:
    """An item of evidence that a boot shows."""

    item: EntryEvidence
    text: str
    """The observation, in one sentence without a full stop."""
    held: Held = NOTHING


def see(observed: Observed, item: EntryEvidence, but: Sequence[Stretch] = ()) -> Seen | None:
    """What a boot shows of an item; nothing where it does not, or where the boot's records do not show it.

    :param but: contexts that do not count for `least` and `share`.

    >>> import firstlight
    >>> seen = see(Observed(firstlight.open(bundle)), EntryEvidence(functions=("start_kernel",), least="2 ms"))
    >>> seen.text.startswith("`start_kernel`")
    True
    """
    found = _LOOKS[item.kind](observed, item)
    if found is None:
        return None
    text, held = found
    if item.least is not None or item.share is not None:
        remaining = replace(held, contexts=without(held.contexts, but)) if but else held
        ns = price(observed, remaining).ns
        if item.least is not None and ns < item.least:
            return None
        if item.share is not None and 100 * ns < item.share * observed.whole_ns:
            return None
    return Seen(item, text, held)


Found = tuple[str, Held] | None


def _functions(observed: Observed, item: EntryEvidence) -> Found:
    contexts = observed.contexts
    if contexts is None:
        return None
    look = contexts.alone if item.alone else contexts.below
    stretches, calls = look(item.functions, item.under, item.outside)
    if not stretches or calls < (item.count or 1):
        return None
    ran = [name for name in item.functions if contexts.below((name,), item.under, item.outside)[0]]
    held, why = Held(contexts=stretches), ""
    if item.beyond or item.part:
        found = _beyond(observed) if item.beyond else _part(observed, item)
        if found is None:
            return None
        part, why = found
        held = Held(portions=(Portion(stretches, part),))
    below = f" below `{item.under}`" if item.under else ""
    return f"{names_text(ran)}{below}: {takes(observed, price(observed, held).ns)}, {counted(calls, 'call')}{why}", held


def _beyond(observed: Observed) -> tuple[float, str] | None:
    """The share of the delays beyond the true loops per jiffy; none where the setting is not too large."""
    true, now = observed.true_lpj, _figure(observed.facts.get("kernel.lpj", ""))
    if true is None or now is None or now <= true:
        return None
    return 1 - true / now, f"; beyond what {true:,} loops per jiffy take instead of {now:,.0f}"


def _part(observed: Observed, item: EntryEvidence) -> tuple[float, str] | None:
    """The share of some devices among others."""
    some, every = (re.compile(pattern) for pattern in item.part or ("", ""))
    among = [name for name in observed.devices if every.search(name)]
    number = sum(some.search(name) is not None for name in among)
    if not number:
        return None
    return number / len(among), f"; the part of {number:,} of {len(among):,} devices"


def _initcall(observed: Observed, item: EntryEvidence) -> Found:
    pattern = re.compile(item.initcall or "")
    frame = observed.initcalls
    wanted = {name for name in frame["function"].unique() if pattern.search(name or "")}
    rows = frame.filter(pl.col("function").is_in(wanted, nulls_equal=True)).to_dicts() if wanted else []
    if len(rows) < (item.count or 1):
        return None
    names = [row["function"] for row in rows]
    if observed.contexts is not None:
        stretches, _ = observed.contexts.below(names, "do_one_initcall")
        if stretches:
            held = Held(contexts=stretches, waits=_waits_within(observed, rows))
            return f"initcall {names_text(names)}: {takes(observed, price(observed, held).ns)}", held
    spans = {row["span"] for row in rows}
    parts = _parts(observed, lambda part: part.span in spans)
    took = sum(row["duration_ns"] or 0 for row in rows)
    return f"initcall {names_text(names)}: {time_text(took)}", Held(parts=parts)


def _waits_within(observed: Observed, rows: Sequence[dict[str, Any]]) -> tuple[Stretch, ...]:
    """The sleeps of the path in the task of an initcall during the initcall."""
    found: list[Stretch] = []
    for row in rows:
        start, end = row["start_ns"], row["end_ns"]
        if start is not None and end is not None:
            found += [
                (max(start, part.start_ns), min(end, part.end_ns))
                for part in observed.rows
                if part.is_wait and part.start_ns < end and part.end_ns > start
            ]
    return merged(found)


def _process(observed: Observed, item: EntryEvidence) -> Found:
    pattern = re.compile(item.process or "")
    parent = re.compile(item.under) if item.under else None
    by_number = {each["process"]: each for each in observed.processes}
    found = [
        each["process"]
        for each in observed.processes
        if any(pattern.search(each[part] or "") for part in ("name", "image", "arguments"))
        and (parent is None or _is_child(by_number.get(each["parent"]), parent))
    ]
    if len(found) < (item.count or 1):
        return None
    every = set(found)
    if item.only is not Only.WAITS:
        todo = list(found)
        while todo:
            new = [child for child in observed.children.get(todo.pop(), ()) if child not in every]
            every.update(new)
            todo += new
    threads = {thread for thread, process in observed.thread_process.items() if process in every}
    names = {by_number[number]["name"] for number in every}
    if threads:
        waits = _parts(observed, lambda part: part.is_wait and part.thread in threads)
        held = Held(
            processes=frozenset() if item.only is Only.WAITS else frozenset(every),
            waits=() if item.only is Only.EXECUTION else waits,
        )
    else:
        parts = _parts(observed, lambda part: part.process in names or part.name in names)
        slept = _parts(observed, lambda part: part.is_wait) if item.only is Only.EXECUTION else ()
        held = Held(parts=without(parts, slept))
    ns = price(observed, held).ns
    shown = sorted({by_number[number]["image"] or by_number[number]["name"] for number in found})
    number = f"{len(found):,} processes, " if len(found) > 1 else "process "
    return f"{number}{names_text(shown)}: {takes(observed, ns)}", held


def _is_child(parent: dict[str, Any] | None, pattern: re.Pattern[str]) -> bool:
    return parent is not None and any(pattern.search(parent[part] or "") for part in ("name", "image", "arguments"))


def _call(observed: Observed, item: EntryEvidence) -> Found:
    frame = observed.calls.filter(pl.col("name").str.contains(item.call or ""))
    if item.by:
        frame = frame.filter(pl.col("image").fill_null("").str.contains(item.by))
    if item.path:
        frame = frame.filter(pl.col("path").fill_null("").str.contains(item.path))
    if item.then or item.loop:
        return _turns(observed, item, frame)
    if frame.height < (item.count or 1):
        return None
    rows = frame.select("thread", "start_ns", "end_ns", "image", "name").iter_rows()
    waits: list[Stretch] = []
    images, names = set(), set()
    sleeping = [part for part in observed.rows if part.is_wait]
    for thread, start, end, image, name in rows:
        images.add(image or "?")
        names.add(name)
        if end is not None and end > start:
            waits += [
                (max(start, part.start_ns), min(end, part.end_ns))
                for part in sleeping
                if part.thread == thread and part.start_ns < end and part.end_ns > start
            ]
    held = Held(waits=merged(waits))
    ns = price(observed, held).ns
    took = f", the path sleeps {takes(observed, ns)} in them" if ns else ""
    return f"{counted(frame.height, 'call')} of {names_text(sorted(names))} by {names_text(sorted(images))}{took}", held


def _turns(observed: Observed, item: EntryEvidence, calls: pl.DataFrame) -> Found:
    """What threads execute in calls with those that follow, or in the turns of a loop that have such calls."""
    every = observed.calls.filter(pl.col("thread").is_in(calls["thread"].unique().implode()))
    wanted = set(calls["call"].to_list())
    intervals = _followed(every, wanted, item.then) if item.then else _of_loop(every, wanted, item.loop or "")
    count = sum(map(len, intervals.values()))
    if not count or count < (item.count or 1):
        return None
    held = Held(turns=tuple(Turn(thread, merged(intervals[thread])) for thread in sorted(intervals)))
    images = calls.filter(pl.col("thread").is_in(list(intervals)))["image"].fill_null("?").unique().sort().to_list()
    what = f"`{shown(item.call or '')}` and then `{shown(item.then)}`" if item.then else f"turns with `{item.call}`"
    return f"{count:,} times {what} by {names_text(images)}: {takes(observed, price(observed, held).ns)}", held


def _followed(calls: pl.DataFrame, wanted: set[int], then: str) -> dict[int, list[Stretch]]:
    """From the beginning of a wanted call to the end of the next one of its thread, where that has the name."""
    follows = re.compile(then)
    begun: dict[int, int] = {}
    found: dict[int, list[Stretch]] = {}
    for call, thread, name, start, end in calls.select("call", "thread", "name", "start_ns", "end_ns").iter_rows():
        first = begun.pop(thread, None)
        if first is not None and follows.search(name):
            found.setdefault(thread, []).append((first, start if end is None else end))
        if call in wanted:
            begun[thread] = start
    return found


def _of_loop(calls: pl.DataFrame, wanted: set[int], loop: str) -> dict[int, list[Stretch]]:
    """The turns of a loop, each from one call of it to the next, that have a wanted call."""
    turns = re.compile(loop)
    begun: dict[int, int] = {}
    has: set[int] = set()
    found: dict[int, list[Stretch]] = {}
    for call, thread, name, start in calls.select("call", "thread", "name", "start_ns").iter_rows():
        if turns.search(name):
            if thread in has and thread in begun:
                found.setdefault(thread, []).append((begun[thread], start))
            begun[thread] = start
            has.discard(thread)
        if call in wanted:
            has.add(thread)
    return found


def _unit(observed: Observed, item: EntryEvidence) -> Found:
    if item.single:
        names = {row["unit"] for row in observed.units.iter_rows(named=True) if re.search(item.unit or "", row["unit"])}
        alone = [_units(observed, item, f"^{re.escape(name)}$") for name in sorted(names)]
        return max((each for each in alone if each), key=lambda each: price(observed, each[1]).ns, default=None)
    return _units(observed, item, item.unit or "")


def _units(observed: Observed, item: EntryEvidence, names_like: str) -> Found:
    pattern = re.compile(names_like)
    rows = [row for row in observed.units.iter_rows(named=True) if pattern.search(row["unit"])]
    names = {row["unit"] for row in rows}
    names |= {each["service"] for each in observed.processes if each["service"] and pattern.search(each["service"])}
    if item.state == "failed":
        names &= observed.failed_units | {row["unit"] for row in rows if row["state"] == "failed"}
    if len(names) < (item.count or 1):
        return None
    processes = frozenset(each["process"] for each in observed.processes if each["service"] in names)
    spans = {row["span"] for row in rows if row["unit"] in names}
    if processes and observed.thread_runs:
        waits = _parts(observed, lambda part: part.is_wait and part.service in names)
        held = Held(processes=processes, waits=waits)
    elif observed.thread_runs:
        # A device, mount or timer executes nothing: what it holds is what the path sleeps while it starts.
        own = [row for row in rows if row["unit"] in names and row["start_ns"] is not None]
        intervals = merged(
            (row["start_ns"], row["end_ns"] or row["start_ns"] + (row["duration_ns"] or 0)) for row in own
        )
        held = Held(waits=intervals)
    else:
        held = Held(parts=_parts(observed, lambda part: part.span in spans or part.service in names))
    ns = price(observed, held).ns
    failed = " failed" if item.state == "failed" else ""
    return f"unit {names_text(sorted(names))}{failed}: {takes(observed, ns)}", held


def _stage(observed: Observed, item: EntryEvidence) -> Found:
    pattern = re.compile(item.stage or "")
    parts = _parts(observed, lambda part: part.kind == "stage" and pattern.search(part.name) is not None)
    if not parts:
        return None
    held = Held(parts=parts)
    names = [part.name for part in observed.rows if part.kind == "stage" and pattern.search(part.name)]
    return f"systemd's stage {names_text(names)}: {takes(observed, price(observed, held).ns)}", held


def _devices(observed: Observed, item: EntryEvidence) -> Found:
    pattern = re.compile(item.devices or "")
    found = [name for name in observed.devices if pattern.search(name)]
    if len(found) < (item.count or 1):
        return None
    return f"{counted(len(found), 'device')} such as `{shown(found[0])}`", NOTHING


def _fact(observed: Observed, item: EntryEvidence) -> Found:
    pattern, value = re.compile(item.fact or ""), re.compile(item.value or "")
    for name, text in observed.facts.items():
        if pattern.search(name) and value.search(text) and _within(text, item):
            return f"`{shown(name)}` is `{shown(text)}`", NOTHING
    return None


def _kconfig(observed: Observed, item: EntryEvidence) -> Found:
    name = str(item.kconfig)
    if not observed.kconfig:
        return None
    now = observed.kconfig.get(name, "n")
    if not re.search(item.value or "^[ym]", now.strip('"')):
        return None
    return f"the kernel has `{name}={shown(now)}`", NOTHING


def _word(observed: Observed, item: EntryEvidence) -> Found:
    pattern = re.compile(item.word or "")
    for word in observed.words:
        match = pattern.fullmatch(word)
        if match is None:
            continue
        if item.above is None and item.below is None:
            return f"the command line has `{shown(word)}`", NOTHING
        if match.groups() and match[1] is not None and _within(match[1], item):
            return f"the command line has `{shown(word)}`", NOTHING
    return None


def _package(observed: Observed, item: EntryEvidence) -> Found:
    pattern = re.compile(item.package or "")
    found = next((name for name in observed.packages if pattern.search(name)), None)
    return None if found is None else (f"`{shown(found)}` is there", NOTHING)


def _within(text: str, item: EntryEvidence) -> bool:
    if item.above is None and item.below is None:
        return True
    figure = _figure(text)
    if figure is None:
        return False
    return (item.above is None or figure > item.above) and (item.below is None or figure < item.below)


_SCALES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def _figure(text: str) -> float | None:
    """A number with the kernel's letters of size.

    >>> _figure("64M"), _figure("0x10"), _figure("x")
    (67108864.0, 16.0, None)
    """
    match = re.fullmatch(r"(0x[0-9a-fA-F]+|\d+(?:\.\d+)?)([kKmMgG]?)", text.strip())
    if match is None:
        return None
    number = float(int(match[1], 16)) if match[1].startswith("0x") else float(match[1])
    return number * _SCALES[match[2].lower()]


def _parts(observed: Observed, wanted: Callable[[ObservedRow], bool]) -> tuple[Stretch, ...]:
    return merged((part.start_ns, part.end_ns) for part in observed.rows if wanted(part))


_LOOKS: dict[str, Callable[[Observed, EntryEvidence], Found]] = {
    "functions": _functions,
    "initcall": _initcall,
    "process": _process,
    "call": _call,
    "unit": _unit,
    "stage": _stage,
    "gap": silence,
    "log": stated_line,
    "devices": _devices,
    "fact": _fact,
    "kconfig": _kconfig,
    "word": _word,
    "package": _package,
}
