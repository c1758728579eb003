"""Importing what other tools recorded of a boot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.errors import UsageError
from firstlight.ingest.importing import Imported, ImportOptions, default_output, import_records
from firstlight.ingest.wanted_marks import wanted_marks

if TYPE_CHECKING:
    from firstlight.api.boot import Boot
    from firstlight.ingest.batch import BatchRow


def import_(
    *records: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    boot: int | None = None,
    force: bool = False,
    mixed: bool = False,
    ready: str | None = None,
    marks: Sequence[str] = (),
) -> Boot:
    """Import logs, traces and timings of one boot into a bundle, and open it.

    Several records are merged on one clock. The bundle keeps them as they came.

    :param records: files, folders or archives; `-` is standard input.
    :param output: the bundle; by default the first record's name, here.
    :param format: read every record as this format, whatever it looks like.
    :param boot: which boot of a record that holds several, from 1; from the end when negative.
    :param force: replace a bundle that is there.
    :param mixed: merge records of several machines, too; the conflicts are in the evidence.
    :param ready: the pattern of the line at which the boot ends; without it, what the records show.
    :param marks: `NAME=REGEX`: further marks, each at the first line that its pattern matches.
    :raises UsageError: for no record, a format or boot that there is not, or a pattern that cannot be read.
    :raises FirstlightError: when nothing can be read, a record holds several boots and none was chosen, or the bundle
        cannot be written.

    >>> import firstlight
    >>> record = bundle.parent / "dmesg.txt"
    >>> _ = record.write_text("[    0.000000] Linux version 6.12\\n[    1.500000] Run /init as init process\\n")
    >>> firstlight.import_(record, output=bundle.parent / "imported.boot", force=True).log().height
    2
    """
    from firstlight.api.boot import open

    written = import_all(
        records, output=output, format=format, boot=boot, force=force, mixed=mixed, ready=ready, marks=marks
    )
    return open(written[0].path)


def import_all(
    records: Sequence[str | os.PathLike[str]],
    *,
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    boot: int | None = None,
    split: bool = False,
    force: bool = False,
    mixed: bool = False,
    ready: str | None = None,
    marks: Sequence[str] = (),
    progress: bool = False,
) -> list[Imported]:
    """Import records as :func:`import_` does, and say what was understood of them.

    :param split: write a bundle of each boot: `NAME-1.boot`, `NAME-2.boot`, …
    :param progress: show on a terminal what is being done.
    :raises FirstlightError: as :func:`import_` does.
    """
    from firstlight.ingest.progress import ImportProgress

    if not records:
        raise UsageError("no record is given", hint="`firstlight import dmesg.txt`; `-` is standard input")
    inputs = [os.fspath(record) for record in records]
    target = Path(output) if output else default_output(inputs[0])
    options = ImportOptions(inputs, target, format, boot, split, force, mixed, wanted_marks(ready, marks))
    with ImportProgress() if progress else nullcontext() as display:
        return import_records(options, display)


def import_batch(
    directory: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str],
    format: str | None = None,
    boot: int | None = None,
    split: bool = False,
    force: bool = False,
    mixed: bool = False,
    ready: str | None = None,
    marks: Sequence[str] = (),
    progress: bool = False,
) -> list[BatchRow]:
    r"""Import every file, archive and folder of a directory as a boot of its own.

    An entry `NAME` becomes the bundle `NAME.boot`. What cannot be imported does not stop the others. A second run
    continues: it does not import unchanged entries again. Links, devices and pipes are named and not followed.

    :param output: the directory of bundles; it is created.
    :param format: read every record as this format.
    :param boot: the boot of records with several, from 1; from the end when negative.
    :param split: write a bundle of each boot: `NAME-1.boot`, `NAME-2.boot`, …
    :param force: import unchanged entries again, and replace their bundles.
    :param mixed: merge records of several machines, too; the conflicts are in the evidence.
    :param ready: the pattern of the line at which each boot ends.
    :param marks: `NAME=REGEX`: further marks of each boot.
    :param progress: show on a terminal which entry is being imported.
    :returns: a row for each entry, in order of their names: its outcome and, where it was not imported, the reason.
    :raises UsageError: for a format that does not exist.
    :raises FirstlightError: when the directory cannot be read or is empty, or the disk is full.

    >>> import firstlight
    >>> records = bundle.parent / "records"
    >>> records.mkdir()
    >>> _ = (records / "a.txt").write_text("[    0.000000] Linux version 6.12\n[    1.5] Run /init as init process\n")
    >>> _ = (records / "b.txt").write_text("nothing of a boot")
    >>> [(row.entry, str(row.outcome)) for row in firstlight.import_batch(records, output=bundle.parent / "boots")]
    [('a.txt', 'imported'), ('b.txt', 'rejected')]
    """
    from firstlight.ingest import batch
    from firstlight.ingest.progress import ImportProgress

    options = ImportOptions((), Path(output), format, boot, split, force, mixed, wanted_marks(ready, marks))
    with ImportProgress() if progress else nullcontext() as display:
        return batch.import_batch(Path(directory), options, display)
