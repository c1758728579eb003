"""Noise bands and calibrations in the terminal, and what they say of a difference."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from firstlight.comparison.exceeds_band import Robustness
from firstlight.comparison.noise_band import Band, BandBoot, Range
from firstlight.comparison.statistical.testbed_noise import Calibration
from firstlight.escape import printable
from firstlight.quantities import count_text, signed_count, signed_share, signed_time, time_text
from firstlight.render.terminal.columns import Column, print_table
from firstlight.render.terminal.console import print_line, print_wrapped

_ROWS = 10


def print_band(out: Console, band: Band) -> None:
    """Print how far a boot's figures moved under changes that ought not to matter."""
    print_wrapped(out, Text(f"Noise band of {printable(band.boot, 200)}, {len(band.boots)} boots", style="bold"))
    print_line(out)
    columns = [
        Column("Change", style="cyan"),
        Column("Virtual time", number=True, style="bold"),
        Column("", number=True, wide=60),
        Column("Instructions", number=True, wide=90),
        Column("Idle", number=True, wide=100),
    ]
    first = band.boots[0]
    whole = (time_text(first.virtual_ns), "", count_text(first.instructions), time_text(first.idle_ns))
    rows = [["(as recorded)", *whole]]
    rows += [_boot_cells(each, first) for each in band.boots[1:]]
    width = ["range", _width_time(band.virtual_ns), signed_share(band.virtual_ns.width, first.virtual_ns).lstrip("+"),
             _width_count(band.instructions), _width_time(band.idle_ns)]  # fmt: skip
    print_table(out, columns, rows, [width])
    for text in band.skipped:
        print_wrapped(out, printable(text, 300), head=Text("  not changed: ", style="yellow"), indent=4)
    for level, moved in band.levels.items():
        print_line(out)
        title = f"{level.capitalize()}: {len(moved):,} moved by themselves"
        print_line(out, Text(title, style="bold underline"))
        if moved:
            cells = [[row.name + (f" [{row.module}]" if row.module else ""), time_text(row.low), time_text(row.high),
                      time_text(row.width)] for row in moved[:_ROWS]]  # fmt: skip
            names = [Column("Name", style="cyan"), Column("from", number=True, wide=70),
                     Column("to", number=True, wide=70), Column("Range", number=True, style="bold")]  # fmt: skip
            rest = len(moved) - _ROWS
            print_table(out, names, cells, [[f"({rest:,} more, each less)", "", "", ""]] if rest > 0 else [])


def _boot_cells(boot: BandBoot, first: BandBoot) -> list[str]:
    change = boot.virtual_ns - first.virtual_ns
    instructions, idle = (
        None if None in (one, other) else (other or 0) - (one or 0)
        for one, other in ((first.instructions, boot.instructions), (first.idle_ns, boot.idle_ns))
    )
    return [boot.change, signed_time(change), signed_share(change, first.virtual_ns), signed_count(instructions),
            signed_time(idle)]  # fmt: skip


def _width_time(reach: Range | None) -> str:
    return time_text(None if reach is None else reach.width)


def _width_count(reach: Range | None) -> str:
    return count_text(None if reach is None else reach.width)


def print_calibration(out: Console, found: Calibration) -> None:
    """Print what a testbed can tell."""
    state = ("stable", "bold green") if found.is_stable else ("unstable: comparisons on it mean nothing", "bold red")
    print_line(out, Text.assemble(("Testbed ", "bold"), state))
    for name, text in (
        ("boots", f"{found.pairs} pairs of equal boots, {printable(found.made_at, 40)}, seed {found.seed}"),
        ("noise", f"{found.sigma_percent:.3f} % between the boots of a pair (robust standard deviation)"),
        ("drift", f"{found.drift_percent:+.2f} % over the session"),
        ("sorts", "all boots are of one" if found.modes == 1 else f"the boots come in {found.modes}"),
        ("A/A test", f"p = {found.p:.3g}; an unstable testbed is one below 0.01"),
        ("relabelled", f"{found.false_alarms:.1%} of 1,000 lots are called different".replace("%", " %", 1)),
    ):
        print_wrapped(out, text, Text(f"  {name:10}  ", style="dim"), 14)
    print_line(out)
    print_line(out, Text("Least change that is found nine times in ten", style="bold underline"))
    columns = [Column("Pairs", number=True, style="cyan"), Column("Change", number=True, style="bold"),
               Column("below it is noise", number=True)]  # fmt: skip
    rows = [[str(each.pairs), f"{each.percent:.2f} %", f"{found.floor_percent(each.pairs):.2f} %"]
            for each in found.detectable]  # fmt: skip
    print_table(out, columns, rows)


def print_robustness(out: Console, found: Robustness, limit: int) -> None:
    """Print which of a difference's changes are larger than what moves by itself.

    :param limit: how many rows of each level.
    """
    print_line(out)
    print_line(out, Text("Against the noise band", style="bold underline"))
    if found.caution is not None:
        print_wrapped(out, printable(found.caution, 300), head=Text("  caution: ", style="yellow"), indent=4)
    style = "bold" if found.total.robust else "bold yellow"
    print_wrapped(out, Text(f"total: {total_text(found)}", style=style), indent=2)
    columns = [Column("Name", style="cyan"), Column("Change", number=True, style="bold"),
               Column("Band", number=True), Column("", picture=True)]  # fmt: skip
    for level, rows in found.levels.items():
        robust = [row for row in rows if row.robust]
        print_line(out, f"{level}: {len(robust):,} of {len(rows):,} changes are larger than their bands")
        if rows:
            cells = [[row.name + (f" [{row.module}]" if row.module else ""), signed_time(row.change_ns),
                      time_text(row.band_ns), "" if row.robust else "not robust"] for row in rows[:limit]]  # fmt: skip
            print_table(out, columns, cells)


def total_text(found: Robustness) -> str:
    """Whether the change of the whole is larger than what moves by itself, in words."""
    row = found.total
    band = f"a band of {time_text(row.band_ns)}"
    if row.change_ns == 0:
        return f"no change; {band}"
    if row.robust:
        return f"{signed_time(row.change_ns)} is more than {band}"
    return f"{signed_time(row.change_ns)} is within {band}: exact but not robust"
