"""How far the profile of a recorded boot can be believed, and whether its evidence is complete."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.analysis.doubtful import doubt_of
from firstlight.analysis.nameless import nameless_modules
from firstlight.bundle.boot import Boot
from firstlight.bundle.reliance import HINT, broken, broken_text, invariant_text, unknown_transfers
from firstlight.escape import printable
from firstlight.quantities import count_text, small_share_text
from firstlight.render.terminal.console import print_line, print_wrapped


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
    doubt = doubt_of(boot)
    doubtful = "" if doubt is None else (
        f"; {doubt.doubtful:,} of {doubt.calls:,} calls doubtful ({small_share_text(doubt.share)})"
    )  # fmt: skip
    text = broken_text(boot.manifest)
    if text is not None:
        print_wrapped(out, Text(f"Invariants: {text}{doubtful}", style="bold red"), indent=2)
        for name, invariant in broken(boot.manifest).items():
            print_wrapped(out, printable(invariant_text(name, invariant), 600), Text("  broken: ", style="red"), 4)
        print_wrapped(out, HINT, Text("  hint: ", style="dim"), 4)
    elif invariants:
        print_wrapped(out, f"all {len(invariants)} hold{doubtful}", "Invariants: ", 2)
    else:
        print_line(out, "Invariants: none, the boot has no profile")
    if (passed := unknown_transfers(boot.manifest)) is not None:
        text = (
            f"{passed[0]:,} went through {passed[1]}, a thunk that Firstlight does not know; they are charged to the "
            "functions that jumped there"
        )
        print_wrapped(out, printable(text, 600), "Transfers: ", 2)


def _evidence(out: Console, boot: Boot) -> None:
    completeness = boot.manifest.completeness
    missing = "missing " + printable("; ".join(completeness.missing), 400)
    print_wrapped(out, "complete" if completeness.complete else missing, "Evidence: ", 2)
