"""Noise bands and calibrations, and what they say of a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from firstlight.comparison.noise_band import Band, BandBoot, Range
from firstlight.comparison.robustness import Robustness
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.escape import printable
from firstlight.quantities import count_text, share, signed_ratio, signed_time, time_text
from firstlight.render.model.report import BLANK, Block, Heading, Line, pairs
from firstlight.render.model.table import Column, Table, Value, table
from firstlight.render.views.row_names import with_module

_ROWS = 10


def band_report(band: Band) -> Iterator[Block]:
    """How far a boot's figures moved under changes that ought not to matter."""
    yield Line(f"Noise band of {printable(band.boot, 200)}, {len(band.boots)} boots", "bold")
    yield BLANK
    yield _boots(band)
    for text in band.skipped:
        yield Line(printable(text, 300), head="  not changed: ", head_style="yellow", indent=4)
    for level, moved in band.levels.items():
        rest = len(moved) - _ROWS
        title = f"{_level(level).capitalize()}: {len(moved):,} changed without a cause"
        if not moved:
            yield Heading(title)
            continue
        yield table(
            title,
            [
                Column("Name", value=lambda row: with_module(row.name, row.module), style="cyan"),
                Column("from", "time", "low", wide=70),
                Column("to", "time", "high", wide=70),
                Column("Range", "time", "width", style="bold"),
            ],
            moved[:_ROWS],
            left_out={"Name": f"({rest:,} more, each less)"} if rest > 0 else None,
        )


def _level(name: str) -> str:
    return name.replace("_", " ")


def _boots(band: Band) -> Table:
    first = band.boots[0]
    columns = [
        Column("Change", style="cyan"),
        Column("Virtual time", "change", style="bold"),
        Column("", "share_change", wide=60),
        Column("Instructions", "count_change", wide=90),
        Column("Idle", "change", wide=100),
    ]
    width = share(band.virtual_ns.width, first.virtual_ns)
    ranges: list[Value] = [
        "range",
        time_text(band.virtual_ns.width),
        "-" if width is None else signed_ratio(width).lstrip("+"),
        _width(band.instructions, count_text),
        _width(band.idle_ns, time_text),
    ]
    recorded = [
        "(as recorded)", time_text(first.virtual_ns), "", count_text(first.instructions), time_text(first.idle_ns)
    ]  # fmt: skip
    return Table("", columns, [recorded, *(_changes(each, first) for each in band.boots[1:])], [ranges])


def _changes(boot: BandBoot, first: BandBoot) -> list[Value]:
    change = boot.virtual_ns - first.virtual_ns
    instructions, idle = (
        None if one is None or other is None else other - one
        for one, other in ((first.instructions, boot.instructions), (first.idle_ns, boot.idle_ns))
    )
    return [boot.change, change, share(change, first.virtual_ns), instructions, idle]


def _width(reach: Range | None, write: Callable[[int | None], str]) -> str:
    return write(None if reach is None else reach.width)


def calibration_report(found: Calibration) -> Iterator[Block]:
    """What changes a testbed can detect."""
    state = ("stable", "bold green") if found.is_stable else ("unstable: comparisons on it are not valid", "bold red")
    yield Line([("Testbed ", "bold"), state], wrap=False)
    alarms = f"{found.false_alarms:.1%}".replace("%", " %")
    yield from pairs(
        [
            ("boots", f"{found.pairs} pairs of equal boots, {printable(found.made_at, 40)}, seed {found.seed}"),
            ("noise", f"{found.sigma_percent:.3f} % between the boots of a pair (robust standard deviation)"),
            ("drift", f"{found.drift_percent:+.2f} % over the session"),
            ("sorts", "all boots are of one" if found.modes == 1 else f"the boots come in {found.modes}"),
            ("A/A test", f"p = {found.p:.3g}; a testbed with p below 0.01 is unstable"),
            ("relabelled", f"{alarms} of 1,000 random assignments were reported as different"),
        ]
    )
    yield table(
        "Smallest change that is found in nine of ten comparisons",
        [
            Column("Pairs", "number", "pairs", style="cyan", write=str),
            Column("Change", "percent", "percent", style="bold", write=_hundredths),
            Column("Noise floor", "percent", lambda each: found.floor_percent(each.pairs), write=_hundredths),
        ],
        found.detectable,
    )


def _hundredths(percent: float) -> str:
    return f"{percent:.2f} %"


def robustness_report(found: Robustness, limit: int) -> Iterator[Block]:
    """Which of a difference's changes are larger than what moves by itself.

    :param limit: how many rows of each level.
    """
    yield Heading("Against the noise band")
    if found.caution is not None:
        yield Line(printable(found.caution, 300), head="  caution: ", head_style="yellow", indent=4)
    yield Line(f"total: {total_text(found)}", "bold" if found.total.robust else "bold yellow", indent=2)
    for level, rows in found.levels.items():
        robust = [row for row in rows if row.robust]
        yield Line(f"{_level(level)}: {len(robust):,} of {len(rows):,} changes are larger than their bands", wrap=False)
        if rows:
            yield table(
                "",
                [
                    Column("Name", value=lambda row: with_module(row.name, row.module), style="cyan"),
                    Column("Change", "change", "change_ns", style="bold"),
                    Column("Band", "time", "band_ns"),
                    Column("", value=lambda row: "" if row.robust else "not robust", fixed=True),
                ],
                rows[:limit],
            )


def total_text(found: Robustness) -> str:
    """Whether the change of the whole is larger than what moves by itself, in words."""
    row = found.total
    band = f"a band of {time_text(row.band_ns)}"
    robust = "" if found.robust_ns is None else f"; robust part of the total: {signed_time(found.robust_ns)}"
    if row.change_ns == 0:
        return f"no change; {band}{robust}"
    if row.robust:
        return f"{signed_time(row.change_ns)} is more than {band}{robust}"
    return f"{signed_time(row.change_ns)} is within {band}: exact but not robust{robust}"
