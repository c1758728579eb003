"""A report in a terminal: the one place that prints what views show."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from firstlight.escape import printable
from firstlight.render.model.report import Drawing, Heading, Line, Report
from firstlight.render.model.table import Table
from firstlight.render.terminal.console import console, is_unicode, print_cut, print_line, print_wrapped
from firstlight.render.terminal.table import print_table

_PLAIN = str.maketrans({"→": "->", "█": "#", "░": "-"})
_LONGEST = 4_000


def print_report(report: Report, out: Console | None = None) -> None:
    """Print the blocks of a report one below the other. No text can control the terminal.

    :param out: where to print; standard output by default.
    """
    out = out or console()
    for block in report:
        if isinstance(block, Table):
            if block.title:
                _heading(out, block.title)
            print_table(out, block)
        elif isinstance(block, Heading):
            _heading(out, block.text)
        elif isinstance(block, Drawing):
            for text in block.draw(out.width, is_unicode(out)):
                print_line(out, Text(printable(text), style=block.style))
        else:
            _line(out, block)


def _heading(out: Console, text: str) -> None:
    print_line(out)
    print_wrapped(out, Text(_text(out, text), style="bold underline"))


def _line(out: Console, line: Line) -> None:
    spans = [(line.text, line.style)] if isinstance(line.text, str) else line.text
    text = Text.assemble(*((_text(out, part), style or line.style) for part, style in spans))
    head = Text(_text(out, line.head), style=line.head_style)
    if line.cut:
        print_cut(out, Text.assemble(head, text))
    elif line.wrap:
        print_wrapped(out, text, head, line.indent)
    else:
        print_line(out, Text.assemble(head, text))


def _text(out: Console, text: str) -> str:
    shown = printable(text, _LONGEST)
    return shown if is_unicode(out) else shown.translate(_PLAIN)


def say_nothing(what: str, hint: str) -> None:
    """Say on standard error that a boot has no record of something, and which record would have it."""
    print(f"note: this boot has no record of {what}", file=sys.stderr)
    print(f"hint: {hint}", file=sys.stderr)
