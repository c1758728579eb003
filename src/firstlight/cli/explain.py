"""`firstlight explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json, Trust

_MOST = 10


def explain(
    boot: Bundle,
    entry: Annotated[
        str | None, typer.Argument(metavar="[ENTRY]", help="Show only this entry of the catalogue, with all evidence.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="MARK|UNIT", help="Count costs up to this mark or unit (default: the end of the boot)."),
    ] = None,
    catalogue: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", readable=False, help="Directory with further entries, as TOML (repeatable)."),
    ] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Boot with the remedy of each cause and compare the gain.")
    ] = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=0, help="Maximum number of causes.")] = _MOST,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Show which known causes of a long boot this one has, what each costs here, and what removes it.

    The catalogue has the evidence of each cause, its remedies and their risk. A cause is priced by what it holds on the
    critical path of this boot, not by the sum of its durations. Causes that share time say so. What is the emulated
    machine's own is listed apart. With --prove, each remedy is booted alone: the gain proves or refutes the cause.

    \b
    Examples:
      firstlight explain a.boot
      firstlight explain a.boot INI-03
      firstlight explain a.boot --prove -n 3
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.explain import absent_report, explain_report, finding_report
    from firstlight.render.views.explain_data import explain_data, one_data

    opened = api.open(boot)
    found = opened.explain(to=to, catalogue=catalogue or ())
    if entry is None:
        shown = found.findings[:limit]
        tried = opened.prove(shown, to=to, trust=trust, progress=True) if prove else []
        if json:
            print_json(explain_data(opened, found, tried))
        else:
            print_report(explain_report(opened, found, limit, tried, proving=prove))
        return
    known, one = found.known.entry(entry), found.finding(entry)
    tried = opened.prove([one], to=to, trust=trust, progress=True) if prove and one is not None else []
    if json:
        print_json(one_data(opened, found, known, one, tried))
    elif one is None:
        print_report(absent_report(opened, found, known))
    else:
        print_report(finding_report(opened, found, one, tried))
