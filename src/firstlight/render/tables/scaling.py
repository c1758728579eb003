"""What costs by sizes say, as tables and in words, for a terminal or a page."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firstlight.experiment.scaling.result import Answer, Configuration, Meeting
from firstlight.quantities import time_text
from firstlight.render.model.table import Sheet
from firstlight.render.terminal.columns import Column
from firstlight.stats.scaling.exponent import Exponent
from firstlight.stats.scaling.fit import Fit
from firstlight.stats.scaling.prediction import BAND, FARTHEST, Prediction

Write = Callable[[float], str]


def write_of(answer: Answer) -> Write:
    """How the costs of an answer are written."""
    return (lambda value: time_text(round(value))) if answer.nanoseconds else (lambda value: f"{value:,.6g}")


def subtitle(answer: Answer) -> str:
    """Which cost, by which size."""
    unit = f" ({answer.unit})" if answer.unit else ""
    return f"{answer.cost} by {answer.variable}{unit}"


def points_sheet(answer: Answer) -> Sheet:
    """Every measurement beside what the law says."""
    write = write_of(answer)
    several = len(answer.configurations) > 1
    columns = [
        Column("Configuration", style="cyan", longest=30),
        Column(answer.variable, number=True),
        Column("Cost", number=True, style="bold"),
        Column("Law", number=True, wide=50),
        Column("Off", number=True),
    ]
    rows = []
    for configuration in answer.configurations:
        study = configuration.study
        said = study.best.at(np.array(study.sizes))
        for size, cost, law in zip(study.sizes, study.costs, said.tolist(), strict=True):
            off = f"{(cost / law - 1) * 100:+.2f} %" if law else "-"
            said_of = ["-", "-"] if study.falls else [write(law), off]
            rows.append([configuration.name or "-", f"{size:g}", write(cost), *said_of])
    kept = columns if several else columns[1:]
    return Sheet("Measurements", kept, rows if several else [row[1:] for row in rows])


def law_text(answer: Answer, configuration: Configuration) -> tuple[str, str]:
    """The law with its coefficients, and how sure it is; that the cost falls where it does, which no law here says."""
    if configuration.study.falls:
        return f"falls as {answer.variable} grows", ""
    return formula(configuration.study.best, answer.variable, write_of(answer)), configuration.study.certainty


def law_lines(answer: Answer, configuration: Configuration) -> list[str]:
    """What the law rests on: its rival, exponents without any law, misfits, and the check without the largest size."""
    write, study = write_of(answer), configuration.study
    best, runner = study.best, study.runner_up
    lines = []
    if best.slope_interval is not None:
        low, high = best.slope_interval
        lines.append(f"slope {write(low)} to {write(high)} (95 %)")
    if runner is not None and not study.falls:
        distance = runner.aicc - best.aicc
        lines.append(f"runner-up: {named(runner.law, answer.variable)}, dAICc {distance:.1f}")
    growth = study.growth_exponent
    if growth is not None:
        lines.append(f"what grows: exponent {_exponent(growth, exact=study.exact)}")
    if study.exponent is not None:
        lines.append(f"the whole cost: exponent {_exponent(study.exponent, exact=study.exact)}")
    return lines if study.falls else [*lines, *_checks(answer, configuration)]


def _checks(answer: Answer, configuration: Configuration) -> list[str]:
    write, study = write_of(answer), configuration.study
    best = study.best
    lines = []
    if study.exact:
        lines.append(f"largest misfit: {best.misfit * 100:.2g} %")
        lines += [
            f"step between {step.below:g} and {step.above:g}: {write(step.extra)} beside the law"
            for step in study.steps[:5]
        ]
    else:
        lines.append(f"scatter: {best.scatter * 100:.2g} %")
    left = study.left_out
    if left is not None:
        chosen = (
            ""
            if left.law in (None, best.law)
            else f"; the others alone would say {named(str(left.law), answer.variable)}"
        )
        predicted = f"{write(left.predicted)} there: {left.error * 100:+.2f} %"
        lines.append(f"without the largest size it would predict {predicted}{chosen}")
    return lines


def formula(fit: Fit, variable: str, write: Write) -> str:
    """A law with its coefficients.

    >>> formula(Fit("n log n", 5.0, 2.0, None, 0.0, 0.0, 0.0), "x", str)
    '5.0 + 2.0 x x log x'
    """
    if fit.law == "1":
        return f"{write(fit.constant)}, whatever {variable}"
    return f"{write(fit.constant)} + {write(fit.slope)} x {named(fit.law, variable)}"


def named(law: str, variable: str) -> str:
    """A law's name with the size under its own.

    >>> named("n^2 log n", "k"), named("1", "k")
    ('k^2 log k', 'constant')
    """
    if law == "1":
        return "constant"
    return " ".join(variable + word[1:] if word.startswith("n") else word for word in law.split())


def _exponent(found: Exponent, *, exact: bool) -> str:
    how = "between neighbours" if exact else "95 %"
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f}, {how}; the {found.sizes} largest sizes)"


def parts_sheet(answer: Answer, configuration: Configuration) -> Sheet | None:
    """Every part with its own law, and its coefficients on the law of the whole; none where no part is known."""
    write, study = write_of(answer), configuration.study
    if not study.parts:
        return None
    columns = [
        Column("Part", style="cyan", longest=60),
        Column("Law", picture=True, wide=50),
        Column("How sure", picture=True, wide=100),
        Column("Constant", number=True, wide=90),
        Column("Slope", number=True, style="bold"),
        Column(f"at {study.sizes[0]:g}", number=True, wide=70),
        Column(f"at {study.sizes[-1]:g}", number=True),
    ]
    rows = [[part.name, part.law, part.certainty, write(part.constant), write(part.slope), write(part.smallest),
             write(part.largest)] for part in study.parts]  # fmt: skip
    sums = [sum(getattr(part, name) for part in study.parts) for name in ("constant", "slope", "smallest", "largest")]
    footer = [["all", study.law, study.certainty, *map(write, sums)]]
    text = (
        f"Law: of the part alone. Constant and slope: on the law of the whole, {study.best.law}, so that they add up."
    )
    return Sheet("Parts", columns, rows, footer, [text])


def predictions_sheet(answer: Answer, configuration: Configuration) -> Sheet | None:
    """What further sizes would cost; none where none was asked for."""
    write = write_of(answer)
    if not configuration.predictions:
        return None
    columns = [
        Column(f"{answer.variable} =", number=True, style="cyan"),
        Column("Predicted", number=True, style="bold"),
        Column("from", number=True),
        Column("to", number=True),
        Column("Laws", wide=70, longest=60),
    ]
    rows = [[f"{each.size:g}", "-" if each.value is None else write(each.value), write(each.low), write(each.high),
             ", ".join(each.laws)] for each in configuration.predictions]  # fmt: skip
    return Sheet("Predictions", columns, rows, [], [_band_text(configuration.predictions)])


def _band_text(predictions: tuple[Prediction, ...]) -> str:
    text = f"The band holds every law within dAICc {BAND:g}."
    if any(each.value is None for each in predictions):
        text += f" Beyond {FARTHEST:g} times the largest size the band is all that can be said."
    return text


def meeting_text(answer: Answer, meeting: Meeting) -> str:
    """Where two configurations cost the same, and which is cheaper above."""
    ends = meeting.first, meeting.second
    winner, loser = ends if meeting.crossing.cheaper_above == "first" else ends[::-1]
    bracket, size = meeting.bracket, meeting.crossing.size
    if bracket is not None and bracket.above - bracket.below > 1:
        between = f"{answer.variable} = {bracket.below} and {bracket.above}"
        return f"Crossover between {between}: above it {winner} costs less than {loser}."
    return f"Crossover at {answer.variable} = {size:.4g}: above it {winner} costs less than {loser}."


def meeting_line(answer: Answer, meeting: Meeting) -> str | None:
    """What real boots say of it, or that it lies beyond what was measured."""
    write, bracket = write_of(answer), meeting.bracket
    if bracket is not None:
        tried = f"{len(bracket.measured)} sizes tried" if bracket.measured else "no size between them was tried"
        return (
            f"booted: {meeting.second} less {meeting.first} is {write(bracket.difference_below)} at {bracket.below}, "
            f"{write(bracket.difference_above)} at {bracket.above}; {tried}"
        )
    return None if meeting.crossing.measured else "beyond the sizes that were measured"
