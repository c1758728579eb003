"""`firstlight import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from firstlight import api
from firstlight.cli.envelope import print_json
from firstlight.cli.output import ForceBundle, Json, OwnMarks, Ready
from firstlight.errors import UsageError


def import_(
    records: Annotated[
        list[str] | None,
        typer.Argument(metavar="RECORD...", help="Files, directories or archives of one boot; `-` is standard input."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="BOOT",
            help="The bundle to write (default: named after the first record, in the current directory).",
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help="Read every record in this format.")
    ] = None,
    boot: Annotated[
        int | None,
        typer.Option("--boot", metavar="N", help="Import the Nth boot of a record with several; -1 is the last."),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch", metavar="DIR", help="Import each entry of this directory as a boot, into `-o DIRECTORY`."
        ),
    ] = None,
    split: Annotated[
        bool, typer.Option("--split", help="Write one bundle per boot: NAME-1.boot, NAME-2.boot ...")
    ] = False,
    force: ForceBundle = False,
    any_machine: Annotated[
        bool, typer.Option("--any-machine", help="Merge records of several machines and report the conflict.")
    ] = False,
    ready: Ready = None,
    mark: OwnMarks = None,
    formats: Annotated[bool, typer.Option("--formats", help="List all formats and stop.")] = False,
    json: Json = False,
) -> None:
    """Import records of other tools: logs, traces, timings of firmware, kernel, udev and systemd.

    Several records are merged on one clock. The bundle stores the unchanged records below `raw/`.

    With --batch, every file, archive and folder of a directory becomes a boot of its own, and a table lists the outcome
    of each. A second run continues and does not import unchanged entries again, except with --force. Links, devices and
    pipes are named and not followed. The exit code is 1 if a boot record was not imported.

    \b
    Examples:
      firstlight import dmesg.txt -o a.boot
      firstlight import boot/ serial.log plot.json trace.txt -o a.boot
      journalctl -o json -b | firstlight import - -o a.boot
      firstlight import kft.log && firstlight functions kft.boot
      firstlight import board.log --ready 'login: ' --mark camera_up='camera [0-9] up' -o a.boot
      firstlight import --batch logs/ -o boots/
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.import_summary import formats_table, import_report, import_warnings, imported_data

    if formats:
        import firstlight._core

        known = firstlight._core.record_formats()
        if json:
            print_json([{"format": name, "title": title} for name, title in known])
        else:
            print_report([formats_table(known)])
        return
    if batch is not None:
        _import_batch(batch, records, output, format, boot, split, force, any_machine, ready, mark or [], json)
        return
    written = api.import_all(
        records or [],
        output=output,
        format=format,
        boot=boot,
        split=split,
        force=force,
        mixed=any_machine,
        ready=ready,
        marks=mark or [],
        progress=True,
    )
    for imported in written:
        for warning in import_warnings(imported):
            print(f"warning: {warning}", file=sys.stderr)
    if json:
        print_json([imported_data(imported) for imported in written])
    else:
        for imported in written:
            print_report(import_report(imported))


def _import_batch(
    directory: Path,
    records: list[str] | None,
    output: Path | None,
    format: str | None,
    boot: int | None,
    split: bool,
    force: bool,
    any_machine: bool,
    ready: str | None,
    marks: list[str],
    json: bool,
) -> None:
    """Import the entries of a directory, and print what became of each.

    :raises UsageError: with records, or without a directory of bundles.
    """
    from firstlight.render.terminal.report import print_report
    from firstlight.render.views.import_batch import batch_data, batch_report

    if records:
        raise UsageError(
            "`--batch` cannot be combined with records", hint="import the records of one boot without `--batch`"
        )
    if output is None:
        raise UsageError("`--batch` needs `-o`, the directory to write the bundles into", hint="such as `-o boots/`")
    rows = api.import_batch(
        directory,
        output=output,
        format=format,
        boot=boot,
        split=split,
        force=force,
        mixed=any_machine,
        ready=ready,
        marks=marks,
        progress=True,
    )
    if json:
        print_json(batch_data(rows))
    else:
        print_report(batch_report(rows))
    if any(row.outcome in ("several boots", "rejected") for row in rows):
        raise typer.Exit(1)
