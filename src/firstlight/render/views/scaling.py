"""What costs by sizes say, for a person."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.experiment.scaling.result import Answer, Configuration
from firstlight.render.model.table import Sheet
from firstlight.render.tables.scaling import (
    law_lines,
    law_text,
    meeting_line,
    meeting_text,
    parts_sheet,
    points_sheet,
    predictions_sheet,
    subtitle,
    write_of,
)
from firstlight.render.terminal.columns import print_table
from firstlight.render.terminal.console import is_unicode, print_line, print_wrapped
from firstlight.render.views.scatter import POINTS, log_plot
from firstlight.stats.scaling.fit import Fit

_WIDEST_PICTURE = 72


def print_scaling(out: Console, answer: Answer) -> None:
    """Print the measurements, a picture, the laws, their checks, the parts, predictions and crossovers."""
    print_line(out, Text(printable(answer.title or "Scaling", 200), style="bold"))
    print_wrapped(out, Text(printable(subtitle(answer), 400), style="dim"))
    _sheet(out, points_sheet(answer))
    _picture(out, answer)
    for configuration in answer.configurations:
        _law(out, answer, configuration)
        for sheet in (parts_sheet(answer, configuration), predictions_sheet(answer, configuration)):
            if sheet is not None:
                _sheet(out, sheet)
    for meeting in answer.meetings:
        print_line(out)
        print_wrapped(out, Text(printable(meeting_text(answer, meeting), 600), style="bold"))
        if (line := meeting_line(answer, meeting)) is not None:
            beyond = meeting.bracket is None
            print_wrapped(out, Text(line, style="yellow") if beyond else printable(line, 600), "  ", 2)
    for note in answer.notes:
        print_wrapped(out, printable(note, 300), Text("note: ", style="yellow"), 2)


def _sheet(out: Console, sheet: Sheet) -> None:
    print_line(out)
    print_table(out, sheet.columns, sheet.rows, sheet.footer)
    for text in sheet.below:
        print_wrapped(out, Text(text, style="dim"))


def _picture(out: Console, answer: Answer) -> None:
    series = []
    for each in answer.configurations:
        best = each.study.best
        series.append((each.study.sizes, each.study.costs, _no_curve if each.study.falls else _curve(best)))
    lines = log_plot(series, write_of(answer), width=min(out.width, _WIDEST_PICTURE), unicode=is_unicode(out))
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


def _law(out: Console, answer: Answer, configuration: Configuration) -> None:
    name = f"{printable(configuration.name)}: " if configuration.name else ""
    law, certainty = law_text(answer, configuration)
    print_line(out)
    sure = f"  ({certainty})" if certainty else ""
    print_wrapped(out, Text.assemble((f"{name}{law}", "bold"), sure))
    for line in law_lines(answer, configuration):
        print_wrapped(out, line, "  ", 2)
    for note in configuration.study.notes:
        print_wrapped(out, note, Text("  note: ", style="yellow"), 4)
