"""What the tables of an experiment share: relative changes, and what statistics says in columns and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from firstlight.experiment.estimates import EffectEstimate
from firstlight.experiment.results import Results
from firstlight.render.model.pictures import Bar
from firstlight.render.model.table import Column

_BAR = 20


def against(results: Results) -> list[str]:
    """What changes and percentages are against, where that is not every factor at its first level."""
    first = {factor.name: next(iter(factor.levels)) for factor in results.plan.factors}
    if not first or results.cells[0].levels == first:
        return []
    return [
        f"Change and percent: against `{results.cells[0].name}`, the first cell; the cell with all factors "
        "at their first level is not booted."
    ]


def estimate_columns(estimate_of: Callable[[Any], EffectEstimate | None]) -> list[Column]:
    """What statistics says of a record."""

    def interval(record: Any) -> str:
        found = estimate_of(record)
        bounds = None if found is None else found.interval_percent
        return "" if found is None else "-" if bounds is None else f"{bounds[0]:+.2f} to {bounds[1]:+.2f} %"

    def p(record: Any) -> float | str:
        return "" if (found := estimate_of(record)) is None else found.p

    def word(record: Any) -> str:
        return "" if (found := estimate_of(record)) is None else found.word

    return [
        Column("95 %", "number", interval, name=""),
        Column("p", "number", p, name="", write=lambda p: f"{p:.2g}"),
        Column("Verdict", value=word, wide=80, name=""),
    ]


def estimate_notes(what: str, estimates: Iterable[tuple[str, EffectEstimate]], method: str) -> list[str]:
    """How the interval and p were found, and what would settle whatever is inconclusive."""
    notes = [
        f"95 %: interval of the change in percent, Hodges-Lehmann over blocks on logarithms. p: Wilcoxon signed rank, "
        f"adjusted among all by the method of {method}. Equivalent: within 1 % either way."
    ]
    for name, each in estimates:
        if each.word == "inconclusive":
            notes.append(f"{what} `{name}`: {each.reason}{each.advice}.")
    return notes


def relative(change: Fraction | None, baseline: Fraction | None) -> float | None:
    """A change as a share of the baseline, both in whole nanoseconds as they are shown."""
    return None if change is None or not baseline else round(change) / round(baseline)


def bar_column(value: Callable[[Any], Fraction | None], largest: Fraction, wide: int) -> Column:
    """Values as bars beside the largest."""

    def drawn(record: Any) -> Bar | str:
        size = value(record)
        return "" if size is None or not largest else Bar(float(abs(size) / largest), _BAR)

    return Column("", "picture", drawn, "blue", wide)
