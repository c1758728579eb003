"""The table of interactions: what two factors change together beyond what each does alone."""

from __future__ import annotations

from fractions import Fraction

from firstlight.experiment.effects import Interaction, interactions
from firstlight.experiment.estimates import judge_interactions, varies
from firstlight.experiment.json import exact_number
from firstlight.experiment.results import Results
from firstlight.quantities import signed_time
from firstlight.render.model.table import Sheet
from firstlight.render.tables.experiment.cell_text import BAR, JUDGED, judged_cells, share_text, whole_ns
from firstlight.render.terminal.columns import Column
from firstlight.render.terminal.console import bar

_INTERACTIONS = 10


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
        *(JUDGED if judged else []),
        Column("", wide=70, style="blue", picture=True),
    ]
    largest = max((abs(each.effect) for each in found if each.effect is not None), default=Fraction(0))
    baseline = results.cells[0].time
    shown = found[:_INTERACTIONS]
    rows = [
        [
            _both(each),
            signed_time(whole_ns(each.effect)),
            share_text(each.effect, baseline),
            *(judged_cells(judged.get((each.factors, each.levels))) if judged else []),
            bar(0.0 if each.effect is None or not largest else float(abs(each.effect) / largest), BAR, unicode),
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


def _both(each: Interaction) -> str:
    return " x ".join(f"{name}={level}" for name, level in zip(each.factors, each.levels, strict=True))
