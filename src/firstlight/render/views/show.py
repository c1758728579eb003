"""A whole boot on one or two screens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from firstlight.analysis.doubtful import doubt_of, with_share
from firstlight.analysis.functions import NO_FUNCTION
from firstlight.analysis.hot_functions import hot_functions, no_functions
from firstlight.analysis.ledger.costs import machine_costs
from firstlight.analysis.loader_record import reported_by_loader
from firstlight.analysis.partial_sums import known, together, whole
from firstlight.bundle.boot import Boot
from firstlight.bundle.command_line import unread
from firstlight.bundle.describe import between, clock_text, kernel_text
from firstlight.bundle.machine import cpu_text, features_left_out
from firstlight.bundle.manifest import BootState
from firstlight.bundle.phase_bounds import INFERRED
from firstlight.bundle.reliability import broken, broken_text
from firstlight.escape import printable
from firstlight.quantities import count_text, share, share_text, time_text
from firstlight.recipe.mode import RecordMode
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import Block, Heading, Line, pairs
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.heading import grade_column, grade_lines
from firstlight.render.views.histograms import histograms_report
from firstlight.render.views.machine_costs import machine_column, machine_costs_table, machine_data
from firstlight.render.views.reliability import reliability_report
from firstlight.render.views.row_names import RowNames
from firstlight.render.views.sources import sources_report, trust_report
from firstlight.schema.marks import Mark, Phase

# A userspace has a row for every program that ran.
_MOST_ROWS = 15
_BAR = 20
_LONGEST = 400
_STATE_STYLES = {BootState.COMPLETE: "green", BootState.INCOMPLETE: "yellow", BootState.FAILED: "bold red"}


def why_no_marks(boot: Boot) -> str:
    """Why a boot has no marks, and so no phases and no time of its own."""
    manifest = boot.manifest
    if manifest.mode == RecordMode.EXACT and boot.calls().is_empty():
        return (
            "without a profile only the report of Firstlight's own guest has the duration of the boot, and there is "
            "no report; the kernel's own time stamps, if it printed them, are in `raw/console.log`"
        )
    if boot.marks().height:
        return "a phase needs two marks, but the evidence has only one"
    return "nothing in the evidence gives a mark"


def boot_report(boot: Boot, hot: int = 15) -> Iterable[Block]:
    """What the boot is, its totals, phases, marks and hot functions, and how far it can be trusted.

    :param hot: how many functions to show.
    :raises BundleError: when a table cannot be read; a damaged one is reported instead of half a boot.
    """
    boot.facts(), boot.phases(), boot.marks()
    return _report(boot, hot, None if boot.calls().is_empty() else boot.functions())


def _report(boot: Boot, hot: int, functions: pl.DataFrame | None) -> Iterator[Block]:
    yield from _identity(boot)
    if boot.manifest.sources:
        yield Heading("Records")
        yield from sources_report(boot.manifest)
    yield from _totals(boot)
    yield from _phases(boot)
    if boot.marks().height:
        yield _marks(boot)
    yield from _loader_record(boot)
    if functions is not None:
        if together(functions["self_ns"]) is None:
            yield _called(hot_functions(functions, hot), functions)
        else:
            costs = machine_costs(boot)
            marks = costs.marks if costs else {}
            yield from _functions(boot, "Hot functions, by self", hot_functions(functions, hot), functions, marks)
            yield from _functions(boot, "Rows that are not functions", no_functions(functions), functions, marks)
            if costs is not None and (costs.machine or costs.kernel):
                yield machine_costs_table(costs, clock_text(boot))
    yield from histograms_report(boot)
    # How far the figures can be trusted: by what checked the records, or the profile.
    yield from trust_report(boot.manifest) if boot.manifest.mode == RecordMode.IMPORTED else reliability_report(boot)


def _known(named: Iterable[tuple[str, str | None]]) -> list[Line]:
    return pairs((name, value and printable(value, _LONGEST)) for name, value in named)


def _identity(boot: Boot) -> Iterator[Block]:
    manifest = boot.manifest
    facts = boot.fact_values()
    status = (manifest.state, _STATE_STYLES[manifest.state])
    spans: list[tuple[str, str]] = [(str(boot.directory), "bold"), (f"  {manifest.mode} mode, ", ""), status]
    if (broken := broken_text(manifest)) is not None:
        spans += [(", ", ""), (f"NOT RELIABLE: {broken}", "bold red")]
    yield Line(spans)
    shift = manifest.clock.icount_shift
    rate = "" if shift is None else f", one instruction takes {2**shift} ns"
    parts = [manifest.recipe_text("machine"), cpu_text(boot), manifest.recipe_text("memory")]
    root = manifest.recipe_text("rootfs") or manifest.recipe_text("initrd")
    yield from _known(
        [
            ("kernel", kernel_text(boot)),
            ("command line", facts.get("kernel.command_line") or manifest.recipe_text("command_line")),
            ("unread", "; ".join(f"{word.text}: {word.detail}" for word in unread(boot.command_line_words()))),
            ("userspace", None if manifest.mode == RecordMode.IMPORTED else root or "Firstlight's minimal guest"),
            ("machine", ", ".join(part for part in parts if part)),
            ("emulator", str(manifest.versions.get("qemu") or "")),
            ("clock", f"{clock_text(boot)} in nanoseconds from {manifest.clock.origin}{rate}"),
        ]
    )
    if manifest.failure is not None:
        yield Heading(f"Failed: {manifest.failure.reason.replace('_', ' ')}")
        yield Line(printable(manifest.failure.detail, _LONGEST), head="  ", indent=2)
        for text in manifest.failure.console_tail:
            yield Line("  | " + printable(text, 200), "dim", cut=True)


def _totals(boot: Boot) -> Iterator[Block]:
    totals = boot.manifest.totals
    part = share_text(totals.idle_ns, totals.virtual_ns)
    idle = "-" if totals.idle_ns is None else f"{time_text(totals.idle_ns)} ({part})"
    yield Heading(f"Totals, {between(boot)}")
    yield from _known(
        [
            # A record without instants, or with one, says nothing of how long the boot took.
            (clock_text(boot), time_text(totals.virtual_ns) if totals.virtual_ns else "unknown"),
            ("instructions", None if _counts_nothing(boot) else count_text(totals.instructions)),
            ("idle", None if _counts_nothing(boot) else idle),
        ]
    )


def _counts_nothing(boot: Boot) -> bool:
    """Whether the boot was imported: records have times alone."""
    return boot.manifest.mode == RecordMode.IMPORTED


def _counts(boot: Boot, *columns: Column) -> list[Column]:
    """Columns that an imported boot cannot fill."""
    return [] if _counts_nothing(boot) else list(columns)


def _phases(boot: Boot) -> Iterator[Block]:
    phases = boot.phases()
    took = boot.manifest.totals.virtual_ns
    title = f"Phases, {clock_text(boot)}"
    if phases.is_empty():
        yield Heading(title)
        yield Line(f"none: {why_no_marks(boot)}", head="  ", indent=2)
        return

    def part(row: dict[str, Any]) -> float | None:
        return share(row["duration_ns"], took)

    sums = {column: whole(phases[column]) for column in ("duration_ns", "instructions", "idle_ns")}
    unsure = boot.manifest.mode == RecordMode.IMPORTED and (phases["unsure_ns"].fill_null(1) > 0).any()
    yield table(
        title,
        [
            Column("Phase", value=lambda row: row["phase"] + ("" if row["ended"] else " (not ended)"), style="cyan"),
            Column("Start", "time", "start_ns", wide=80),
            Column("Duration", "time", "duration_ns", style="bold"),
            *([grade_column()] if unsure else []),
            Column("Share", "share", part),
            Column("", "picture", lambda row: Bar(part(row), _BAR), style="blue", wide=46),
            *_counts(
                boot,
                Column("Instructions", "count", "instructions", wide=70),
                Column("Idle", "time", "idle_ns", wide=60),
            ),
        ],
        phases.iter_rows(named=True),
        footer=[{"Phase": "all", "Share": share(sums["duration_ns"], took), **sums}],
    )
    if unsure:
        yield from grade_lines(phases)
        for mark, detail in boot.marks().select("mark", "detail").drop_nulls().iter_rows():
            if detail.startswith(INFERRED):
                yield Line(f"{printable(mark)} is {printable(detail, _LONGEST)}", "dim", indent=2)
        if phases["phase"][-1] == Phase.KERNEL and boot.marks()["mark"][-1] == Mark.RECORD_END:
            text = "no line shows that userspace began: the phase `kernel` ends at the end of the records at the latest"
            yield Line(text, "dim", indent=2)


def _marks(boot: Boot) -> Table:
    return table(
        f"Marks, {clock_text(boot)}",
        [
            Column("Mark", value="mark", style="cyan"),
            Column("Time", "time", "time_ns", style="bold"),
            *_counts(boot, Column("Instructions", "count", "instructions", wide=70)),
            Column("Source", value="source", wide=50),
            Column("Detail", value="detail", wide=80),
        ],
        boot.marks().iter_rows(named=True),
    )


def _loader_record(boot: Boot) -> Iterator[Table]:
    """The loader's own times, against those from outside."""
    if not (stages := reported_by_loader(boot)):
        return
    yield table(
        "The boot loader's own record (bootstage)",
        [
            Column("Stage", value=lambda stage: printable(stage.name), style="cyan"),
            Column("Reported", "time", "reported_ns", style="bold"),
            Column("From outside", "time", "seen_ns"),
            Column("Difference", "change", "difference_ns"),
            Column("Relative", "percent", "difference", wide=60),
            Column("Seen by", value="seen_by", wide=70),
        ],
        stages,
    )


def _called(rows: pl.DataFrame, functions: pl.DataFrame) -> Table:
    """The functions of a record that counts calls and has no times."""
    columns = [
        Column("Function", value=RowNames(functions).of, style="cyan"),
        Column("Count", "count", "count", style="bold"),
    ]
    title = "Functions, by calls: the record has no times"
    return table(title, columns, rows.iter_rows(named=True))


def _functions(
    boot: Boot, title: str, rows: pl.DataFrame, functions: pl.DataFrame, marks: Mapping[str, str]
) -> Iterator[Table]:
    if rows.is_empty():
        return
    spent = known(functions["self_ns"])
    rest = rows.slice(_MOST_ROWS)
    own = known(rest["self_ns"])

    def part(row: dict[str, Any]) -> float | None:
        return share(row["self_ns"], spent)

    first = "Row" if rows["kind"].is_in(NO_FUNCTION)[0] else "Function"
    yield table(
        f"{title}, {clock_text(boot)}",
        [
            Column(first, value=RowNames(functions).of, style="cyan"),
            Column("Self", "time", "self_ns", style="bold"),
            Column("Share", "share", part),
            Column("", "picture", lambda row: Bar(part(row), _BAR), style="blue", wide=46),
            Column("Total", "time", "total_ns", wide=60),
            Column("Count", "count", "count", wide=70),
            machine_column(marks, wide=100),
        ],
        rows.head(_MOST_ROWS).iter_rows(named=True),
        left_out={first: f"({rest.height} more)", "self_ns": own, "Share": share(own, spent)} if rest.height else None,
    )


def boot_data(boot: Boot, limit: int) -> dict[str, Any]:
    """What `show` shows, as data: times in nanoseconds."""
    manifest = boot.manifest.model_dump(mode="json")
    shown = ("mode", "status", "failure", "clock", "recipe", "versions", "totals", "completeness", "invariants",
             "sources", "contradictions", "reproduce")  # fmt: skip
    data: dict[str, Any] = {"boot": str(boot.directory), **{name: manifest[name] for name in shown}}
    doubt = doubt_of(boot)
    data["broken_invariants"] = list(broken(boot.manifest))
    data["doubtful_calls"] = None if doubt is None else {**asdict(doubt), "share": doubt.share}
    data["command_line"] = [asdict(word) for word in boot.command_line_words()]
    data["features_left_out"] = features_left_out(boot)
    data["phases"] = boot.phases().to_dicts()
    data["marks"] = boot.marks().to_dicts()
    data["loader_record"] = [{**asdict(stage), "difference": stage.difference} for stage in reported_by_loader(boot)]
    data["functions"] = data["no_functions"] = []
    data["machine_costs"] = machine_data(machine_costs(boot))
    if not boot.calls().is_empty():
        table = boot.functions()
        data["functions"] = with_share(hot_functions(table, limit)).to_dicts()
        data["no_functions"] = no_functions(table).to_dicts()
    return data
