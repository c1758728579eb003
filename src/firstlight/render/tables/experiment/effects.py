"""The table of main effects: what each level of each factor changes."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.effects import MainEffect, aliases, main_effects
from firstlight.experiment.estimates import judge_effects, varies
from firstlight.experiment.json import exact_number
from firstlight.experiment.results import Results
from firstlight.quantities import signed_time
from firstlight.render.model.table import Sheet
from firstlight.render.tables.experiment.cell_text import (
    BAR,
    JUDGED,
    against,
    below_judged,
    judged_cells,
    share_text,
    whole_ns,
)
from firstlight.render.terminal.columns import Column
from firstlight.render.terminal.console import bar


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
        *(JUDGED if judged else []),
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
                signed_time(whole_ns(each.effect)),
                share_text(each.effect, baseline),
                *(judged_cells(judged.get((each.factor, each.level))) if judged else []),
                *([signed_time(whole_ns(each.least)), signed_time(whole_ns(each.most))] if paired else []),
                bar(size, BAR, unicode),
            ]
        )
    return Sheet(
        "Main effects",
        columns,
        rows,
        below=[
            *_below_effects(results, effects),
            *(
                below_judged("effect", [("=".join(key), each) for key, each in judged.items()], "Holm")
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
    said = [how, *against(results)]
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
