"""The answer of `try`."""

from __future__ import annotations

from firstlight.comparison.exact.difference import ExactDifference
from firstlight.comparison.known_bands import KnownBand
from firstlight.experiment.limit import Tolerance
from firstlight.quantities import signed_share, signed_time
from firstlight.render.model.report import Line


def trial_verdict(difference: ExactDifference, tolerance: Tolerance | None, allowed: bool, band: KnownBand) -> Line:
    """In one line what the change did, and whether a limit allows it."""
    whole = difference.whole
    before = None if whole.a is None else whole.a.ns
    change = f"{signed_time(whole.change_ns)} ({signed_share(whole.change_ns, before)})"
    word = "slower" if whole.change_ns > 0 else "faster" if whole.change_ns < 0 else "as fast as before"
    accident = band.covers(whole.change_ns)
    text = f"The change makes this boot {word}: {change}, exactly."
    if accident:
        text = f"The change has no effect beyond the noise band: {change}. N{band.text[1:]}."
    if tolerance is not None:
        text += f" The limit of {tolerance.text} {'allows it' if allowed else 'is exceeded: a regression'}."
    style = "bold red" if not allowed else "bold green" if whole.change_ns < 0 and not accident else "bold"
    return Line(text, style)
