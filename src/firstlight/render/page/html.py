"""The report page: one self-contained HTML file with a boot in it, or with a comparison of boots."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firstlight.assets import asset_path
from firstlight.atomic import atomic_write
from firstlight.bundle.boot import Boot
from firstlight.errors import LabError
from firstlight.render.page.boot import page_parts
from firstlight.render.page.parts import gzipped, parts

#: Where the built page takes a part of its data; each place is in there exactly once.
_PLACE = '<script type="application/octet-stream" id="{}"></script>'

# HTML reads some signs of Python's base 85.
_SAFE = bytes.maketrans(b"<&>", b".,:")
_PLAIN = bytes.maketrans(b".,:", b"<&>")


def page_html(boot: Boot, *, all_paths: bool = False) -> str:
    """The report page of *boot* as HTML text.

    :param all_paths: draw every call path; the page may then be larger than others.
    :raises BundleError: when a table of the bundle cannot be read.
    :raises LabError: when the page has not been built, or is not the one that this Firstlight fills.
    """
    return _filled(page_parts(boot, all_paths=all_paths))


def filled(data: dict[str, Any], columns: bytes = b"") -> str:
    """The built page with *data* in it; their `format` says what it shows.

    The data are base 85 of gzip of JSON, so that nothing of a boot is ever read as HTML. The same data give the same
    text.

    :param data: what can be written as JSON, without figures that are not finite.
    :param columns: the columns of a timeline, and of its slices.
    :raises LabError: when the page has not been built, or is not the one that this Firstlight fills.

    >>> filled({"format": "firstlight-page"}).startswith("<!doctype html>")
    True
    """
    return _filled(parts(data, columns))


def _filled(elements: Mapping[str, bytes]) -> str:
    form = asset_path("page.html").read_text(encoding="utf-8")
    for element, content in elements.items():
        form = _put(form, _PLACE.format(element), content)
    gzipped.cache_clear()
    return form


def _put(form: str, place: str, content: bytes) -> str:
    before, found, after = form.partition(place)
    if not found or place in after:
        raise LabError("the built report page has no single place for its data", hint="make build")
    return before + place.replace("></", f">{packed(content)}</") + after


def packed(content: bytes) -> str:
    """Bytes as the page has them: gzip, then base 85 with other signs for those that HTML reads.

    >>> unpacked(packed(b"<script>"))
    b'<script>'
    """
    return base64.b85encode(gzipped(content)).translate(_SAFE).decode("ascii")


def unpacked(text: str) -> bytes:
    """What :func:`packed` made a text of.

    :raises ValueError: when the text is none.

    >>> unpacked(packed(bytes(5)))
    b'\\x00\\x00\\x00\\x00\\x00'
    """
    return gzip.decompress(base64.b85decode(text.encode("ascii").translate(_PLAIN)))


def write_html(boot: Boot, out: Path) -> None:
    """Write the report page of *boot* to the file *out*, whole or not at all; what is there is replaced.

    The same boot gives the same bytes.

    :raises BundleError: when a table of the bundle cannot be read.
    :raises LabError: when the page has not been built.
    :raises FirstlightError: when the file cannot be written.
    """
    write_page(page_html(boot), out)


def write_page(html: str, out: Path) -> None:
    """Write a page to the file *out*, whole or not at all; what is there is replaced.

    :raises FirstlightError: when the file cannot be written, or *out* is a directory.
    """
    with atomic_write(out) as file:
        file.write_text(html, encoding="utf-8", newline="")
