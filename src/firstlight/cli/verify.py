"""`firstlight verify`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firstlight.cli.output import Bundle, Json, print_json

if TYPE_CHECKING:
    from firstlight.lab.verify import Verdict


def verify(
    boot: Bundle,
    qemu: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Boot with another QEMU than the recorded one.")
    ] = None,
    json: Json = False,
) -> None:
    """Boot the recipe of a bundle again: every table is equal, or it says exactly what differs.

    Exit code 0 when equal, else 1. An input that is not the recorded one is named, and nothing is booted.

    \b
    Examples:
      firstlight verify a.boot
      firstlight verify a.boot --json | jq .equal
    """
    from firstlight.lab.progress import progress_for
    from firstlight.lab.verify import verify as verify_boot

    verdict = verify_boot(boot, progress_for(), qemu=qemu)
    if json:
        print_json({"boot": str(boot), "equal": verdict.equal, **dataclasses.asdict(verdict)})
    else:
        for line in verdict_lines(boot, verdict):
            print(line)
    raise typer.Exit(0 if verdict.equal else 1)


def verdict_lines(boot: Path, verdict: Verdict) -> list[str]:
    """The verdict in words.

    >>> from firstlight.lab.verify import Verdict
    >>> verdict_lines(Path("a.boot"), Verdict(tables={"calls": 9, "marks": 3}))
    ['a.boot: equal, 2 tables with 12 rows']
    """
    from firstlight.report.terminal.printable import printable

    name = printable(str(boot))
    if verdict.equal:
        return [f"{name}: equal, {len(verdict.tables)} tables with {sum(verdict.tables.values()):,} rows"]
    if verdict.inputs:
        lines = [f"{name}: not booted, an input is not the recorded one"]
        for changed in verdict.inputs:
            lines.append(f"  {changed.name}: {_short(changed.recorded)} when recorded, {_short(changed.now)} now")
        return lines
    lines = [f"{name}: differs"]
    if verdict.outcome is not None:
        lines.append(f"  {printable(verdict.outcome)}")
    return lines + [f"  {printable(difference.describe())}" for difference in verdict.differences]


def _short(digest: str | None) -> str:
    """Enough of a digest to tell two apart."""
    return "none" if digest is None else digest[:12]
