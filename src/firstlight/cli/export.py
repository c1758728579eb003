"""`firstlight export`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Literal, Protocol

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import Bundle, Json, print_notes
from firstlight.errors import UsageError


def export(
    boot: Bundle,
    to: Annotated[api.ExportFormat, typer.Option("--to", help="The output format.")],
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
        api.FunctionUnit | None,
        typer.Option(help="Weight of the call stacks (folded, speedscope, firefox; default: time)."),
    ] = None,
    by: Annotated[
        Literal["function", "process"],
        typer.Option(
            help="With --to folded: frames are functions, or processes with their user mode and system calls."
        ),
    ] = "function",
    table: Annotated[
        str | None, typer.Option(metavar="TABLE", help="With --to csv: write only this table, as NAME.TABLE.csv.")
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="With --to csv: do not put an apostrophe before text that a spreadsheet would evaluate."
        ),
    ] = False,
    origin: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --to kcidb: the submitting CI system (default: firstlight)."),
    ] = None,
    build_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="With --to kcidb: the submitted build (default: derived from the kernel's digest)."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file or directory.")] = False,
    json: Json = False,
) -> None:
    """Write a boot in the format of another tool. Standard error lists what the format cannot hold.

    \b
    perfetto    ui.perfetto.dev, trace_processor: spans, marks, log, counters, processes on tracks
    firefox     profiler.firefox.com: the calling-context tree, spans and processes as markers
    speedscope  speedscope.app: the calling-context tree, spans
    folded      FlameGraph, inferno: one line for each call path, or of each process
    uftrace     uftrace report, graph, replay, tui: a directory
    bootchart   pybootchartgui: processes, sampled each hundredth of a second
    csv         every table, zipped or in a directory; json: one document
    svg         a boot chart, for print; timeline-svg: the tracks of the report page as one drawing
    lava        a script of lava-test-case calls, for a test definition of LAVA
    kcidb       a submission to KernelCI, schema 5.3: a test for each phase and mark
    openmetrics Prometheus, node_exporter's text files: gauges; influx: InfluxDB's line protocol

    \b
    Examples:
      firstlight export a.boot --to perfetto
      firstlight export a.boot --to folded --unit instructions -o - | inferno-flamegraph > a.svg
      firstlight export a.boot --to folded --by process
      firstlight export a.boot --to timeline-svg -o a.svg
      firstlight export a.boot --to csv --table spans -o - > spans.csv
      firstlight export a.boot --to kcidb --origin mylab --build-id maestro:67e1c3f0
    """
    _check(to, output, unit, table, exact, json)
    if by != "function" and to is not api.ExportFormat.folded:
        raise UsageError(f"`--to {to}` has no `--by`", hint="it is for folded")
    if to is not api.ExportFormat.kcidb and not (origin is None and build_id is None):
        raise UsageError(f"`--to {to}` has no `--{'origin' if origin else 'build-id'}`", hint="it is for kcidb")

    def write(file: Path | None, *, progress: bool, force: bool = False) -> api.Export:
        return api.export(
            boot, to, file, unit=unit or "time", by=by, table=table, exact=exact, origin=origin or "firstlight",
            build=build_id, force=force, progress=progress,
        )  # fmt: skip

    if output == Path("-"):
        _to_stdout(f"export{to.form.suffix if table is None else '.csv'}", write)
        return
    written = write(output, progress=True, force=force)
    if json:
        print_json({"boot": str(boot), "to": str(to), "file": str(written.path), "bytes": written.size,
                    "counts": written.counts, "notes": written.notes})  # fmt: skip
        return
    print(written.path)
    print_notes(written.notes)


def _check(
    to: api.ExportFormat, output: Path | None, unit: api.FunctionUnit | None, table: str | None, exact: bool,
    json: bool,
) -> None:  # fmt: skip
    """Reject options that exclude each other, before anything is read."""
    if unit is not None and not to.form.unit:
        able = ", ".join(name for name in api.ExportFormat if name.form.unit)
        raise UsageError(f"`--to {to}` has no `--unit`", hint=f"`--unit` is for {able}")
    if to is not api.ExportFormat.csv and (table is not None or exact):
        raise UsageError(f"`--to {to}` has no `{'--table' if table is not None else '--exact'}`", hint="it is for csv")
    if output != Path("-"):
        return
    if json:
        raise UsageError("`-o -` cannot be combined with `--json`: both write to standard output")
    if to.form.directory:
        raise UsageError(
            f"`--to {to}` writes a directory and cannot write to standard output", hint="name one with `-o`"
        )
    if to.form.binary and table is None and sys.stdout.isatty():
        raise UsageError(
            f"`--to {to}` is binary and cannot be written to a terminal", hint="name a file with `-o`, or use a pipe"
        )


class _Write(Protocol):
    """Writes the export to a file."""

    def __call__(self, file: Path | None, *, progress: bool) -> api.Export: ...


def _to_stdout(name: str, write: _Write) -> None:
    """Whole or not at all, as with a file."""
    with tempfile.TemporaryDirectory(prefix="firstlight-export-") as directory:
        file = Path(directory) / name
        written = write(file, progress=False)
        sys.stdout.flush()
        with file.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    print_notes(written.notes)
