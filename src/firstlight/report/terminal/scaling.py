"""What costs by sizes say, for a person."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.text import Text

from firstlight.compare.scaling.answer import Answer, Configuration
from firstlight.compare.scaling.exponent import Exponent
from firstlight.compare.scaling.fit import Fit
from firstlight.compare.scaling.prediction import BAND, FARTHEST, Prediction
from firstlight.report.terminal.columns import Column, print_table
from firstlight.report.terminal.console import is_unicode, print_line, print_wrapped
from firstlight.report.terminal.log_plot import POINTS, log_plot
from firstlight.report.terminal.printable import printable
from firstlight.report.units import time_text

Write = Callable[[float], str]

_WIDEST_PICTURE = 72


def print_scaling(out: Console, answer: Answer) -> None:
    """Print the measurements, a picture, the laws, their checks, the parts, predictions and crossovers."""
    write: Write = _time if answer.nanoseconds else _plain
    print_line(out, Text(printable(answer.title or "Scaling", 200), style="bold"))
    unit = f" ({printable(answer.unit)})" if answer.unit else ""
    print_wrapped(out, Text(f"{printable(answer.cost, 200)} by {answer.variable}{unit}", style="dim"))
    _points(out, answer, write)
    _picture(out, answer, write)
    for configuration in answer.configurations:
        _law(out, answer, configuration, write)
        _parts(out, configuration, write)
        _predictions(out, answer, configuration, write)
    for meeting in answer.meetings:
        _meeting(out, answer, meeting.first, meeting.second, meeting.crossing.size, meeting.crossing.cheaper_above)
        if meeting.bracket is not None:
            bracket = meeting.bracket
            text = (
                f"booted: {printable(meeting.second)} less {printable(meeting.first)} is "
                f"{write(bracket.difference_below)} at {bracket.below}, {write(bracket.difference_above)} at "
                f"{bracket.above}; {len(bracket.measured)} sizes tried"
            )
            print_wrapped(out, text, "  ", 2)
        elif not meeting.crossing.measured:
            print_wrapped(out, Text("beyond the sizes that were measured", style="yellow"), "  ", 2)
    for note in answer.notes:
        print_wrapped(out, printable(note, 300), Text("note: ", style="yellow"), 2)


def _time(value: float) -> str:
    return time_text(round(value))


def _plain(value: float) -> str:
    return f"{value:,.6g}"


def _points(out: Console, answer: Answer, write: Write) -> None:
    several = len(answer.configurations) > 1
    print_line(out)
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
    print_table(out, kept, rows if several else [row[1:] for row in rows])


def _picture(out: Console, answer: Answer, write: Write) -> None:
    series = []
    for each in answer.configurations:
        best = each.study.best
        series.append((each.study.sizes, each.study.costs, _no_curve if each.study.falls else _curve(best)))
    lines = log_plot(series, write, width=min(out.width, _WIDEST_PICTURE), unicode=is_unicode(out))
    if not lines:
        return
    print_line(out)
    for line in lines:
        print_line(out, Text(line, style="blue"))
    legend = "both axes logarithmic; the dotted line is the law"
    if len(series) > 1:
        names = [f"{POINTS[place % len(POINTS)]} {each.name}" for place, each in enumerate(answer.configurations)]
        legend = f"{', '.join(map(printable, names))}; {legend}"
    print_wrapped(out, Text(legend, style="dim"), "  ", 2)


def _curve(fit: Fit) -> Callable[[float], float]:
    return lambda size: float(fit.at(np.array([size]))[0])


def _no_curve(_size: float) -> float:
    return 0.0


def _law(out: Console, answer: Answer, configuration: Configuration, write: Write) -> None:
    study = configuration.study
    best, runner = study.best, study.runner_up
    name = f"{printable(configuration.name)}: " if configuration.name else ""
    print_line(out)
    if study.falls:
        print_wrapped(out, Text(f"{name}falls as {answer.variable} grows", "bold"))
    else:
        said = _formula(best, answer.variable, write)
        print_wrapped(out, Text.assemble((f"{name}{said}", "bold"), f"  ({study.certainty})"))
    if best.slope_interval is not None:
        low, high = best.slope_interval
        print_wrapped(out, f"slope {write(low)} to {write(high)} (95 %)", "  ", 2)
    if runner is not None and not study.falls:
        distance = runner.aicc - best.aicc
        print_wrapped(out, f"runner-up: {_named(runner.law, answer.variable)}, dAICc {distance:.1f}", "  ", 2)
    growth = study.growth_exponent
    if growth is not None:
        print_wrapped(out, f"what grows: exponent {_exponent(growth, exact=study.exact)}", "  ", 2)
    if study.exponent is not None:
        print_wrapped(out, f"the whole cost: exponent {_exponent(study.exponent, exact=study.exact)}", "  ", 2)
    if not study.falls:
        _checks(out, answer, configuration, write)
    for note in study.notes:
        print_wrapped(out, note, Text("  note: ", style="yellow"), 4)


def _checks(out: Console, answer: Answer, configuration: Configuration, write: Write) -> None:
    study = configuration.study
    best = study.best
    if study.exact:
        print_wrapped(out, f"largest misfit: {best.misfit * 100:.2g} %", "  ", 2)
        for step in study.steps[:5]:
            text = f"step between {step.below:g} and {step.above:g}: {write(step.extra)} beside the law"
            print_wrapped(out, text, "  ", 2)
    else:
        print_wrapped(out, f"scatter: {best.scatter * 100:.2g} %", "  ", 2)
    left = study.left_out
    if left is not None:
        chosen = (
            ""
            if left.law in (None, best.law)
            else f"; the others alone would say {_named(str(left.law), answer.variable)}"
        )
        predicted = f"{write(left.predicted)} there: {left.error * 100:+.2f} %"
        text = f"without the largest size it would predict {predicted}{chosen}"
        print_wrapped(out, text, "  ", 2)


def _formula(fit: Fit, variable: str, write: Write) -> str:
    if fit.law == "1":
        return f"{write(fit.constant)}, whatever {variable}"
    return f"{write(fit.constant)} + {write(fit.slope)} x {_named(fit.law, variable)}"


def _named(law: str, variable: str) -> str:
    if law == "1":
        return "constant"
    return " ".join(variable + word[1:] if word.startswith("n") else word for word in law.split())


def _exponent(found: Exponent, *, exact: bool) -> str:
    how = "between neighbours" if exact else "95 %"
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f}, {how}; the {found.sizes} largest sizes)"


def _parts(out: Console, configuration: Configuration, write: Write) -> None:
    study = configuration.study
    if not study.parts:
        return
    print_line(out)
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
    print_table(out, columns, rows, [["all", study.law, study.certainty, *map(write, sums)]])
    text = (
        f"Law: of the part alone. Constant and slope: on the law of the whole, {study.best.law}, so that they add up."
    )
    print_wrapped(out, Text(text, style="dim"))


def _predictions(out: Console, answer: Answer, configuration: Configuration, write: Write) -> None:
    if not configuration.predictions:
        return
    print_line(out)
    columns = [
        Column(f"{answer.variable} =", number=True, style="cyan"),
        Column("Predicted", number=True, style="bold"),
        Column("from", number=True),
        Column("to", number=True),
        Column("Laws", wide=70, longest=60),
    ]
    rows = [[f"{each.size:g}", "-" if each.value is None else write(each.value), write(each.low), write(each.high),
             ", ".join(each.laws)] for each in configuration.predictions]  # fmt: skip
    print_table(out, columns, rows)
    print_wrapped(out, Text(_band_text(configuration.predictions), style="dim"))


def _band_text(predictions: tuple[Prediction, ...]) -> str:
    text = f"The band holds every law within dAICc {BAND:g}."
    if any(each.value is None for each in predictions):
        text += f" Beyond {FARTHEST:g} times the largest size the band is all that can be said."
    return text


def _meeting(out: Console, answer: Answer, first: str, second: str, size: float, cheaper: str) -> None:
    winner, loser = (first, second) if cheaper == "first" else (second, first)
    print_line(out)
    text = (
        f"Crossover at {answer.variable} = {size:.4g}: above it {printable(winner)} costs less than {printable(loser)}."
    )
    print_wrapped(out, Text(text, style="bold"))
