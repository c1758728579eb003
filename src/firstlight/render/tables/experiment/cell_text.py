"""What the tables of an experiment share: how figures are written, and what statistics says in columns and below."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from firstlight.experiment.estimates import Judged
from firstlight.experiment.results import Results
from firstlight.quantities import signed_share
from firstlight.render.terminal.columns import Column

BAR = 20
JUDGED = [Column("95 %", number=True), Column("p", number=True), Column("Verdict", wide=80)]


def against(results: Results) -> list[str]:
    """What changes and percentages are against, where that is not every factor at its first level."""
    first = {factor.name: next(iter(factor.levels)) for factor in results.plan.factors}
    if not first or results.cells[0].levels == first:
        return []
    return [f"Change and percent: against `{results.cells[0].name}`, the first cell; all at their first is not booted."]


def judged_cells(judged: Judged | None) -> list[str]:
    """What statistics says, in the columns of `JUDGED`."""
    if judged is None:
        return ["", "", ""]
    bounds = judged.interval_percent
    interval = "-" if bounds is None else f"{bounds[0]:+.2f} to {bounds[1]:+.2f} %"
    return [interval, f"{judged.p:.2g}", judged.word]


def below_judged(what: str, judged: Iterable[tuple[str, Judged]], method: str) -> list[str]:
    """How the interval and p were found, and what would settle whatever is inconclusive."""
    said = [
        f"95 %: interval of the change in percent, Hodges-Lehmann over blocks on logarithms. p: Wilcoxon signed rank, "
        f"adjusted among all by the method of {method}. Equivalent: within 1 % either way."
    ]
    for name, each in judged:
        if each.word == "inconclusive":
            said.append(f"{what} `{name}`: {each.reason}{each.advice}.")
    return said


def whole_ns(value: Fraction | None) -> int | None:
    """A mean as whole nanoseconds."""
    return None if value is None else round(value)


def share_text(change: Fraction | None, baseline: Fraction | None) -> str:
    """A change in percent of the baseline."""
    return "-" if change is None or baseline is None else signed_share(round(change), round(baseline))
