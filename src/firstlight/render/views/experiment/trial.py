"""The answer of `try` in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.comparison.exact.difference import ExactDifference
from firstlight.experiment.limit import Tolerance
from firstlight.quantities import signed_share, signed_time
from firstlight.render.terminal.console import print_line, print_wrapped


def print_verdict(out: Console, difference: ExactDifference, tolerance: Tolerance | None, allowed: bool) -> None:
    """Print in one line what the change did, and whether a limit allows it."""
    whole = difference.whole
    before = None if whole.a is None else whole.a.ns
    change = f"{signed_time(whole.change_ns)} ({signed_share(whole.change_ns, before)})"
    word = "slower" if whole.change_ns > 0 else "faster" if whole.change_ns < 0 else "as fast as before"
    text = f"The change makes this boot {word}: {change}, exactly."
    if tolerance is not None:
        text += f" The limit of {tolerance.text} {'allows it' if allowed else 'is exceeded: a regression'}."
    style = "bold red" if not allowed else "bold green" if whole.change_ns < 0 else "bold"
    print_line(out)
    print_wrapped(out, Text(text, style=style))
