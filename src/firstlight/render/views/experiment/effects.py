"""The table of main effects: what each level of each factor changes."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.effects import MainEffect, aliases, main_effects
from firstlight.experiment.estimates import estimate_effects, varies
from firstlight.experiment.results import Results
from firstlight.render.model.table import Column, Table, table
from firstlight.render.views.experiment.statistics import (
    against,
    bar_column,
    estimate_columns,
    estimate_notes,
    relative,
)


def effects_table(results: Results) -> Table:
    """The main effect of every factor's levels."""
    effects = main_effects(results)
    baseline = results.cells[0].time
    paired = results.plan.design.kind in ("full", "one-at-a-time")
    largest = max((abs(each.effect) for each in effects if each.effect is not None), default=Fraction(0))
    estimates = estimate_effects(results) if varies(results) else {}
    named = [("=".join(key), each) for key, each in estimates.items()]
    return table(
        "Main effects",
        [
            Column("Factor", value="factor", style="cyan"),
            Column("Level", value="level"),
            Column("", value="baseline", shown=False),
            Column("Effect", "change", "effect", style="bold", name="effect_ns"),
            Column("%", "share_change", lambda each: relative(each.effect, baseline), name=""),
            *(estimate_columns(lambda each: estimates.get((each.factor, each.level))) if estimates else []),
            Column("Least", "change", "least", wide=80, name="least_ns", shown=paired),
            Column("Most", "change", "most", wide=80, name="most_ns", shown=paired),
            Column("", "count", "pairs", shown=False),
            Column("", "count", "possible", shown=False),
            Column("", value="nothing", shown=False),
            bar_column(lambda each: each.effect, largest, 70),
        ],
        effects,
        notes=[*_notes(results, effects), *(estimate_notes("effect", named, "Holm") if estimates else [])],
    )


def _notes(results: Results, effects: list[MainEffect]) -> list[str]:
    kind = results.plan.design.kind
    how = {
        "full": "Effect: the mean change from the first level, over every combination of the other factors.",
        "one-at-a-time": "Effect: the change from the baseline, with all other factors at their first level.",
    }.get(kind, f"Effect: the difference of the means of both halves of a {kind} design.")
    said = [how, *against(results)]
    for each in effects:
        if each.nothing is not None:
            said.append(f"`{each.factor}={each.level}` changes nothing: {each.nothing}.")
        elif results.is_accident(each.effect):
            said.append(f"`{each.factor}={each.level}`: the effect is within the noise band and may be an accident.")
        elif each.pairs < each.possible:
            said.append(
                f"`{each.factor}={each.level}`: {each.pairs} of {each.possible} comparisons; the others do not count."
            )
    for name, mixed in aliases(results):
        said.append(f"`{name}` cannot be distinguished from {', '.join(f'`{each}`' for each in mixed[:6])}"
                    + (f" and {len(mixed) - 6} more" if len(mixed) > 6 else "") + ".")  # fmt: skip
    return said
