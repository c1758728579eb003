"""A whole boot on one or two screens."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from rich.console import Console
from rich.text import Text

from firstlight.analysis.functions import NO_FUNCTION
from firstlight.analysis.hot_functions import hot_functions, no_functions
from firstlight.analysis.ledger.costs import machine_costs
from firstlight.analysis.partial_sums import known, together, whole
from firstlight.bundle.boot import Boot
from firstlight.bundle.command_line import unread
from firstlight.bundle.machine import cpu_text
from firstlight.bundle.reliance import broken_text
from firstlight.escape import printable
from firstlight.quantities import count_text, share, share_text, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import bar, is_unicode, print_cut, print_line, print_wrapped
from firstlight.render.terminal.report import print_report
from firstlight.render.views.belief import print_belief
from firstlight.render.views.histograms import print_histograms
from firstlight.render.views.machine_costs import MACHINE_COLUMN, machine_costs_table
from firstlight.render.views.row_names import RowNames
from firstlight.render.views.sources import print_sources, print_trust

# A user land has a row for every program that ran.
_MOST_ROWS = 15
_BAR = 20


#: What the times of each kind of clock are called.
CLOCKS = {"virtual": "virtual time", "host": "time of the host", "imported": "time of the log"}


def clock_text(boot: Boot) -> str:
    """What the times of a boot are: never just seconds.

    >>> import firstlight
    >>> clock_text(firstlight.open(bundle))
    'virtual time'
    """
    return CLOCKS[boot.manifest.clock.kind]


def between(boot: Boot) -> str:
    """The two marks that the figures of a whole boot lie between.

    >>> import firstlight
    >>> between(firstlight.open(bundle))
    'power_on to ready'
    """
    marks = boot.marks()["mark"].to_list()
    first = marks[0] if marks else boot.manifest.clock.origin
    if boot.manifest.failure is not None:
        return f"{first} to the end of the record ({boot.manifest.failure.reason})"
    return f"{first} to {marks[-1] if marks else 'the end of the record'}"


def kernel_text(boot: Boot) -> str | None:
    """Which kernel it was: its release where anything tells it, else the file.

    >>> import firstlight
    >>> kernel_text(firstlight.open(bundle))
    '6.1.0-56-cloud-amd64'
    """
    release = dict(boot.facts().filter(pl.col("fact") == "kernel.release").iter_rows()).get("kernel.release")
    release = release or boot.manifest.versions.get("kernel")
    return str(release) if release else boot.manifest.recipe_text("kernel")


def why_no_marks(boot: Boot) -> str:
    """Why a boot has no marks, and so no phases and no time of its own."""
    manifest = boot.manifest
    if manifest.mode == "exact" and boot.calls().is_empty():
        return (
            "without a profile only the report of Firstlight's own guest has the duration of the boot, and none came; "
            "the kernel's own stamps, where it printed them, are in `raw/console.log`"
        )
    return "nothing in the evidence gives a mark"


def print_boot(out: Console, boot: Boot, hot: int = 15) -> None:
    """Print what the boot is, its totals, phases, marks and hot functions, and how far it can be trusted.

    :param hot: how many functions to show.
    """
    # All tables first: a damaged one is told instead of half a boot.
    boot.facts(), boot.phases(), boot.marks()
    table = None if boot.calls().is_empty() else boot.functions()
    _identity(out, boot)
    if boot.manifest.sources:
        _heading(out, "Records")
        print_sources(out, boot.manifest)
    _totals(out, boot)
    _phases(out, boot)
    _marks(out, boot)
    if table is not None:
        if together(table["self_ns"]) is None:
            _called(out, hot_functions(table, hot), table)
        else:
            costs = machine_costs(boot)
            marks = costs.marks if costs else {}
            _functions(out, boot, "Hot functions, by self", hot_functions(table, hot), table, marks)
            _functions(out, boot, "What is no function", no_functions(table), table, marks)
            print_report(
                out, [machine_costs_table(costs, clock_text(boot))] if costs and (costs.machine or costs.kernel) else []
            )
    print_histograms(out, boot)
    _trust(out, boot)


def _heading(out: Console, text: str) -> None:
    print_line(out)
    print_wrapped(out, Text(printable(text), style="bold underline"))


def _pairs(out: Console, pairs: list[tuple[str, str | None]]) -> None:
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        if value:
            print_wrapped(out, printable(value, 400), Text(f"  {name:{width}}  ", style="dim"), width + 4)


def _identity(out: Console, boot: Boot) -> None:
    manifest = boot.manifest
    facts = dict(boot.facts().select("fact", "value").iter_rows())
    # What came to its end is complete only when its evidence is.
    missing = not manifest.completeness.complete
    state = "incomplete" if manifest.status == "complete" and missing else manifest.status
    status = (state, {"complete": "green", "incomplete": "yellow"}.get(state, "bold red"))
    said = [(printable(str(boot.directory)), "bold"), (f"  {manifest.mode} mode, ", ""), status]
    if (broken := broken_text(manifest)) is not None:
        said += [(", ", ""), (f"NOT RELIABLE: {broken}", "bold red")]
    print_wrapped(out, Text.assemble(*said))
    shift = manifest.clock.icount_shift
    rate = "" if shift is None else f", one instruction takes {2**shift} ns"
    parts = [manifest.recipe_text("machine"), cpu_text(boot), manifest.recipe_text("memory")]
    root = manifest.recipe_text("rootfs") or manifest.recipe_text("initrd")
    _pairs(
        out,
        [
            ("kernel", kernel_text(boot)),
            ("command line", facts.get("kernel.command_line") or manifest.recipe_text("command_line")),
            ("unread words", "; ".join(f"{word.text}: {word.detail}" for word in unread(boot.command_line_words()))),
            ("userspace", None if manifest.mode == "imported" else root or "Firstlight's minimal guest"),
            ("machine", ", ".join(part for part in parts if part)),
            ("emulator", str(manifest.versions.get("qemu") or "")),
            ("clock", f"{clock_text(boot)} in nanoseconds from {manifest.clock.origin}{rate}"),
        ],
    )
    if manifest.failure is not None:
        _heading(out, f"Failed: {manifest.failure.reason.replace('_', ' ')}")
        print_wrapped(out, printable(manifest.failure.detail, 400), "  ", 2)
        for text in manifest.failure.console_tail:
            print_cut(out, Text("  | " + printable(text, 200), style="dim"))


def _totals(out: Console, boot: Boot) -> None:
    totals = boot.manifest.totals
    _heading(out, f"Totals, {between(boot)}")
    _pairs(
        out,
        [
            (clock_text(boot), time_text(totals.virtual_ns)),
            ("instructions", None if _counts_nothing(boot) else count_text(totals.instructions)),
            ("idle", None if _counts_nothing(boot) else
             f"{time_text(totals.idle_ns)} ({share_text(totals.idle_ns, totals.virtual_ns)})"
             if totals.idle_ns is not None else "-"),
        ],
    )  # fmt: skip


def _counts_nothing(boot: Boot) -> bool:
    """Whether the boot was imported: what records tell is times alone."""
    return boot.manifest.mode == "imported"


def _known_columns(boot: Boot, columns: list[Column]) -> list[int]:
    """The columns that an imported boot can fill."""
    left_out = ("Instructions", "Idle") if _counts_nothing(boot) else ()
    return [number for number, column in enumerate(columns) if column.title not in left_out]


def _kept(cells: list[str], kept: list[int]) -> list[str]:
    return [cells[number] for number in kept]


def _phases(out: Console, boot: Boot) -> None:
    phases = boot.phases()
    took = boot.manifest.totals.virtual_ns
    _heading(out, f"Phases, {clock_text(boot)}")
    if phases.is_empty():
        print_wrapped(out, f"none: {why_no_marks(boot)}", "  ", 2)
        return
    columns = [
        Column("Phase", style="cyan"),
        Column("Start", number=True, wide=80),
        Column("Duration", number=True, style="bold"),
        Column("Share", number=True),
        Column("", wide=100, style="blue"),
        Column("Instructions", number=True, wide=70),
        Column("Idle", number=True, wide=60),
    ]
    rows = [
        [
            row["phase"] + ("" if row["ended"] else " (not ended)"),
            time_text(row["start_ns"]),
            time_text(row["duration_ns"]),
            share_text(row["duration_ns"], took),
            bar(share(row["duration_ns"], took) or 0.0, _BAR, is_unicode(out)),
            count_text(row["instructions"]),
            time_text(row["idle_ns"]),
        ]
        for row in phases.iter_rows(named=True)
    ]
    sums = [whole(phases[column]) for column in ("duration_ns", "instructions", "idle_ns")]
    footer = ["all", "", time_text(sums[0]), share_text(sums[0], took), "", count_text(sums[1]), time_text(sums[2])]
    kept = _known_columns(boot, columns)
    print_table(out, [columns[number] for number in kept], [_kept(row, kept) for row in rows], [_kept(footer, kept)])


def _marks(out: Console, boot: Boot) -> None:
    if boot.marks().is_empty():
        return
    _heading(out, f"Marks, {clock_text(boot)}")
    columns = [
        Column("Mark", style="cyan"),
        Column("Time", number=True, style="bold"),
        Column("Instructions", number=True, wide=70),
        Column("Source", wide=50),
        Column("Detail", wide=80),
    ]
    rows = [
        [
            row["mark"],
            time_text(row["time_ns"]),
            count_text(row["instructions"]),
            row["source"] or "",
            row["detail"] or "",
        ]
        for row in boot.marks().iter_rows(named=True)
    ]
    kept = _known_columns(boot, columns)
    print_table(out, [columns[number] for number in kept], [_kept(row, kept) for row in rows])


def _called(out: Console, rows: pl.DataFrame, table: pl.DataFrame) -> None:
    """The functions of a record that counts calls and tells of no times."""
    names = RowNames(table)
    _heading(out, "Functions, by calls: the record has no times")
    columns = [Column("Function", style="cyan"), Column("Count", number=True, style="bold")]
    print_table(out, columns, [[names.of(row), count_text(row["count"])] for row in rows.iter_rows(named=True)])


def _functions(
    out: Console, boot: Boot, title: str, rows: pl.DataFrame, table: pl.DataFrame, marks: Mapping[str, str]
) -> None:
    if rows.is_empty():
        return
    spent = known(table["self_ns"])
    names = RowNames(table)
    named = not rows["kind"].is_in(NO_FUNCTION)[0]
    _heading(out, f"{title}, {clock_text(boot)}")
    columns = [
        Column("Function" if named else "Row", style="cyan"),
        Column("Self", number=True, style="bold"),
        Column("Share", number=True),
        Column("", wide=100, style="blue"),
        Column("Total", number=True, wide=60),
        Column("Count", number=True, wide=70),
        Column(MACHINE_COLUMN, wide=100, style="yellow"),
    ]
    body = [
        [
            names.of(row),
            time_text(row["self_ns"]),
            share_text(row["self_ns"], spent),
            bar(share(row["self_ns"], spent) or 0.0, _BAR, is_unicode(out)),
            time_text(row["total_ns"]),
            count_text(row["count"]),
            marks.get(row["function"], ""),
        ]
        for row in rows.head(_MOST_ROWS).iter_rows(named=True)
    ]
    rest = rows.slice(_MOST_ROWS)
    if not rest.is_empty():
        own = known(rest["self_ns"])
        body.append([f"({rest.height} more)", time_text(own), share_text(own, spent), "", "", "", ""])
    kept = [place for place in range(len(columns)) if place < len(columns) - 1 or any(row[-1] for row in body)]
    print_table(out, [columns[place] for place in kept], [_kept(row, kept) for row in body])


def _trust(out: Console, boot: Boot) -> None:
    """How far the figures can be trusted: by what checked the records, or the profile."""
    if boot.manifest.mode == "imported":
        print_trust(out, boot.manifest)
    else:
        print_belief(out, boot)
