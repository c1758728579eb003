"""What costs by sizes say: measurements, laws, parts, predictions and crossovers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from firstlight.experiment.scaling.result import Answer, Configuration, Meeting
from firstlight.quantities import Kind, time_text
from firstlight.render.model.report import BLANK, Block, Drawing, Line
from firstlight.render.model.table import Column, Table, Value, table
from firstlight.render.views.scatter import POINTS, log_plot
from firstlight.stats.scaling.exponent import Exponent
from firstlight.stats.scaling.fit import Fit
from firstlight.stats.scaling.prediction import BAND, FARTHEST, Prediction

Write = Callable[[float], str]

_WIDEST_PICTURE = 72
_NO_LAW = ("falls", "none")


def scaling_report(answer: Answer) -> Iterator[Block]:
    """The measurements, a picture, the laws, their checks, the parts, predictions and crossovers."""
    yield Line(answer.title or "Scaling", "bold")
    yield Line(subtitle(answer), "dim")
    yield BLANK
    yield points_table(answer).untitled
    yield from _picture(answer)
    for configuration in answer.configurations:
        yield from _law(answer, configuration)
        for made in (parts_table(answer, configuration), predictions_table(answer, configuration)):
            if made is not None:
                yield BLANK
                yield made.untitled
    for meeting in answer.meetings:
        yield BLANK
        yield Line(meeting_text(answer, meeting), "bold")
        if (line := meeting_line(answer, meeting)) is not None:
            yield Line(line, "yellow" if meeting.bracket is None else "", head="  ", indent=2)
    for note in answer.notes:
        yield Line(note, head="note: ", head_style="yellow", indent=2)


def _picture(answer: Answer) -> Iterator[Block]:
    """Points and laws; nothing where nothing can be drawn."""
    series = [
        (each.study.sizes, each.study.costs, _no_curve if each.study.law in _NO_LAW else _curve(each.study.best))
        for each in answer.configurations
    ]

    def draw(width: int, unicode: bool) -> list[str]:
        return log_plot(series, write_of(answer), width=min(width, _WIDEST_PICTURE), unicode=unicode)

    if not draw(_WIDEST_PICTURE, True):
        return
    legend = "both axes logarithmic; the dotted line is the model"
    if len(series) > 1:
        names = [f"{POINTS[place % len(POINTS)]} {each.name}" for place, each in enumerate(answer.configurations)]
        legend = f"{', '.join(names)}; {legend}"
    yield from (BLANK, Drawing(draw, "blue"), Line(legend, "dim", head="  ", indent=2))


def _curve(fit: Fit) -> Callable[[float], float]:
    return lambda size: float(fit.at(np.array([size]))[0])


def _no_curve(_size: float) -> float:
    return 0.0


def _law(answer: Answer, configuration: Configuration) -> Iterator[Line]:
    law, certainty = law_text(answer, configuration)
    name = f"{configuration.name}: " if configuration.name else ""
    yield BLANK
    yield Line([(f"{name}{law}", "bold"), (f"  ({certainty})" if certainty else "", "")])
    for line in law_lines(answer, configuration):
        yield Line(line, head="  ", indent=2)
    for note in configuration.study.notes:
        yield Line(note, head="  note: ", head_style="yellow", indent=4)


def write_of(answer: Answer) -> Write:
    """How the costs of an answer are written."""
    return (lambda value: time_text(round(value))) if answer.nanoseconds else (lambda value: f"{value:,.6g}")


def subtitle(answer: Answer) -> str:
    """Which cost, by which size."""
    unit = f" ({answer.unit})" if answer.unit else ""
    return f"{answer.cost} by {answer.variable}{unit}"


def _costs(answer: Answer) -> tuple[Kind, Write | None]:
    """What a column of costs is, and how they are written where they are not times."""
    return ("time", None) if answer.nanoseconds else ("number", write_of(answer))


def points_table(answer: Answer) -> Table:
    """Every measurement beside what the law says."""
    kind, write = _costs(answer)
    several = len(answer.configurations) > 1
    records: list[dict[str, Value]] = []
    for configuration in answer.configurations:
        study = configuration.study
        for size, cost, law in zip(
            study.sizes, study.costs, study.best.at(np.array(study.sizes)).tolist(), strict=True
        ):
            known = {"law": law, "off": cost / law - 1 if law else "-"} if not study.falls else {"law": "-", "off": "-"}
            records.append({"configuration": configuration.name or "-", "size": size, "cost": cost, **known})
    columns = [
        Column("Configuration", value="configuration", style="cyan", longest=30),
        Column(answer.variable, "number", "size", write=_size_text),
        Column("Cost", kind, "cost", style="bold", write=write),
        Column("Law", kind, "law", wide=50, write=write),
        Column("Error", "percent", "off", write=lambda off: f"{off * 100:+.2f} %"),
    ]
    return table("Measurements", columns if several else columns[1:], records)


def _size_text(size: float) -> str:
    return f"{size:g}"


def law_text(answer: Answer, configuration: Configuration) -> tuple[str, str]:
    """The law with its coefficients, and how sure it is; that the cost falls where it does, which no law here says."""
    if configuration.study.falls:
        return f"falls as {answer.variable} grows", ""
    if configuration.study.misfit is not None:
        return "none of these laws", ""
    return formula(configuration.study.best, answer.variable, write_of(answer)), configuration.study.certainty


def law_lines(answer: Answer, configuration: Configuration) -> list[str]:
    """What the law rests on: its rival, exponents without any law, misfits, and the check without the largest size."""
    write, study = write_of(answer), configuration.study
    best, runner = study.best, study.runner_up
    lines = []
    if best.slope_interval is not None:
        low, high = best.slope_interval
        lines.append(f"slope {write(low)} to {write(high)} (95 %)")
    if study.misfit is not None:
        nearest = named(best.law, answer.variable)
        lines.append(f"the nearest is {nearest}: {study.misfit}")
    elif runner is not None and not study.falls:
        distance = runner.aicc - best.aicc
        lines.append(f"runner-up: {named(runner.law, answer.variable)}, dAICc {distance:.1f}")
    growth = study.growth_exponent
    if growth is not None:
        lines.append(f"what grows: exponent {_exponent(growth, exact=study.exact)}")
    if study.exponent is not None:
        lines.append(f"total cost: exponent {_exponent(study.exponent, exact=study.exact)}")
    if study.next_size is not None:
        lines.append(f"measure {answer.variable} = {study.next_size:g} next: the models differ most there")
    return lines if study.falls else [*lines, *_checks(answer, configuration)]


def _checks(answer: Answer, configuration: Configuration) -> list[str]:
    write, study = write_of(answer), configuration.study
    best = study.best
    lines = []
    if study.exact:
        lines.append(f"largest misfit: {best.misfit * 100:.2g} %")
        lines += [
            f"step between {step.below:g} and {step.above:g}: {write(step.extra)} off the model"
            for step in study.steps[:5]
        ]
    else:
        lines.append(f"scatter: {best.scatter * 100:.2g} %")
    left = study.left_out
    if left is not None:
        chosen = (
            ""
            if left.law in (None, best.law)
            else f"; without it, the model would be {named(str(left.law), answer.variable)}"
        )
        predicted = f"{write(left.predicted)} there: {left.error * 100:+.2f} %"
        lines.append(f"without the largest size it would predict {predicted}{chosen}")
    return lines


def formula(fit: Fit, variable: str, write: Write) -> str:
    """A law with its coefficients.

    >>> formula(Fit("n log n", 5.0, 2.0, None, 0.0, 0.0, 0.0, (2.0,)), "x", str)
    '5.0 + 2.0 x x log x'
    >>> formula(Fit("n + n^2", 5.0, 2.0, None, 0.0, 0.0, 0.0, (1.0, 2.0)), "x", str)
    '5.0 + 1.0 x x + 2.0 x x^2'
    """
    if fit.law == "1":
        return f"{write(fit.constant)}, independent of {variable}"
    if len(fit.coefficients) < 2:
        return f"{write(fit.constant)} + {write(fit.slope)} x {named(fit.law, variable)}"
    terms = dict(
        zip(("n", "beyond it") if fit.law.startswith("hinge") else _terms(fit.law), fit.coefficients, strict=True)
    )
    sums = " + ".join(f"{write(each)} x {named(name, variable)}" for name, each in terms.items() if each > 0)
    hinge = f", {fit.law}" if fit.law.startswith("hinge") else ""
    return f"{write(fit.constant)} + {sums}{hinge}"


def _terms(law: str) -> list[str]:
    """The terms of a sum, or of a line with a step.

    >>> _terms("n + n^2"), _terms("n, step above 8")
    (['n', 'n^2'], ['n', 'step above 8'])
    """
    return law.split(" + ") if " + " in law else law.split(", ")


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


def parts_table(answer: Answer, configuration: Configuration) -> Table | None:
    """Every part with its own law, and its coefficients on the law of the whole; none where no part is known."""
    (kind, write), study = _costs(answer), configuration.study
    if not study.parts:
        return None

    def cost(title: str, name: str, wide: int = 0, style: str = "") -> Column:
        return Column(title, kind, name, style, wide, write=write)

    whole: dict[str, Any] = {"name": "all", "law": study.law, "certainty": study.certainty}
    for name in ("constant", "slope", "smallest", "largest"):
        whole[name] = sum(getattr(part, name) for part in study.parts)
    return table(
        "Parts",
        [
            Column("Part", value="name", style="cyan", longest=60),
            Column("Law", value="law", fixed=True, wide=50),
            Column("How sure", value="certainty", fixed=True, wide=100),
            cost("Constant", "constant", wide=90),
            cost("Slope", "slope", style="bold"),
            cost(f"at {study.sizes[0]:g}", "smallest", wide=70),
            cost(f"at {study.sizes[-1]:g}", "largest"),
        ],
        study.parts,
        footer=[whole],
        notes=[
            "Model: fitted to this part only. "
            f"Constant and slope: with the model {study.simple.law} of the total, so that they add up."
        ],
    )


def predictions_table(answer: Answer, configuration: Configuration) -> Table | None:
    """What further sizes would cost; none where none was asked for."""
    kind, write = _costs(answer)
    if not configuration.predictions:
        return None
    return table(
        "Predictions",
        [
            Column(f"{answer.variable} =", "number", "size", style="cyan", write=_size_text),
            Column("Predicted", kind, "value", style="bold", write=write),
            Column("from", kind, "low", write=write),
            Column("to", kind, "high", write=write),
            Column("Laws", value=lambda each: ", ".join(each.laws), wide=70, longest=60),
        ],
        configuration.predictions,
        notes=[_band_text(configuration.predictions)],
    )


def _band_text(predictions: tuple[Prediction, ...]) -> str:
    text = (
        f"The band contains every model within dAICc {BAND:g}, every sum of their terms that is as near, and the error "
        "of predicting the largest size."
    )
    if any(each.times_largest > FARTHEST for each in predictions):
        text += f" Beyond {FARTHEST:g} times the largest size there is no single figure."
    rests = dict.fromkeys(f"{each.size:g} rests on {each.rests_on}" for each in predictions)
    return f"{text} {'; '.join(rests)}."


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
