"""The whole way from records to bundles."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from firstlight import _core
from firstlight.bundle.manifest import Manifest
from firstlight.bundle.writer import check_destination, new_bundle
from firstlight.errors import UsageError
from firstlight.ingest.collect import STDIN, Gatherer
from firstlight.ingest.files.collected import Gathered
from firstlight.ingest.files.copy import keep_file
from firstlight.ingest.files.limits import IngestError, InputLimits
from firstlight.ingest.files.names import readable
from firstlight.ingest.manifest import Known, finish_bundle
from firstlight.ingest.progress import ImportProgress
from firstlight.ingest.select_boots import boot_at_line, check_machines, chosen, left_out_boots
from firstlight.ingest.unpack.compression import unpacked_name
from firstlight.ingest.wanted_marks import WantedMarks
from firstlight.schema.marks import Mark

#: A message lists no more files than this.
_MOST = 10


@dataclass(frozen=True)
class ImportOptions:
    """What the user may decide about an import."""

    inputs: Sequence[str]
    """Files, folders, archives; `-` is standard input."""
    output: Path
    format: str | None = None
    """What to read every record as; by its content when not given."""
    boot: int | None = None
    """Which boot of a record that holds several, from 1; from the end when negative."""
    split: bool = False
    """A bundle for each boot."""
    force: bool = False
    mixed: bool = False
    """Merge records that are of several machines; what they contradict is in the evidence."""
    marks: WantedMarks = ()
    """Marks that the user asks for, and the patterns of their lines."""
    limits: InputLimits = field(default_factory=InputLimits)
    known: Known = field(default_factory=Known)
    """What the records do not say."""
    at_line: int | None = None
    """The boot with this line of the record, from 1, instead of a number."""
    numbered: bool = True
    """With *split*, the bundle of a record with one boot has a number, too."""


@dataclass(frozen=True)
class Imported:
    """A bundle that was written."""

    path: Path
    manifest: Manifest
    summary: dict[str, Any]
    notes: list[str]


def default_output(first: str) -> Path:
    """The bundle's name when none is given: that of the first record, here.

    >>> str(default_output("logs/kft.log")), str(default_output("dmesg.txt.gz")), str(default_output("-"))
    ('kft.boot', 'dmesg.boot', 'stdin.boot')
    """
    if first == "-":
        return Path(f"{STDIN}.boot")
    path = Path(first)
    name = unpacked_name(path.name) or path.resolve().name
    stem = name if path.is_dir() else name.rpartition(".")[0] or name
    return Path(f"{readable(stem) or 'import'}.boot")


def import_records(options: ImportOptions, progress: ImportProgress | None = None) -> list[Imported]:
    """Read records and write the bundle of their boot, or of each of their boots.

    The records are copied first, as they came; a bundle is written as soon as anything at all was understood.

    :raises UsageError: for a format or boot that there is not.
    :raises IngestError: when nothing can be read or understood, or a record holds several boots and none was chosen.
    :raises LabError: when the bundle cannot be written.
    """
    _check(options)
    progress = progress or ImportProgress()
    with _staging(options.output) as staging:
        progress.step("taking in what is given")
        gathered = Gatherer(staging / "raw", staging / "scratch", options.limits).gather(options.inputs)
        progress.step(f"reading {len(gathered.items)} record{'s' if len(gathered.items) != 1 else ''}")
        records = _core.Records([(str(item.path), item.file, item.name, options.format) for item in gathered.items])
        outcomes = records.outcomes()
        _check_understood(gathered, outcomes, options)
        if options.at_line is not None:
            options = replace(options, boot=boot_at_line(outcomes, options.at_line))
        boots = chosen(outcomes, options.boot, split=options.split)
        if not options.mixed:
            check_machines(records, boots)
        unchosen = [] if options.split else left_out_boots(outcomes, *boots[0])
        outputs = _outputs(options, len(boots))
        for output in outputs:
            check_destination(output.absolute(), force=options.force)
        words = _words(options)
        written = []
        for (record, boot), output in zip(boots, outputs, strict=True):
            progress.step(f"writing {output.name}")
            with new_bundle(output, force=options.force) as bundle:
                summary = records.write(record, boot, str(bundle), options.mixed, list(options.marks))
                summary["missing"] += unchosen
                _give_raw(staging / "raw", bundle / "raw", last=output == outputs[-1])
                manifest = finish_bundle(bundle, gathered, outcomes, summary, words, options.known, options.inputs)
            written.append(Imported(output, manifest, summary, gathered.notes))
        return written


def _check(options: ImportOptions) -> None:
    if options.boot is not None and options.split:
        raise UsageError("`--boot` cannot be combined with `--split`")
    if options.inputs.count("-") > 1:
        raise UsageError("standard input can be given once")
    check_format(options.format)
    _check_output(options.output.absolute())
    if not options.split:
        check_destination(options.output.absolute(), force=options.force)


def check_format(name: str | None) -> None:
    """Check the name of a format.

    :raises UsageError: when no format has it.
    """
    if name is not None and name not in dict(_core.record_formats()):
        raise UsageError(f"no format is called `{name}`", hint="`firstlight import --formats` lists all formats")


def _check_output(output: Path) -> None:
    """The engine that writes tables takes paths as text."""
    shown = readable(str(output))
    if shown != str(output):
        hint = "choose another with `-o`"
        raise UsageError("the path of a bundle must be UTF-8", where=shown, hint=hint)


def _check_understood(gathered: Gathered, outcomes: list[dict[str, Any]], options: ImportOptions) -> None:
    if any(outcome["boots"] for outcome in outcomes):
        return
    hints = {
        "version": "update Firstlight, or make the record again with another version of the tool",
        "not_this": "leave out `--as`: Firstlight recognises most formats by their content" if options.format else None,
        "unrecognised": "give the format with `--as FORMAT`; `firstlight import --formats` lists all formats",
    }
    if len(outcomes) == 1 and not gathered.unread and not gathered.left_out:
        outcome = outcomes[0]
        if gathered.items[0].size_bytes == 0:
            raise IngestError("it is empty", where=gathered.items[0].given, hint="give a record of a boot")
        message = outcome["error"] or "nothing in it was understood"
        # What a reader of formats knows of a file may say what to do, and that is better than another format.
        found, _, remedy = (
            message.partition("; ") if outcome["kind"] in ("unrecognised", "no_boot") else (message, "", "")
        )
        raise IngestError(found, where=gathered.items[0].given, hint=remedy or hints.get(outcome["kind"]))
    listed = [f"{outcome['file']}: {outcome['error'] or 'nothing in it was understood'}" for outcome in outcomes]
    listed += gathered.missing()
    if len(listed) > _MOST:
        listed[_MOST:] = [f"... and {len(listed) - _MOST} more"]
    files = len(outcomes) + len(gathered.unread) + len(gathered.left_out)
    message = f"none of {files} files is a boot record\n" + "\n".join(listed)
    raise IngestError(message, where=readable(options.inputs[0]), hint=hints["unrecognised"])


def _outputs(options: ImportOptions, number: int) -> list[Path]:
    if not options.split or (number == 1 and not options.numbered):
        return [options.output]
    stem = options.output.name.removesuffix(".boot")
    return [options.output.with_name(f"{stem}-{place}.boot") for place in range(1, number + 1)]


def _words(options: ImportOptions) -> list[str]:
    words = ["firstlight", "import", *options.inputs, "-o", str(options.output)]
    if options.format is not None:
        words += ["--as", options.format]
    if options.boot is not None:
        words += ["--boot", str(options.boot)]
    for name, pattern in options.marks:
        words += ["--ready", pattern] if name == Mark.READY else ["--mark", f"{name}={pattern}"]
    return words + (["--split"] if options.split else []) + (["--any-machine"] if options.mixed else [])


@contextmanager
def _staging(output: Path) -> Iterator[Path]:
    """A private directory on the disk of the bundle, for as long as the import lasts."""
    parent = output.absolute().parent
    try:
        staging = Path(tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".intake", dir=parent))
    except OSError as error:
        raise IngestError(f"a bundle cannot be written here: {error.strerror}", where=str(parent)) from error
    try:
        (staging / "raw").mkdir()
        (staging / "scratch").mkdir()
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _give_raw(kept: Path, target: Path, *, last: bool) -> None:
    """The copies go to the last bundle; those before it get copies of them."""
    if last:
        kept.rename(target)
        return
    for directory, _, names in os.walk(kept):
        for name in names:
            path = Path(directory, name)
            keep_file(path, target / path.relative_to(kept))
