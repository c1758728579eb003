"""Turns the evidence of one run into the tables of its bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from firstlight import _core
from firstlight.bundle.manifest import Invariant, Totals
from firstlight.bundle.processes_missing import processes_missing_text
from firstlight.bundle.writer import write_table
from firstlight.lab.guest.report import Report, facts_from_report
from firstlight.lab.qemu.command_line import RunFiles
from firstlight.lab.run.guest_code import guest_code
from firstlight.recipe.recipe import Recipe
from firstlight.schema.marks import Mark, MarkSource
from firstlight.schema.spans import SpanKind


@dataclass(frozen=True)
class Attributed:
    """What the tables of a boot say altogether."""

    totals: Totals
    origin: str = Mark.POWER_ON
    invariants: dict[str, Invariant] = field(default_factory=dict)
    versions: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What the tables lack although the recording is complete."""


def tables_from_profile(
    recipe: Recipe, files: RunFiles, report: Report, bundle: Path, *, cut_log: bool = False
) -> Attributed:
    """Write the tables that a profile gives: all but the facts.

    :param cut_log: leave out what the guest printed after the profile was frozen: where the launcher ends the guest,
        how much that is depends on the host. Such lines have no time.
    :raises FirstlightError: when the profile is damaged.
    """
    modules = report.records.get("kallsyms.modules")
    listing = files.directory / "kallsyms.modules"
    if modules is not None:
        listing.write_bytes(modules)
    try:
        with guest_code(recipe, files.profile) as code:
            profile = _core.convert_profile(
                str(files.profile), str(files.console), str(listing) if modules is not None else None, str(bundle), code
            )
        _core.pack_profile(str(files.profile))
    finally:
        listing.unlink(missing_ok=True)
    if cut_log:
        leave_out_what_came_after(bundle)
    return Attributed(
        totals=Totals(instructions=profile.instructions, virtual_ns=profile.virtual_ns, idle_ns=profile.idle_ns),
        invariants={name: Invariant(**figures) for name, figures in profile.invariants},
        versions={"clock": profile.clock, "plugin_api": profile.plugin_api},
        notes=[processes_missing_text(profile.processes_missing)] if profile.processes_missing else [],
    )


def leave_out_what_came_after(bundle: Path) -> None:
    """Leave out of the log the lines behind the last one with a time: the guest printed them after the freeze."""
    from firstlight.bundle.tables import read_table  # late: see `firstlight.lab.run.record`

    log = read_table(bundle, "log")
    timed = log["time_ns"].is_not_null().arg_true()
    kept = log.head(int(timed[-1]) + 1 if timed.len() else 0)
    write_log(list(kept.select("time_ns", "text").iter_rows()), bundle)


def tables_from_guest(
    report: Report, console: bytes, bundle: Path, shift: int, ready_pattern: str | None = None
) -> Attributed:
    """Write the tables of a boot without profile: from the guest's report, and the console without times.

    The guest reads the time stamp counter one instruction after its mark. QEMU lets it count the nanoseconds of virtual
    time from power on, so that the mark has the same time as it has with a profile.

    :param shift: one instruction takes ``2**shift`` nanoseconds.
    :param ready_pattern: what ended the recording, if it was a line of the console. Nobody stamps that line then, so
        the mark is the guest's own, which comes later, and says so.
    """
    stamp = report.records.get("ready.tsc", b"").strip()
    ready = int(stamp) - (1 << shift) if stamp.isdigit() else None
    marks = []
    if ready is not None:
        detail = "time stamp counter at the guest's own mark"
        if ready_pattern is not None:
            detail += f", which comes after the line that matched `{ready_pattern}`"
        marks = [(Mark.POWER_ON, 0, MarkSource.RESET, ""), (Mark.READY, ready, MarkSource.GUEST, detail)]
    write_marks(marks, bundle)
    write_log([(None, line) for line in console_lines(console)], bundle)
    write_without_rows(bundle)
    return Attributed(Totals(instructions=None, virtual_ns=ready, idle_ns=None))


def tables_from_console(console: Path, report: Report, bundle: Path) -> list[tuple[str, str]]:
    """Add to the spans and links what the kernel says itself: probes, units, the names of modules' initcalls.

    It says so on the console, and more of it in its ring, where the guest reported that. Of the console only lines with
    an instant in the table of the log count, so that what comes after the recording does not.

    :returns: the facts of the console that no report has.
    :raises FirstlightError: when a table is damaged.
    """
    return _core.add_console(str(console), report.records.get("kmsg"), str(bundle))


def tables_from_systemd(report: Report, bundle: Path) -> list[tuple[str, str]]:
    """Replace the units of the console by those that systemd reported after the mark.

    :returns: the facts of the report, among them how its clock is aligned to the boot's; none without such a report.
    :raises FirstlightError: when a table is damaged.
    """
    shown = report.records.get("systemd.show")
    if shown is None:
        return []
    return _core.add_units(shown, report.text("clocks") or "", str(bundle))


def write_kept(report: Report, directory: Path) -> None:
    """Write what the guest's own programs left: files below ``kept/``; no folder where there is nothing.

    :param directory: of the raw evidence.
    """
    kept = report.kept()
    if kept:
        (directory / "guest-files").mkdir(mode=0o700)
    for name, content in kept.items():
        (directory / "guest-files" / name).write_bytes(content)


def write_marks(marks: Sequence[tuple[str, int, str, str]], bundle: Path) -> None:
    """Write marks (name, time in ns, source, detail), and the phases between them."""
    write_rows("marks", ("mark", "time_ns", "source", "detail"), marks, bundle)
    write_rows(
        "spans",
        ("span", "kind", "name", "track", "start_ns", "end_ns", "duration_ns", "grade", "source"),
        [
            (number, SpanKind.PHASE, name, "boot", begin, end, end - begin, "good", source)
            for number, ((name, begin, _, _), (_, end, source, _)) in enumerate(pairwise(marks))
        ],
        bundle,
    )


def write_log(lines: Sequence[tuple[int | None, str]], bundle: Path) -> None:
    """Write console lines with the time of their first byte in ns, where it is known."""
    rows = [(number, time, "console", text) for number, (time, text) in enumerate(lines)]
    write_rows("log", ("line", "time_ns", "source", "text"), rows, bundle)


def ready_time(bundle: Path) -> int | None:
    """When the boot was ready, in ns of its clock; nothing for one that was not."""
    from firstlight.bundle.tables import read_table  # late: see `firstlight.lab.run.record`

    marks = read_table(bundle, "marks")
    return dict(zip(marks["mark"], marks["time_ns"], strict=True)).get(Mark.READY)


def write_facts(report: Report, bundle: Path, more: Sequence[tuple[str, str]] = ()) -> None:
    """Write the facts: what the guest reported, and what the log, written before, says.

    :param more: further facts. The guest and the log take precedence for equal names.
    """
    from firstlight.bundle.tables import read_table  # late: see `firstlight.lab.run.record`

    facts = facts_from_report(report, "\n".join(read_table(bundle, "log")["text"]))
    known = {name for name, _ in facts}
    facts = sorted([*facts, *(fact for fact in more if fact[0] not in known)])
    write_rows("facts", ("fact", "value"), facts, bundle)


def write_without_rows(bundle: Path) -> None:
    """Write the tables that only a profile could fill."""
    profile = (
        "calls",
        "phase_calls",
        "slices",
        "slice_calls",
        "counters",
        "links",
        "kd",
        "threads",
        "thread_names",
        "runs",
    )
    sliced = ("slice_threads", "slice_system_calls", "slice_user_functions")
    for table in (*profile, *sliced, "processes", "images", "wakeups", "system_calls", "user_functions"):
        write_rows(table, (), (), bundle)


def write_rows(table: str, columns: Sequence[str], rows: Sequence[Sequence[object]], bundle: Path) -> None:
    """Write rows; columns of the table that are not given are null."""
    places = {column: place for place, column in enumerate(columns)}
    names = [name for name, _, _ in dict(_core.table_schemas())[table]]
    write_table(
        table, {name: [row[places[name]] if name in places else None for row in rows] for name in names}, bundle
    )


def console_lines(console: bytes) -> list[str]:
    """The lines of a console, without their ends; invalid UTF-8 is replaced, escapes stay.

    >>> console_lines(b"one\\r\\ntwo \\xff")
    ['one', 'two �']
    """
    lines = console.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.rstrip(b"\r").decode(errors="replace") for line in lines]
