"""The comparison of two arms whose boots vary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from firstlight.bundle.describe import CLOCKS
from firstlight.comparison.statistical.comparison import NoisyComparison
from firstlight.comparison.statistical.levels import MeanLevel, MeanRow
from firstlight.comparison.statistical.quantiles import Statistic, StatisticChange
from firstlight.escape import printable
from firstlight.quantities import percent_text, signed_time, time_text
from firstlight.render.model.pictures import ConfidenceInterval
from firstlight.render.model.report import BLANK, Block, Line, pairs
from firstlight.render.model.table import Column, Row, Table, Written, table
from firstlight.render.views.compare import TITLES
from firstlight.render.views.row_names import with_module
from firstlight.stats.descriptive import Description
from firstlight.stats.modality import Mode
from firstlight.stats.multiple_testing import LEAF_FLOOR
from firstlight.stats.quantiles import QuantileChange

_STYLES = {"regression": "bold red", "improvement": "bold green", "equivalent": "bold", "inconclusive": "bold yellow"}
_NAMES = 10


def noisy_report(found: NoisyComparison, limit: int) -> Iterator[Block]:
    """The verdict, what it rests on, and what changed in each level.

    :param limit: how many rows of each level have a line of their own.
    """
    yield Line(f"A {printable(found.a, 200)}, B {printable(found.b, 200)}", "bold", indent=2)
    yield Line(subject_text(found), "dim", indent=2)
    look = "" if found.look is None else f"; look {found.look} at level {found.alpha:.2g}"
    yield Line(f"{number_text(found)}; {found.pairing}; seed {found.seed}{look}", "dim")
    for kind, texts in (("excluded", exclusions(found)), ("note", found.notes)):
        for text in texts:
            yield Line(printable(text, 500), head=f"  {kind}: ", head_style="yellow", indent=4)
    yield BLANK
    word = found.verdict.word
    yield Line(f"{word}: {headline(found)}", _STYLES[word], indent=2)
    yield from pairs([*reasons(found), ("spread", spread_text(found)), ("modes", sorts_text(found))], _NAMES)
    yield from noisy_tables(found, limit)
    yield BLANK
    yield Line(bridge_text(found), "dim", indent=2)


def noisy_tables(found: NoisyComparison, limit: int) -> Iterator[Block]:
    """The description of both arms where one was asked for, and each level."""
    if found.description is not None:
        yield BLANK
        yield description_table(found.description["a"], found.description["b"])
    if found.quantiles:
        yield quantiles_table(found)
    for level in found.levels:
        yield _level(level, limit, found)


def quantiles_table(found: NoisyComparison) -> Table:
    """Each statistic that was asked for, with its interval as figures and as a bar, and its verdict."""

    def percent(name: str) -> Callable[[StatisticChange], float | None]:
        return lambda row: None if row.change is None else float(getattr(row.change, name))

    def side(name: str) -> Callable[[StatisticChange], Written | None]:
        return lambda row: None if row.change is None else _statistic_value(row.statistic, getattr(row.change, name))

    rows = found.quantiles
    ends = [abs(end) for row in rows if row.change for end in (row.change.low_percent, row.change.high_percent)]
    reach = max([found.soft_percent, *ends])
    columns = [
        Column("Statistic", value="statistic", style="cyan", fixed=True),
        Column("Verdict", value="word", fixed=True),
        Column("A", "number", side("a")),
        Column("B", "number", side("b")),
        Column("Change", "percent", percent("percent"), style="bold", write=percent_text, name="percent"),
        Column("from", "percent", percent("low_percent"), write=percent_text, name="low_percent"),
        Column("to", "percent", percent("high_percent"), write=percent_text, name="high_percent"),
        Column("p", "number", lambda row: p_text(row.adjusted_p), name="adjusted_p"),
        Column("", "picture", lambda row: _interval_picture(row.change, reach), wide=110),
    ]
    shares = any(row.statistic is Statistic.SLOW_SHARE and row.change for row in rows)
    notes = [
        f"from, to: {100 * (1 - found.alpha):.4g} % interval; p: by Holm among all that were tested; together they "
        f"call equal arms different in at most {100 * found.alpha:.4g} %",
        *(["the change of a share is in percentage points"] if shares else []),
        *dict.fromkeys(f"{row.statistic}: {row.reason}" for row in rows if row.word == "inconclusive"),
    ]
    return table("Quantiles", columns, rows, notes=notes)


def _interval_picture(change: QuantileChange | None, reach: float) -> ConfidenceInterval | None:
    if change is None:
        return None
    return ConfidenceInterval(change.low_percent, change.percent, change.high_percent, reach, 21)


def _statistic_value(statistic: Statistic, value: float) -> Written:
    return Written(
        value, f"{value:.0%}".replace("%", " %") if statistic is Statistic.SLOW_SHARE else time_text(round(value))
    )


def subject_text(found: NoisyComparison) -> str:
    """How the boots were recorded, on which clock, between which marks."""
    first, last = printable(found.first, 100), printable(found.last, 100)
    return f"{found.mode} mode, {CLOCKS.get(found.clock, found.clock)}, {first} to {last}"


def number_text(found: NoisyComparison) -> str:
    """How many boots were compared."""
    return f"{len(found.a_ns)} pairs" if found.paired else f"{len(found.a_ns)} boots of A, {len(found.b_ns)} of B"


def reasons(found: NoisyComparison) -> list[tuple[str, str]]:
    """What the verdict rests on, by name."""
    return [
        ("why", why(found)),
        ("estimate", estimate_text(found)),
        ("interval", interval_text(found)),
        ("chance", f"{p_equals(found.test.p)}, {found.test.method}"),
    ]


def exclusions(found: NoisyComparison) -> list[str]:
    """Every boot that does not take part, with the reason."""
    return [f"`{each.boot}`: {each.reason}" for each in found.excluded]


def headline(found: NoisyComparison) -> str:
    """The answer in one line.

    It has a direction where the verdict has one; else it says how far the boots reach.
    """
    interval = found.interval_percent
    if found.verdict.word in ("regression", "improvement"):
        direction = "slower" if found.percent > 0 else "faster"
        low, high = sorted(abs(bound) for bound in interval or (found.percent, found.percent))
        return f"B is {direction} by {abs(found.percent):.2f} % ({low:.2f} to {high:.2f} %)"
    if found.verdict.word == "equivalent":
        return f"B is within ±{found.soft_percent:g} % of A ({percent_text(found.percent)})"
    return (
        f"these boots are not enough to decide{found.verdict.advice('pairs' if found.paired else 'boots of each arm')}"
    )


def why(found: NoisyComparison) -> str:
    """The reason of the verdict, with the soft limit and the floor that apply to it."""
    floor = f", noise of the testbed ±{found.floor_percent:.2g} %" if found.floor_percent else ""
    return f"{found.verdict.reason} (soft limit ±{found.soft_percent:g} %{floor})"


def estimate_text(found: NoisyComparison) -> str:
    """The estimate in percent and in time, and what it is."""
    time = signed_time(round(found.bridge.headline_ns))
    ratios = "the pairs' log ratios" if found.paired else "the log ratios of all boots"
    return f"{percent_text(found.percent)} ({time} of A's median time), Hodges-Lehmann of {ratios}"


def interval_text(found: NoisyComparison) -> str:
    """The interval with what it covers."""
    if found.interval_percent is None or found.estimate.achieved is None:
        unit = "pairs" if found.paired else "boots of each arm"
        return f"none: this needs at least {found.estimate.needed} {unit}"
    low, high = found.interval_percent
    wanted, achieved = 100.0 * found.estimate.confidence, 100.0 * found.estimate.achieved
    return f"{percent_text(low)} to {percent_text(high)}; covers {achieved:.1f} %, target {wanted:g} %"


def p_text(p: float | None) -> str:
    """A probability with as many digits as mean anything.

    >>> p_text(0.03125), p_text(0.00001), p_text(None)
    ('0.031', '<0.0001', '-')
    """
    return "-" if p is None else "<0.0001" if p < 0.0001 else f"{p:.2g}"


def p_equals(p: float | None) -> str:
    """A probability as a statement.

    >>> p_equals(0.03125), p_equals(0.00001)
    ('p = 0.031', 'p < 0.0001')
    """
    text = p_text(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def spread_text(found: NoisyComparison) -> str:
    """How far the boots of each arm scatter, and whether that changed."""
    spread = found.spread
    tests = [f"{p_equals(p)} that {what}" for p, what in (
        (spread.spread_p, "they are equal (Levene)"), (spread.shape_p, "the shapes are (Cramer-von Mises)")
    ) if p is not None]  # fmt: skip
    return "; ".join([f"A {spread.a_percent:.2f} %, B {spread.b_percent:.2f} %", *tests])


def sorts_text(found: NoisyComparison) -> str | None:
    """The sorts that the boots of either arm come in, and how far each moved; none where both have but one."""
    spread = found.spread
    if len(spread.a_modes) <= 1 and len(spread.b_modes) <= 1:
        return None
    shifts = spread.shifts_ns
    moved = "" if shifts is None else f"; moved by {', '.join(signed_time(ns) for ns in shifts)}"
    return f"A {modes_text(spread.a_modes)}; B {modes_text(spread.b_modes)}{moved}"


def modes_text(modes: Sequence[Mode]) -> str:
    """The sorts that boots come in, with their shares.

    >>> modes_text([Mode(at_ns=99_000_000, boots=7, share=0.7), Mode(at_ns=117_000_000, boots=3, share=0.3)])
    '70 % at 99.000 ms, 30 % at 117.000 ms'
    """
    return ", ".join(f"{mode.share:.0%} at {time_text(mode.at_ns)}".replace("%", " %") for mode in modes)


def description_table(*arms: Description) -> Table:
    """Mean, median, mode and standard deviation of some arms, one row for each figure."""
    rows = description_rows(*arms)
    return Table("", [Column("Figure", style="cyan"), Column("A", "time"), Column("B", "time")], rows)


def description_rows(*arms: Description) -> list[list[str]]:
    """Mean, median, mode and standard deviation of some arms, one row for each figure."""
    rows = [
        [name, *(time_text(None if (value := getattr(arm, figure)) is None else round(value)) for arm in arms)]
        for name, figure in (("mean", "mean"), ("median", "median"), ("stddev", "stddev"), ("least", "low"),
                             ("largest", "high"))
    ]  # fmt: skip
    modes = [
        "none: no bin has two boots" if arm.mode is None else
        f"{time_text(round(arm.mode.middle))} ({arm.mode.count} of {arm.count})"
        for arm in arms
    ]  # fmt: skip
    bins = [
        "" if arm.mode is None else f"{time_text(round(arm.mode.low))} to {time_text(round(arm.mode.high))}"
        for arm in arms
    ]
    return [*rows[:2], ["mode", *modes], ["its bin", *bins], *rows[2:]]


def _level(level: MeanLevel, limit: int, found: NoisyComparison) -> Table:
    title, first = TITLES.get(level.name, (level.name, "Name"))
    before = level.whole.a_mean_ns

    def bound(title: str, name: str) -> Column:
        return Column(title, "change", name, wide=100)

    columns = [
        Column(first, value=lambda row: with_module(row.name, row.module), style="cyan"),
        Column("", value=_doubt, fixed=True),
        Column("A", "time", "a_mean_ns", wide=76),
        Column("B", "time", "b_mean_ns", wide=76),
        Column("Change", "change", "change_ns", style="bold"),
        bound("from", "low_ns"),
        bound("to", "high_ns"),
        Column("of A", "percent", lambda row: 100.0 * row.change_ns / before, write=percent_text),
        Column("p", "number", lambda row: p_text(row.adjusted_p) if row.kind != "whole" else ""),
    ]
    shown, further, quiet = split_rows(level, limit)

    def cells(row: MeanRow) -> Row:
        return [column.of(row) for column in columns]

    def together(rows: Sequence[MeanRow], name: str) -> Row:
        change = sum(row.change_scaled for row in rows) / level.scale
        a, b = (sum(getattr(row, mean) for row in rows) for mean in ("a_mean_ns", "b_mean_ns"))
        share = 100.0 * change / before
        return [f"({len(rows):,} {name}, added up)", "", a, b, change, "", "", share, ""]

    shortage = too_few(level, found)
    return Table(
        f"{title}, means",
        columns,
        [cells(row) for row in shown],
        [cells(level.whole)],
        [row_figures(level), *([] if shortage is None else [shortage]), *unsure_notes(shown)],
        [together(rows, name) for rows, name in ((further, "more that differ"), (quiet, "within noise")) if rows],
    )


def _doubt(row: MeanRow) -> str:
    if row.differs or row.kind == "whole":
        return ""
    return "noise?" if row.unsure_ns == 0.0 else "unsure"


def unsure_notes(rows: Sequence[MeanRow]) -> list[str]:
    """What `unsure` means, where a row is: by how much its change may be off."""
    unsure = [row for row in rows if row.unsure_ns != 0.0 and not row.differs]
    if not unsure:
        return []
    known = [row.unsure_ns for row in unsure if row.unsure_ns is not None]
    most = f"up to {time_text(round(max(known)))}" if len(known) == len(unsure) else "an unknown time"
    return [f"unsure: the records do not show when these phases began or ended; their changes may be off by {most}"]


def row_figures(level: MeanLevel) -> str:
    """What the interval and the p of a row are: the one is of the row alone, the other among all of its level."""
    interval = (
        "no interval: too few boots" if level.whole.low_ns is None else "from, to: 95 % interval of the row alone"
    )
    adjusted = "Holm" if level.family == "holm" else "Benjamini and Hochberg"
    return f"{interval}; p: by {adjusted} among all that were tested ({level.tested:,})"


def split_rows(level: MeanLevel, limit: int) -> tuple[list[MeanRow], list[MeanRow], list[MeanRow]]:
    """The rows that are shown, those that differ and are not, and those that are added up as noise.

    Of what does not differ only rows are shown that could be a part of the change: a thousandth of the whole and more.
    """
    differing = [row for row in level.rows if row.differs]
    least = LEAF_FLOOR * level.whole.a_mean_ns
    perhaps = [row for row in level.rows if not row.differs and abs(row.change_ns) >= least]
    shown = [*differing[:limit], *perhaps[: max(0, limit - len(differing))]]
    return shown, differing[limit:], [row for row in level.rows if not row.differs and row not in shown]


def too_few(level: MeanLevel, found: NoisyComparison) -> str | None:
    """That there are too few boots for any row of a level to differ alone, and how many it takes; none if enough."""
    number = min(len(found.a_ns), len(found.b_ns))
    if number >= level.needed or not level.tested:
        return None
    unit = "pairs" if found.paired else "boots of each arm"
    rows = f"one of {level.tested:,} rows alone"
    return f"{rows} can be distinguished from noise with {level.needed} {unit}, not with {number}"


def bridge_text(found: NoisyComparison) -> str:
    """From the headline to the sums of the tables, in one line."""
    bridge = found.bridge
    names = ", ".join(f"`{printable(name, 100)}`" for name in bridge.outliers[:4])
    more = f" and {len(bridge.outliers) - 4} more" if len(bridge.outliers) > 4 else ""
    far = f"; far from the others: {names}{more}" if names else ""
    return (
        f"Headline {signed_time(round(bridge.headline_ns))} (robust); the tables are means and add up to "
        f"{signed_time(round(bridge.mean_ns))}; bridge {signed_time(round(bridge.bridge_ns))}{far}"
    )
