"""The tables of an experiment, for a terminal, Markdown or CSV: cells, effects, interactions, shares."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from firstlight.compare.experiment.effects import Interaction, MainEffect, aliases, interactions, main_effects
from firstlight.compare.experiment.judged import Judged, judge_cells, judge_effects, judge_interactions, varies
from firstlight.compare.experiment.results import CellResult, Results
from firstlight.compare.experiment.shape import exact_number
from firstlight.compare.experiment.shapley import Shares, shapley
from firstlight.report.sheet import Sheet
from firstlight.report.terminal.columns import Column
from firstlight.report.terminal.console import bar
from firstlight.report.units import count_text, signed_share, signed_time, time_text

_BAR = 20
_LEVELS_ROOM = 30
_JUDGED = [Column("95 %", number=True), Column("p", number=True), Column("Verdict", wide=80)]
_INTERACTIONS = 10


def heading(results: Results) -> list[str]:
    """Of what the figures are, on which clock, between which marks; and whether they are exact."""
    span = results.span
    between = f", {span[0]} to {span[1]}" if span else ""
    title = f"{results.plan.title or results.path}, {results.unit}{between}"
    if results.plan.mode == "exact":
        sure = {
            True: "Exact: a second boot of one recipe was the same, byte for byte.",
            False: "NOT exact: two boots of one recipe differ.",
            None: "Exact mode; no second boot was compared.",
        }[results.canary]
    else:
        sure = f"Not exact: means of boots in randomised blocks, seed {results.state.seed}."
    return [title, sure]


def cells_sheet(results: Results, unicode: bool = True) -> Sheet:
    """Every cell with its figures."""
    baseline = results.cells[0].time
    largest = max((cell.time for cell in results.cells if cell.time is not None), default=Fraction(1))
    several = any(len(cell.boots) > 1 for cell in results.cells)
    judged = judge_cells(results) if varies(results) else {}
    by_level = _by_level(results)
    names = [Column("Cell" if results.plan.factors else "Arm", style="cyan")]
    if by_level:
        # A level is never cut: it is what tells one cell from another.
        names = [Column(factor.name, style="cyan", picture=True) for factor in results.plan.factors]
    columns = [
        *names,
        *([Column("Boots", number=True)] if several else []),
        Column("Mean" if several else "Time", number=True, style="bold"),
        Column("Change", number=True),
        Column("%", number=True),
        *(_JUDGED if judged else []),
        Column("Instructions", number=True, wide=90),
        Column("Idle", number=True, wide=100),
        Column("", wide=124, style="blue", picture=True),
    ]
    rows: list[list[str]] = []
    for cell in results.cells:
        change = None if cell.time is None or baseline is None else round(cell.time - baseline)
        rows.append(
            [
                *(cell.levels.values() if by_level else [cell.name]),
                *([f"{len(cell.counted)}/{len(cell.boots)}"] if several else []),
                time_text(_whole(cell.time)),
                signed_time(change),
                "-" if change is None or baseline is None else signed_share(change, round(baseline)),
                *(_judged_cells(judged.get(cell.name)) if judged else []),
                count_text(_whole(cell.instructions)),
                time_text(_whole(cell.idle)),
                "" if cell.time is None else bar(float(cell.time / largest), _BAR, unicode),
            ]
        )
    factors = [factor.name for factor in results.plan.factors]
    return Sheet(
        "Cells" if factors else "Arms",
        columns,
        rows,
        below=[*_against(results), *(_below_judged("cell", judged.items(), "Holm") if judged else [])],
        data_columns=[
            "cell",
            *factors,
            "boots",
            "counted",
            "time_ns",
            "instructions",
            "idle_ns",
            "change_ns",
            "why_not",
        ],
        data_rows=[_cell_data(cell, factors, baseline) for cell in results.cells],
    )


def _against(results: Results) -> list[str]:
    """What changes and percentages are against, where that is not every factor at its first level."""
    first = {factor.name: next(iter(factor.levels)) for factor in results.plan.factors}
    if not first or results.cells[0].levels == first:
        return []
    return [f"Change and percent: against `{results.cells[0].name}`, the first cell; all at their first is not booted."]


def _by_level(results: Results) -> bool:
    """Whether a cell is shown as a column of levels for each factor: where it has a long name, and they have room."""
    if not results.plan.factors or results.plan.design.kind == "one-at-a-time":
        return False
    widths = [max(map(len, (factor.name, *factor.levels))) + 2 for factor in results.plan.factors]
    return sum(widths) <= _LEVELS_ROOM


def _cell_data(cell: CellResult, factors: list[str], baseline: Fraction | None) -> list[str | int | float | None]:
    change = None if cell.time is None or baseline is None else cell.time - baseline
    figures = [exact_number(each) for each in (cell.time, cell.instructions, cell.idle, change)]
    levels = [cell.levels[factor] for factor in factors]
    return [cell.name, *levels, len(cell.boots), len(cell.counted), *figures, cell.why_not]


def effects_sheet(results: Results, unicode: bool = True) -> Sheet:
    """The main effect of every factor's levels."""
    effects = main_effects(results)
    baseline = results.cells[0].time
    paired = results.plan.design.kind in ("full", "one-at-a-time")
    largest = max((abs(each.effect) for each in effects if each.effect is not None), default=Fraction(0))
    judged = judge_effects(results) if varies(results) else {}
    columns = [
        Column("Factor", style="cyan"),
        Column("Level"),
        Column("Effect", number=True, style="bold"),
        Column("%", number=True),
        *(_JUDGED if judged else []),
        *([Column("Least", number=True, wide=80), Column("Most", number=True, wide=80)] if paired else []),
        Column("", wide=70, style="blue", picture=True),
    ]
    rows = []
    for each in effects:
        size = 0.0 if each.effect is None or not largest else float(abs(each.effect) / largest)
        rows.append(
            [
                each.factor,
                each.level,
                signed_time(_whole(each.effect)),
                _share(each.effect, baseline),
                *(_judged_cells(judged.get((each.factor, each.level))) if judged else []),
                *([signed_time(_whole(each.least)), signed_time(_whole(each.most))] if paired else []),
                bar(size, _BAR, unicode),
            ]
        )
    return Sheet(
        "Main effects",
        columns,
        rows,
        below=[
            *_below_effects(results, effects),
            *(
                _below_judged("effect", [("=".join(key), each) for key, each in judged.items()], "Holm")
                if judged
                else []
            ),
        ],
        data_columns=[
            "factor",
            "level",
            "baseline",
            "effect_ns",
            "least_ns",
            "most_ns",
            "pairs",
            "possible",
            "nothing",
        ],
        data_rows=[
            [
                e.factor,
                e.level,
                e.baseline,
                *map(exact_number, (e.effect, e.least, e.most)),
                e.pairs,
                e.possible,
                e.nothing,
            ]
            for e in effects
        ],
    )


def _below_effects(results: Results, effects: list[MainEffect]) -> list[str]:
    kind = results.plan.design.kind
    how = {
        "full": "Effect: the mean change from the first level, over every combination of the other factors.",
        "one-at-a-time": "Effect: the change against the baseline, all other factors at their first level.",
    }.get(kind, f"Effect: the difference of the means of both halves of a {kind} design.")
    said = [how, *_against(results)]
    for each in effects:
        if each.nothing is not None:
            said.append(f"`{each.factor}={each.level}` changes nothing: {each.nothing}.")
        elif each.pairs < each.possible:
            said.append(
                f"`{each.factor}={each.level}`: {each.pairs} of {each.possible} comparisons; the others do not count."
            )
    for name, mixed in aliases(results):
        said.append(f"`{name}` cannot be told from {', '.join(f'`{each}`' for each in mixed[:6])}"
                    + (f" and {len(mixed) - 6} more" if len(mixed) > 6 else "") + ".")  # fmt: skip
    return said


def interactions_sheet(results: Results, unicode: bool = True) -> Sheet | None:
    """What two factors change together beyond what each does alone; none where nothing tells."""
    found = interactions(results)
    if not found:
        return None
    judged = judge_interactions(results) if varies(results) else {}
    columns = [
        Column("Factors", style="cyan"),
        Column("Interaction", number=True, style="bold"),
        Column("%", number=True),
        *(_JUDGED if judged else []),
        Column("", wide=70, style="blue", picture=True),
    ]
    largest = max((abs(each.effect) for each in found if each.effect is not None), default=Fraction(0))
    baseline = results.cells[0].time
    shown = found[:_INTERACTIONS]
    rows = [
        [
            _both(each),
            signed_time(_whole(each.effect)),
            _share(each.effect, baseline),
            *(_judged_cells(judged.get((each.factors, each.levels))) if judged else []),
            bar(0.0 if each.effect is None or not largest else float(abs(each.effect) / largest), _BAR, unicode),
        ]
        for each in shown
    ]
    below = ["Interaction: the change by both beyond the sum of the changes by each alone, over all else."]
    if len(found) > len(shown):
        below.append(f"{len(found) - len(shown)} smaller ones are left out here; `--json` has them all.")
    return Sheet(
        "Interactions",
        columns,
        rows,
        below=below,
        data_columns=["factor", "level", "other_factor", "other_level", "interaction_ns", "squares"],
        data_rows=[
            [e.factors[0], e.levels[0], e.factors[1], e.levels[1], exact_number(e.effect), e.squares] for e in found
        ],
    )


def shares_sheet(results: Results, unicode: bool = True) -> Sheet | str:
    """Each factor's share of the whole change, or why there are none."""
    shares = shapley(results)
    if isinstance(shares, str):
        return shares
    return _shares_sheet(shares, results, unicode)


def _shares_sheet(shares: Shares, results: Results, unicode: bool) -> Sheet:
    columns = [
        Column("Factor", style="cyan"),
        Column("Share", number=True, style="bold"),
        Column("%", number=True),
        Column("First in", number=True),
        Column("Last out", number=True),
        Column("", wide=80, style="blue", picture=True),
    ]
    largest = max((abs(each.share) for each in shares.shares), default=Fraction(0))
    baseline = results.cells[0].time
    rows = [
        [
            f"{each.factor}={each.level}",
            signed_time(each.whole),
            _share(each.share, baseline),
            signed_time(_whole(each.first_in)),
            signed_time(_whole(each.last_out)),
            bar(float(abs(each.share) / largest) if largest else 0.0, _BAR, unicode),
        ]
        for each in shares.shares
    ]
    first, last = (
        sum(parts, Fraction(0)) for parts in zip(*((e.first_in, e.last_out) for e in shares.shares), strict=True)
    )
    total = round(shares.total)
    footer = [["all on less all off", signed_time(total), _share(shares.total, baseline),
               signed_time(_whole(first)), signed_time(_whole(last)), ""]]  # fmt: skip
    return Sheet(
        "Shares of the whole change",
        columns,
        rows,
        footer,
        below=[
            "Share: the change when the factor is switched on, averaged over every order; shares add up exactly.",
            "First in: switched on alone. Last out: switched on behind all others. These two need not add up.",
        ],
        data_columns=[
            "factor",
            "level",
            "share_ns",
            "share_numerator",
            "share_denominator",
            "first_in_ns",
            "last_out_ns",
        ],
        data_rows=[
            [
                e.factor,
                e.level,
                e.whole,
                e.share.numerator,
                e.share.denominator,
                exact_number(e.first_in),
                exact_number(e.last_out),
            ]
            for e in shares.shares
        ],
    )


def _judged_cells(judged: Judged | None) -> list[str]:
    """What statistics says, in the columns of `_JUDGED`."""
    if judged is None:
        return ["", "", ""]
    bounds = judged.interval_percent
    interval = "-" if bounds is None else f"{bounds[0]:+.2f} to {bounds[1]:+.2f} %"
    return [interval, f"{judged.p:.2g}", judged.word]


def _below_judged(what: str, judged: Iterable[tuple[str, Judged]], method: str) -> list[str]:
    said = [
        f"95 %: interval of the change in percent, Hodges-Lehmann over blocks on logarithms. p: Wilcoxon signed rank, "
        f"adjusted among all by the method of {method}. Equivalent: within 1 % either way."
    ]
    for name, each in judged:
        if each.word == "inconclusive":
            said.append(f"{what} `{name}`: {each.reason}{each.advice}.")
    return said


def _both(each: Interaction) -> str:
    return " x ".join(f"{name}={level}" for name, level in zip(each.factors, each.levels, strict=True))


def _whole(value: Fraction | None) -> int | None:
    return None if value is None else round(value)


def _share(change: Fraction | None, baseline: Fraction | None) -> str:
    return "-" if change is None or baseline is None else signed_share(round(change), round(baseline))
