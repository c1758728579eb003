"""`firstlight export`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.analysis.options import Unit
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json
from firstlight.errors import UsageError
from firstlight.escape import printable
from firstlight.exporters.formats import FORMATS, Format, To


def export(
    boot: Bundle,
    to: Annotated[To, typer.Option("--to", help="The output format.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The output file (default: NAME with the format's suffix); `-` is standard output.",
        ),
    ] = None,
    unit: Annotated[
        Unit | None,
        typer.Option(help="Weight of the call stacks (folded, speedscope, firefox; default: time)."),
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="With --to csv: write only this table, as NAME.TABLE.csv.")
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="With --to csv: do not put an apostrophe before text that a spreadsheet would evaluate."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file or directory.")] = False,
    json: Json = False,
) -> None:
    """Write a boot in the format of another tool. Standard error lists what the format cannot hold.

    \b
    perfetto    ui.perfetto.dev, trace_processor: spans, marks, log, counters on tracks
    firefox     profiler.firefox.com: the calling-context tree, spans as markers
    speedscope  speedscope.app: the calling-context tree, spans
    folded      FlameGraph, inferno: one line for each call path
    uftrace     uftrace report, graph, replay, tui: a directory
    csv         every table, zipped or in a directory; json: one document
    svg         a boot chart, for print

    \b
    Examples:
      firstlight export a.boot --to perfetto
      firstlight export a.boot --to folded --unit instructions -o - | inferno-flamegraph > a.svg
      firstlight export a.boot --to csv --table spans -o - > spans.csv
    """
    kind = FORMATS[to]
    _check(to, kind, output, unit, table, exact, json)
    if output == Path("-"):
        _to_stdout(boot, to, kind, unit or "time", table, exact)
        return
    from firstlight.ingest.progress import Patience

    with Patience() as patience:
        patience.step("writing the export")
        written = api.export(boot, to, output, unit=unit or "time", table=table, exact=exact, force=force)
    if json:
        print_json({"boot": str(boot), "to": str(to), "file": str(written.path), "bytes": written.size,
                    "counts": written.counts, "notes": written.notes})  # fmt: skip
        return
    print(written.path)
    _print_notes(written)


def _check(
    to: To, kind: Format, output: Path | None, unit: Unit | None, table: str | None, exact: bool, json: bool
) -> None:
    """Refuse options that do not go together, before anything is read."""
    if unit is not None and not kind.unit:
        able = ", ".join(name for name, other in FORMATS.items() if other.unit)
        raise UsageError(f"`--to {to}` has no unit to choose", hint=f"`--unit` is for {able}")
    if to is not To.csv and (table is not None or exact):
        raise UsageError(f"`--to {to}` has no `{'--table' if table is not None else '--exact'}`", hint="it is for csv")
    if output != Path("-"):
        return
    if json:
        raise UsageError("`-o -` excludes `--json`: both go to standard output")
    if kind.directory:
        raise UsageError(
            f"`--to {to}` writes a directory, which standard output cannot hold", hint="name one with `-o`"
        )
    if kind.binary and table is None and sys.stdout.isatty():
        raise UsageError(f"`--to {to}` is binary and not for a terminal", hint="name a file with `-o`, or use a pipe")


def _to_stdout(boot: Path, to: To, kind: Format, unit: Unit, table: str | None, exact: bool) -> None:
    """Whole or not at all, as with a file."""
    with tempfile.TemporaryDirectory(prefix="firstlight-export-") as directory:
        file = Path(directory) / f"export{kind.suffix if table is None else '.csv'}"
        written = api.export(boot, to, file, unit=unit, table=table, exact=exact)
        sys.stdout.flush()
        with file.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    _print_notes(written)


def _print_notes(written: api.Export) -> None:
    for note in written.notes:
        print(f"note: {printable(note)}", file=sys.stderr)
