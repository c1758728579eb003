"""Where tables are printed to."""

from __future__ import annotations

import os
import sys
from typing import IO

from rich.console import Console
from rich.text import Text

#: Without a terminal, lines are as long as their text.
_UNBOUNDED = 1000

#: A text is not squeezed into fewer characters than this beside what stands before it.
_NARROWEST = 20


def console(file: IO[str] | None = None) -> Console:
    """A console on *file*, standard output by default.

    It has colour on a terminal only (unless `NO_COLOR` or `FORCE_COLOR` is set), takes its width from the terminal or
    from `COLUMNS`, and takes nothing in a text for markup.
    """
    file = sys.stdout if file is None else file
    bounded = file.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(file=file, width=None if bounded else _UNBOUNDED, markup=False, highlight=False, emoji=False)


def is_unicode(out: Console) -> bool:
    """Whether what the console writes to can take every character."""
    return out.encoding.lower().startswith("utf")


def print_line(out: Console, line: Text | str = "") -> None:
    """Print one line as it is: never wrapped, never cut, and without blanks at its end."""
    out.print(line, soft_wrap=True)


def print_wrapped(out: Console, text: Text | str, head: Text | str = "", indent: int = 0) -> None:
    """Print a text that goes on below itself where the width does not suffice; a word that is too long is broken.

    :param head: what stands before it, in the first line.
    :param indent: where the further lines begin; in a very narrow console the text begins below its head.
    """
    line = Text(head) if isinstance(head, str) else head
    rest = Text(text) if isinstance(text, str) else text
    if out.width - indent < _NARROWEST and out.width < _UNBOUNDED:
        indent = min(4, indent)
        if line.plain.strip():
            line.rstrip()
            print_line(out, line)
            line = Text(" " * indent)
    pieces = list(rest.wrap(out, max(1, out.width - max(indent, line.cell_len)), overflow="fold")) or [Text()]
    for place, piece in enumerate(pieces):
        piece.rstrip()
        print_line(out, Text.assemble(line if place == 0 else " " * indent, piece))


def print_cut(out: Console, line: Text) -> None:
    """Print one line, cut where the width ends."""
    line.truncate(out.width, overflow="ellipsis" if is_unicode(out) else "crop")
    print_line(out, line)
