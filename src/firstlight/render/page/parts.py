"""The parts in which a page carries its data: what its first picture needs comes first."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Json = dict[str, Any]

DATA = "firstlight-data"
COLUMNS = "firstlight-columns"
LATER = "firstlight-later"
SLICES = "firstlight-slices"

#: What the page of a boot needs before its first picture; it reads everything else after it.
FIRST = frozenset(
    ("format", "version", "boot", "records", "marks", "phases", "machine", "findings", "timing", "log", "timeline")
)


def parts(data: Json, columns: bytes = b"") -> dict[str, bytes]:
    """What each element of a page takes, before it is packed; elements without content are left out.

    The data of a boot are divided: *first* has what the head of the page and the timeline need, and `later` in it says
    of the rest what they need to know. Every other page has one part.

    :param data: what can be written as JSON, without figures that are not finite.
    :param columns: those of the timeline, and behind them those of the slices.

    >>> sorted(parts({"format": "firstlight-scale-page"}))
    ['firstlight-data']
    """
    if data.get("format") != "firstlight-page":
        found = {DATA: _json(data), COLUMNS: columns}
    else:
        first = {name: part for name, part in data.items() if name in FIRST}
        rest = {name: part for name, part in data.items() if name not in FIRST and name != "later"}
        first["later"] = _announced(rest)
        edge = data["timeline"]["bytes"] if "timeline" in data else 0
        found = {DATA: _json(first), COLUMNS: columns[:edge], LATER: _json(rest), SLICES: columns[edge:]}
    return {name: content for name, content in found.items() if content}


def with_timeline(written: Mapping[str, bytes], timeline: Json, columns: bytes) -> dict[str, bytes]:
    """The parts of the page of a boot with its timeline, which is written last: its size depends on that of the others.

    :param written: :func:`parts` of data without a timeline.

    >>> from_two = with_timeline(parts({"format": "firstlight-page"}), {"bytes": 1}, b"x")
    >>> whole = parts({"format": "firstlight-page", "timeline": {"bytes": 1}}, b"x")
    >>> [json.loads(each[DATA]) == json.loads(whole[DATA]) and each[COLUMNS] for each in (from_two, whole)]
    [b'x', b'x']
    """
    first = written[DATA].removesuffix(b"}") + b',"timeline":' + _json(timeline) + b"}"
    found = {DATA: first, COLUMNS: columns, LATER: written.get(LATER, b""), SLICES: written.get(SLICES, b"")}
    return {name: content for name, content in found.items() if content}


def _announced(rest: Json) -> Json:
    """What the head of the page says of the second part: which sections follow, and the hottest function."""
    tree = rest.get("tree", {})
    columns = {
        "flame": tree.get("parent"),
        "functions": rest.get("functions", {}).get("name"),
        "user-functions": rest.get("user_functions", {}).get("name"),
        "initcalls": rest.get("initcalls", {}).get("name"),
        "processes": rest.get("processes", {}).get("name"),
        "facts": rest.get("facts", {}).get("fact"),
    }
    return {
        "rows": {section: len(column or []) for section, column in columns.items()},
        "timed": not tree.get("parent") or any(own is not None for own in tree["self_ns"]),
        "hottest": _hottest(rest),
    }


def _hottest(rest: Json) -> Json | None:
    """The function with the most instructions of its own; none where no function executed any."""
    functions = rest.get("functions", {})
    own = [executed or 0 for executed in functions.get("self_instructions", [])]
    if not own or max(own) <= 0:
        return None
    row = own.index(max(own))
    return {"function": rest["strings"][functions["name"][row]], "self_instructions": own[row]}


@lru_cache(maxsize=16)
def gzipped(content: bytes) -> bytes:
    """Content as gzip, the same for the same content. It is kept until the page is made, which asks for its size first.

    >>> gzip.decompress(gzipped(b"a bar"))
    b'a bar'
    """
    return gzip.compress(content, compresslevel=9, mtime=0)


def _json(data: Json) -> bytes:
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
