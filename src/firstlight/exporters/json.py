"""JSON: the whole bundle as one document; `docs/reference/formats/export.schema.json` is its schema."""

from __future__ import annotations

import json
from pathlib import Path

from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import SCHEMAS
from firstlight.exporters.result import Exported
from firstlight.exporters.tables import table

#: The version of the document; it changes when an older reader could misread it.
VERSION = 1

_ROWS = 10_000


def write_json(boot: Boot, out: Path) -> Exported:
    """Write manifest and tables of *boot* to *out*: ASCII, one row per line.

    :raises BundleError: when a table cannot be read.
    """
    exported = Exported()
    head = {
        "format": "firstlight-boot",
        "version": VERSION,
        "name": boot.directory.resolve().name.removesuffix(".boot"),
        "manifest": boot.manifest.model_dump(mode="json"),
    }
    with out.open("w", encoding="ascii", newline="\n") as file:
        written = json.dumps(head, ensure_ascii=True, allow_nan=False, indent=1)
        file.write(written.removesuffix("\n}") + ',\n "tables": {')
        for number, name in enumerate(SCHEMAS):
            frame = table(boot, name)
            exported.counts[name] = frame.height
            file.write(f"{',' if number else ''}\n  {json.dumps(name)}: [")
            separator = "\n"
            for part in frame.iter_slices(_ROWS):
                for row in part.iter_rows(named=True):
                    text = json.dumps(row, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
                    file.write(f"{separator}{text}")
                    separator = ",\n"
            file.write("]")
        file.write("\n }\n}\n")
    return exported
