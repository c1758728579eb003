"""The difference of two boots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firstlight.analysis.window import window
from firstlight.bundle.describe import clock_text
from firstlight.comparison.exact.architectures import OnBoth
from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.exact.headline import headline
from firstlight.comparison.exact.level import Level
from firstlight.comparison.exact.parts import ChangePart, Parts
from firstlight.comparison.exact.parts import added as sum_of_parts
from firstlight.comparison.exact.path import Hidden
from firstlight.comparison.exact.rows import Key, Row
from firstlight.comparison.sides.input_changes import InputChange
from firstlight.escape import printable
from firstlight.quantities import Kind, quantity_text, share, signed_half, small_share_text
from firstlight.recipe.mode import RecordMode
from firstlight.render.difference_json import added
from firstlight.render.model.pictures import Bar
from firstlight.render.model.report import BLANK, Block, Heading, Line
from firstlight.render.model.table import Column, Table, Value, Written, table
from firstlight.render.views.compare_tree import moved_report, one_sided_tables, tree_table
from firstlight.render.views.ledger import ledger_table
from firstlight.render.views.row_names import with_module
from firstlight.schema.spans import CallKind, SpanKind

_BAR = 16
EQUAL = "Equal: all tables of both boots are equal."

#: What each level is called above its table, and its first column.
TITLES = {
    "phases": ("Phases", "Phase"),
    "initcalls": ("Initcalls, the time that each owned", "Initcall"),
    "functions": ("Functions, by self", "Function"),
    "processes": ("Processes, without interrupts", "Process"),
    "services": ("Services, the instructions of their processes", "Service"),
    "system_calls": ("System calls, in the kernel", "Call"),
    "files": ("Files, system calls on them", "File"),
    "packages": ("Packages, the instructions of their programs", "Package"),
    "user_functions": ("Functions of user mode, by self", "Function"),
    "path": ("Critical path, elapsed time by owner", "Owner"),
    "devices": ("Devices, time on the critical path", "Device"),
    "units": ("Units, time on the critical path", "Unit"),
}


#: Levels whose names may be as long as a command line.
_LONG = ("processes", "files")


def difference_report(
    difference: ExactDifference, limit: int, min_share: float = 0.05, names: tuple[str, str] | None = None
) -> Iterator[Block]:
    """What changed from A to B: inputs, totals, each level with its largest changes first, and the tree.

    :param limit: how many rows of each level have a line of their own.
    :param min_share: the least share of all changes, from 0 to 1, that has a line in the tree.
    :param names: what the two boots are called; by default their bundles' paths.
    """
    a, b = names or (str(difference.a.directory), str(difference.b.directory))
    yield Line(headline(difference), "bold", indent=2)
    yield from ledger_table(difference)
    yield Line(f"A {printable(a, 200)}, B {printable(b, 200)}", indent=2)
    yield Line(subject_text(difference), "dim", wrap=False)
    for change in difference.inputs:
        yield Line(input_text(change), head="  differs: ", indent=11)
    if not difference.inputs:
        yield Line(f"  {no_input_text(difference)}", wrap=False)
    for flag in difference.flags:
        yield Line(printable(flag.text, 500), head=f"  {flag.title}: ", head_style="yellow", indent=4)
    yield BLANK
    if difference.is_equal:
        yield Line(EQUAL, "bold", wrap=False)
        return
    yield totals_table(difference)
    for level in difference.levels:
        if level.name != "path" or tells_more(level):
            yield from _level(level, limit, difference.parts.get(level.name))
    yield from architectures_table(difference.on_both, limit)
    yield from hidden_table(difference, limit)
    if difference.tree is not None:
        yield from tree_table(difference.tree, [each.node for each in difference.moved], min_share)
        yield from one_sided_tables(difference.tree, difference.functions, limit)
        yield from moved_report(difference.moved, difference.renamed, limit)
    yield from _facts(difference, limit)


def summary_table(differences: Sequence[ExactDifference]) -> Table:
    """The totals of several boots against one baseline."""
    first = differences[0]
    records = [
        {"boot": first.a.directory, "side": first.whole.a, "change": "baseline", "part": ""},
        *(
            {
                "boot": each.b.directory,
                "side": each.whole.b,
                "change": each.whole.change_ns,
                "part": _relative(each.whole),
            }
            for each in differences
        ),
    ]

    def figure(name: str) -> Callable[[dict[str, Any]], Value]:
        return lambda record: getattr(record["side"], name, None)

    return table(
        "",
        [
            Column("Boot", value=lambda record: str(record["boot"]), style="cyan"),
            Column(clock_text(first.a), "time", figure("ns")),
            Column("Change", "change", "change", style="bold"),
            Column("", "share_change", "part", wide=60),
            Column("Instructions", "count", figure("instructions"), wide=90),
            Column("Idle", "time", figure("idle_ns"), wide=100),
        ],
        records,
    )


def subject_text(difference: ExactDifference) -> str:
    """How both boots were recorded, on which clock, between which marks."""
    a, whole = difference.a, window(difference.a)
    first, last = printable(whole.first, 100), printable(whole.last, 100)
    return f"{a.manifest.mode} mode, {clock_text(a)}, {first} to {last}"


def no_input_text(difference: ExactDifference) -> str:
    """Why no input of two boots is listed."""
    imported = difference.a.manifest.mode == RecordMode.IMPORTED
    return "the inputs were not recorded" if imported else "no input differs"


def input_text(change: InputChange) -> str:
    """An input that differs, in one line.

    >>> input_text(InputChange("memory", "512M", "1G")), input_text(InputChange("kernel", "a" * 64, "b" * 64))
    ('memory: 512M became 1G', 'kernel (aaaaaaaaaaaa became bbbbbbbbbbbb)')
    """
    name = printable(change.name.replace("_", " "), 60)
    if change.detail:
        return f"{name}: {printable(change.detail, 400)}"
    one, other = (("nothing" if text is None else printable(text, 100)) for text in (change.a, change.b))
    digests = all(text is None or len(text) == 64 for text in (change.a, change.b))
    return f"{name} ({one[:12]} became {other[:12]})" if digests else f"{name}: {one} became {other}"


def totals_table(difference: ExactDifference) -> Table:
    """Time, instructions and idle, apart: name, A, B, change, change in percent of A."""
    whole = difference.whole
    kinds: tuple[tuple[str, str, Kind, Kind], ...] = (
        (clock_text(difference.a), "ns", "time", "change"),
        ("instructions", "instructions", "count", "count_change"),
        ("idle", "idle_ns", "time", "change"),
    )
    rows: list[list[Value]] = []
    for name, figure, kind, signed in kinds:
        one, other = getattr(whole.a, figure), getattr(whole.b, figure)
        if one is not None and other is not None:
            texts = [quantity_text(value, of) for value, of in ((one, kind), (other, kind), (other - one, signed))]
            values = zip((one, other, other - one), texts, strict=True)
            rows.append([name, *(Written(value, text) for value, text in values), share(other - one, one)])
    columns = [Column("Total"), Column("A", "number"), Column("B", "number"), Column("Change", "number", style="bold")]
    return Table("", [*columns, Column("", "share_change", wide=60)], rows)


def _level(level: Level, limit: int, parts: Mapping[Key, Parts] | None) -> Iterator[Block]:
    if level.changed:
        yield level_table(level, limit, parts)
    else:
        yield Heading(level_title(level))
        yield Line(f"none of {len(level.rows):,} changed", wrap=False)


def level_table(level: Level, limit: int, parts: Mapping[Key, Parts] | None = None) -> Table:
    """The largest changes of a level, and below a rule what was left out, what did not change, and the sum.

    :param parts: what of each row is caused, what moved, and what is an accident.
    """
    changed = level.changed
    largest = max(abs(row.change_ns) for row in changed)
    split = [
        Column("Calls", "count_change", _more_calls, wide=76),
        Column("gone paths", "change", _split("gone_doubled_ns"), wide=140, write=signed_half),
        Column("new paths", "change", _split("new_doubled_ns"), wide=140, write=signed_half),
        Column("more calls", "change", _split("calls_doubled_ns"), wide=120, write=signed_half),
        Column("cost each", "change", _split("cost_doubled_ns"), wide=120, write=signed_half),
    ]
    columns = [
        Column(TITLES[level.name][1], value=row_name, style="cyan", longest=70 if level.name in _LONG else 100),
        Column("", value=presence_text, fixed=True),
        Column("A", "time", lambda row: None if row.a is None else row.a.ns, wide=90),
        Column("B", "time", lambda row: None if row.b is None else row.b.ns, wide=90),
        Column("Change", "change", "change_ns", style="bold"),
        Column("of A", "share_change", lambda row: _relative(row, level.whole), wide=60),
        *([] if parts is None else _part_columns(changed[limit:], level, parts)),
        *(split if any(row.split is not None for row in changed) else []),
        Column("", "picture", lambda row: Bar(abs(row.change_ns) / largest, _BAR), style="blue", wide=100),
    ]
    small, unchanged = changed[limit:], len(level.rows) - len(changed)
    below = [added(small, left_out_text(small))] if small else []
    left_out: list[list[Value]] = [[*(column.of(row) for column in columns[:-1]), ""] for row in below]
    if unchanged:
        left_out.append([f"({unchanged:,} unchanged)", *[""] * (len(columns) - 1)])
    return Table(
        level_title(level),
        columns,
        [[column.of(row) for column in columns] for row in changed[:limit]],
        [[*(column.of(level.whole) for column in columns[:-1]), ""]],
        left_out=left_out,
    )


def _part_columns(small: Sequence[Row], level: Level, parts: Mapping[Key, Parts]) -> list[Column]:
    """A column for each part that any row has; one that stands for several has their sum, and all the total."""
    sums = {"whole": sum_of_parts(parts.values()), "sum": sum_of_parts(parts[row.key] for row in small)}

    def value(part: ChangePart) -> Callable[[Row], Value]:
        def of(row: Row) -> Value:
            found: int = getattr(sums[row.kind] if row.kind in sums else parts[row.key], f"{part}_ns")
            return found or ""

        return of

    there = [part for part in ChangePart if any(getattr(each, f"{part}_ns") for each in parts.values())]
    return [Column(str(part).capitalize(), "change", value(part), wide=132) for part in there]


def _relative(row: Row, whole: Row | None = None) -> float | None:
    """The change of a row in relation to all of A."""
    before = (whole or row).a
    return share(row.change_ns, before.ns if before else None)


def _more_calls(row: Row) -> Value:
    return "" if row.kind in ("whole", "sum", "rest") or row.change_calls is None else row.change_calls


def _split(name: str) -> Callable[[Row], Value]:
    return lambda row: "" if row.split is None else getattr(row.split, name)


def level_title(level: Level) -> str:
    """What a level is called: with profiles an initcall has what it and its callees did, else the time it owned."""
    if level.name == "initcalls" and level.whole.a is not None and level.whole.a.instructions is not None:
        return "Initcalls, each with its callees on its own task"
    return TITLES[level.name][0]


def tells_more(path: Level) -> bool:
    """Whether a critical path says more than the phases: it is those where nothing else owns a part of it."""
    return any(row.kind not in ("phase", "rest") for row in path.rows)


#: Kinds that a row's name does not show.
_NAMED_KINDS = (
    CallKind.TASK,
    CallKind.INTERRUPT,
    CallKind.EXCEPTION,
    CallKind.SYSCALL,
    SpanKind.PROBE,
    SpanKind.UNIT,
    SpanKind.ASYNC,
    SpanKind.UEVENT_SERVICE,
)


def row_name(row: Row) -> str:
    """What a row is called: its module in brackets, and its kind where the name does not show it."""
    name = with_module(row.name, row.module)
    return f"{name} ({row.kind.removesuffix('_service')})" if row.kind in _NAMED_KINDS else name


def left_out_text(rows: Sequence[Row]) -> str:
    """What rows without a line of their own are called.

    >>> left_out_text([Row("x", None, None), Row("y", None, None)])
    '(2 smaller, added up)'
    """
    doubtful = " or doubtful" if any(row.doubtful is not None for row in rows) else ""
    return f"({len(rows):,} smaller{doubtful}, added up)"


def presence_text(row: Row) -> str:
    """Whether a row is new, gone, unsure or doubtful; nothing for what is in both boots.

    >>> presence_text(Row("x", None, None, doubtful=0.25))
    'new, 25 % doubtful'
    """
    there = {"only_a": "gone", "only_b": "new", "both": ""}[row.presence]
    doubtful = "" if row.doubtful is None else f"{small_share_text(row.doubtful)} doubtful"
    return ", ".join(filter(None, (there, "unsure" if row.is_unsure else "", doubtful)))


def architectures_table(found: OnBoth | None, limit: int) -> Iterator[Table]:
    """Functions of one name on two architectures, with calls and instructions of both side by side."""
    if found is None:
        return

    def side(name: str, figure: str) -> Callable[[Row], Value]:
        return lambda row: getattr(getattr(row, name), figure, None)

    left = len(found.both) - limit
    only = f"{found.only_a:,} only in A, {found.only_b:,} only in B"
    yield table(
        f"Functions with the same name on both architectures: {len(found.both):,}; {only}",
        [
            Column("Function", value=row_name, style="cyan", longest=100),
            Column("calls in A", "count", side("a", "calls")),
            Column("in B", "count", side("b", "calls")),
            Column("instructions in A", "count", side("a", "instructions")),
            Column("in B", "count", side("b", "instructions")),
        ],
        found.both[:limit],
        left_out={"Function": f"({left:,} more; `-n` shows them)"} if left > 0 else None,
    )


def hidden_table(difference: ExactDifference, limit: int) -> Iterator[Table]:
    """The changed work off the critical path, which contributes nothing to the change."""
    hidden = difference.path.hidden
    left = len(hidden) - limit
    if not hidden:
        return

    def side(name: str) -> Callable[[Hidden], Value]:
        def value(each: Hidden) -> Value:
            found = getattr(each.row, name)
            return None if found is None else int(found.ns)

        return value

    yield table(
        "Hidden work, off the critical path: contributes 0",
        [
            Column("Step", value=lambda each: row_name(each.row), style="cyan"),
            Column("", value=lambda each: presence_text(each.row), fixed=True),
            Column("A", "time", side("a"), wide=90),
            Column("B", "time", side("b"), wide=90),
            Column("Change", "change", lambda each: each.row.change_ns, style="bold"),
            Column("slack in A", "time", "slack_a_ns", wide=60),
            Column("in B", "time", "slack_b_ns", wide=60),
        ],
        hidden[:limit],
        left_out={"Step": f"({left:,} smaller)"} if left > 0 else None,
    )


def _facts(difference: ExactDifference, limit: int) -> Iterator[Table]:
    if not difference.facts:
        return

    def side(name: str) -> Column:
        def value(change: object) -> Value:
            found: str | None = getattr(change, name)
            return "-" if found is None else found

        return Column(name.upper(), value=value, longest=60)

    left = len(difference.facts) - limit
    yield table(
        "Facts that differ",
        [Column("Fact", value="fact", style="cyan"), side("a"), side("b")],
        difference.facts[:limit],
        left_out={"fact": f"({left:,} more)"} if left > 0 else None,
    )
