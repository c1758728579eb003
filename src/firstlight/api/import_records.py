"""Importing what other tools recorded of a boot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.errors import UsageError
from firstlight.ingest.importing import Imported, ImportOptions, default_output, import_records

if TYPE_CHECKING:
    from firstlight.api.boot import Boot


def import_(
    *records: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    boot: int | None = None,
    force: bool = False,
) -> Boot:
    """Import logs, traces and timings of one boot into a bundle, and open it.

    Several records are merged on one clock. The bundle keeps them as they came.

    :param records: files, folders or archives; `-` is standard input.
    :param output: the bundle; by default the first record's name, here.
    :param format: read every record as this format, whatever it looks like.
    :param boot: which boot of a record that holds several, from 1; from the end when negative.
    :param force: replace a bundle that is there.
    :raises UsageError: for no record, or a format or boot that there is not.
    :raises FirstlightError: when nothing can be read, a record holds several boots and none was chosen, or the bundle
        cannot be written.

    >>> import firstlight
    >>> record = bundle.parent / "dmesg.txt"
    >>> _ = record.write_text("[    0.000000] Linux version 6.12\\n[    1.500000] Run /init as init process\\n")
    >>> firstlight.import_(record, output=bundle.parent / "imported.boot", force=True).log().height
    2
    """
    from firstlight.api.boot import open

    return open(import_all(records, output=output, format=format, boot=boot, force=force)[0].path)


def import_all(
    records: Sequence[str | os.PathLike[str]],
    *,
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    boot: int | None = None,
    split: bool = False,
    force: bool = False,
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
    options = ImportOptions(inputs, Path(output) if output else default_output(inputs[0]), format, boot, split, force)
    if not progress:
        return import_records(options)
    with ImportProgress() as display:
        return import_records(options, display)
