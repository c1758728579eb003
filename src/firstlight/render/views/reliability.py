"""How far the profile of a recorded boot can be believed, and whether its evidence is complete."""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.analysis.doubtful import doubt_of
from firstlight.analysis.nameless import nameless_modules
from firstlight.bundle.boot import Boot
from firstlight.bundle.reliability import HINT, broken, broken_text, invariant_text, unknown_transfers
from firstlight.escape import printable
from firstlight.quantities import count_text, small_share_text
from firstlight.render.model.report import BLANK, Block, Line


def reliability_report(boot: Boot) -> Iterator[Block]:
    """The verdict on the profile, then what evidence is missing: everything that limits what the profile says."""
    yield BLANK
    if boot.calls().is_empty():
        yield Line(f"none, {boot.why_no_profile()[0]}", head="Functions: ", indent=2)
    yield from _invariants(boot)
    for module, instructions in nameless_modules(boot).items():
        executed = f"{count_text(instructions)} instructions"
        text = f"module `{module}` has no symbols for {executed}; they are in the row `[{module}]`"
        yield Line(printable(text, 200), head="Names: ", indent=2)
    completeness = boot.manifest.completeness
    missing = "missing " + printable("; ".join(completeness.missing), 400)
    lacks = not completeness.complete or completeness.missing
    yield Line(missing if lacks else "complete", head="Evidence: ", indent=2)


def _invariants(boot: Boot) -> Iterator[Line]:
    invariants = boot.manifest.invariants
    doubt = doubt_of(boot)
    doubtful = "" if doubt is None else (
        f"; {doubt.doubtful:,} of {doubt.calls:,} calls doubtful ({small_share_text(doubt.share)})"
    )  # fmt: skip
    text = broken_text(boot.manifest)
    if text is not None:
        yield Line(f"Invariants: {text}{doubtful}", "bold red", indent=2)
        for name, invariant in broken(boot.manifest).items():
            text = printable(invariant_text(name, invariant), 600)
            yield Line(text, head="  broken: ", head_style="red", indent=4)
        yield Line(HINT, head="  hint: ", head_style="dim", indent=4)
    elif invariants:
        yield Line(f"all {len(invariants)} hold{doubtful}", head="Invariants: ", indent=2)
    else:
        yield Line("Invariants: none, the boot has no profile", wrap=False)
    if (passed := unknown_transfers(boot.manifest)) is not None:
        text = (
            f"{passed[0]:,} went through {passed[1]}, a thunk that Firstlight does not know; they are charged to the "
            "functions that jumped there"
        )
        yield Line(printable(text, 600), head="Transfers: ", indent=2)
