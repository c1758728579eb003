"""`firstlight show`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json


def show(
    boot: Bundle,
    json: Json = False,
    limit: Annotated[int, typer.Option("-n", "--limit", min=0, help="Maximum number of hot functions.")] = 15,
) -> None:
    """Show a boot: its recipe, totals, phases, marks and hot functions.

    \b
    Examples:
      firstlight show a.boot
      firstlight show a.boot --json | jq '.data.phases[] | [.phase, .duration_ns]'
    """
    from firstlight.render.terminal.console import console
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.show import boot_report

    opened = api.open(boot)
    opened.check_sums()
    if json:
        print_json(boot_data(opened, limit))
    else:
        print_report(console(), boot_report(opened, limit))


def boot_data(boot: api.Boot, limit: int) -> dict[str, Any]:
    """What `show` shows, as data: times in nanoseconds."""
    from firstlight.analysis.doubtful import doubt_of, with_share
    from firstlight.analysis.hot_functions import hot_functions, no_functions
    from firstlight.bundle.machine import features_left_out
    from firstlight.bundle.reliance import broken
    from firstlight.render.views.machine_costs import machine_data

    manifest = boot.manifest.model_dump(mode="json")
    shown = (
        "mode",
        "status",
        "failure",
        "clock",
        "recipe",
        "versions",
        "totals",
        "completeness",
        "invariants",
        "sources",
        "contradictions",
        "repeat",
    )
    data: dict[str, Any] = {"boot": str(boot.directory), **{name: manifest[name] for name in shown}}
    doubt = doubt_of(boot)
    data["broken_invariants"] = list(broken(boot.manifest))
    data["doubtful_calls"] = None if doubt is None else {**dataclasses.asdict(doubt), "share": doubt.share}
    data["command_line"] = [dataclasses.asdict(word) for word in boot.command_line_words()]
    data["features_left_out"] = features_left_out(boot)
    data["phases"] = boot.phases().to_dicts()
    data["marks"] = boot.marks().to_dicts()
    data["functions"] = data["no_functions"] = []
    data["machine_costs"] = machine_data(boot.machine_costs())
    if not boot.calls().is_empty():
        table = boot.functions()
        data["functions"] = with_share(hot_functions(table, limit)).to_dicts()
        data["no_functions"] = no_functions(table).to_dicts()
    return data
