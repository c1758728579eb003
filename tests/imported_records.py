"""Records that are imported as a person would."""

from __future__ import annotations

from pathlib import Path

import firstlight
from firstlight.api import Boot
from firstlight.ingest.importing import ImportOptions, import_records


def imported(directory: Path, records: dict[str, str], **options: object) -> Boot:
    """Import these records, by name and content, in their order."""
    for name, text in records.items():
        (directory / name).write_text(text)
    output = directory / "a.boot"
    given = [str(directory / name) for name in records]
    import_records(ImportOptions(given, output, force=True, **options))  # type: ignore[arg-type]
    return firstlight.open(output)
