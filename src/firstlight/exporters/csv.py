"""CSV: every table as a file in a directory or a zip archive, or one table alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.tables import SCHEMAS
from firstlight.exporters.result import Exported
from firstlight.exporters.tables import table

#: What makes a spreadsheet take a cell for a formula when it begins with it.
FORMULA = r"^[=+\-@\t\r]"

_EARLIEST = (1980, 1, 1, 0, 0, 0)


def csv_text(frame: pl.DataFrame, *, exact: bool = False) -> str:
    r"""A table by RFC 4180: a header, CRLF at the ends of lines, quotes where they are needed.

    Null is an empty cell, an empty text is ``""``. A text that a spreadsheet would take for a formula gets an
    apostrophe before it.

    :param exact: leave such a text as it is.

    >>> csv_text(pl.DataFrame({"fact": ["a,b", "=1+1", "", None], "n": [1, -2, 3, None]}))
    'fact,n\r\n"a,b",1\r\n\'=1+1,-2\r\n"",3\r\n,\r\n'
    """
    if not exact:
        text = pl.selectors.string()
        frame = frame.with_columns(pl.when(text.str.contains(FORMULA)).then("'" + text).otherwise(text).name.keep())
    return frame.write_csv(line_terminator="\r\n", quote_style="necessary")


def write_table(boot: Boot, name: str, out: Path, *, exact: bool = False) -> Exported:
    """Write one table of *boot* to the file *out*.

    :raises BundleError: when there is no such table, or it cannot be read.
    """
    frame = table(boot, name)
    out.write_bytes(csv_text(frame, exact=exact).encode("utf-8"))
    return Exported({name: frame.height})


def write_directory(boot: Boot, out: Path, *, exact: bool = False) -> Exported:
    """Write every table of *boot* into the existing directory *out*.

    :raises BundleError: when a table cannot be read.
    """
    exported = Exported()
    for name in SCHEMAS:
        exported.counts.update(write_table(boot, name, out / f"{name}.csv", exact=exact).counts)
    return exported


def write_zip(boot: Boot, out: Path, *, exact: bool = False) -> Exported:
    """Write every table of *boot* into the zip archive *out*; the same boot gives the same bytes.

    :raises BundleError: when a table cannot be read.
    """
    exported = Exported()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in SCHEMAS:
            frame = table(boot, name)
            exported.counts[name] = frame.height
            entry = zipfile.ZipInfo(f"{name}.csv", _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, csv_text(frame, exact=exact).encode("utf-8"))
    return exported
