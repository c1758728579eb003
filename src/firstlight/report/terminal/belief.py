"""How far the profile of a recorded boot can be believed, and whether its evidence is complete."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.analysis.nameless import nameless_modules
from firstlight.boot.boot import Boot
from firstlight.report.terminal.console import print_line, print_wrapped
from firstlight.report.terminal.printable import printable
from firstlight.report.units import count_text


def print_belief(out: Console, boot: Boot) -> None:
    """Print the verdict on the profile, then what evidence is missing.

    Everything that limits what the profile says belongs here, one line each.
    """
    print_line(out)
    if boot.calls().is_empty():
        print_wrapped(out, f"none, {boot.why_no_profile()[0]}", "Functions: ", 2)
    _invariants(out, boot)
    for module, instructions in nameless_modules(boot).items():
        executed = f"{count_text(instructions)} instructions"
        text = f"module `{module}` has no symbols for {executed}, which are the row `[{module}]`"
        print_wrapped(out, printable(text, 200), "Names: ", 2)
    _evidence(out, boot)


def _invariants(out: Console, boot: Boot) -> None:
    invariants = boot.manifest.invariants
    broken = [name for name, invariant in invariants.items() if not invariant.holds]
    if broken:
        text = f"Invariants: {len(broken)} of {len(invariants)} do not hold: {', '.join(sorted(broken))}"
        print_wrapped(out, Text(printable(text), style="bold red"), indent=2)
    elif invariants:
        print_line(out, f"Invariants: all {len(invariants)} hold")
    else:
        print_line(out, "Invariants: none, the boot has no profile")


def _evidence(out: Console, boot: Boot) -> None:
    completeness = boot.manifest.completeness
    missing = "missing " + printable("; ".join(completeness.missing), 400)
    print_wrapped(out, "complete" if completeness.complete else missing, "Evidence: ", 2)
