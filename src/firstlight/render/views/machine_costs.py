"""What the emulated machine adds to a boot, in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.analysis.ledger.costs import MachineCosts
from firstlight.escape import printable
from firstlight.render.tables.machine_costs import machine_sheet
from firstlight.render.terminal.columns import print_table
from firstlight.render.terminal.console import print_line, print_wrapped


def print_machine_costs(out: Console, costs: MachineCosts | None, clock: str) -> None:
    """Print the machine's own costs, their sum and what removes them; nothing for a boot that has none.

    :param clock: what the times are, such as `virtual time`.
    """
    if costs is None or not (costs.machine or costs.kernel):
        return
    sheet = machine_sheet(costs, clock)
    print_line(out)
    print_wrapped(out, Text(printable(sheet.title), style="bold underline"))
    if sheet.rows:
        print_table(out, sheet.columns, sheet.rows, sheet.footer)
    for text in sheet.below:
        print_wrapped(out, Text(printable(text, 600), style="dim"))
