"""The spans of a boot as the analyses want them: the only place that knows what readers call things."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import polars as pl

from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.recipe.mode import RecordMode
from firstlight.schema.records import FormatName
from firstlight.schema.spans import Grade, SpanKind

#: The kinds of spans in which a step of a boot works.
WORK = (SpanKind.INITCALL, SpanKind.PROBE, SpanKind.ASYNC, SpanKind.UEVENT_SERVICE, SpanKind.UNIT)

#: What is asked for, and the keys under which readers of different records say it, the first that is there.
_KEYS: dict[str, tuple[str, ...]] = {
    "active_state": ("state", "active"),
    "device": ("device", "devpath", "devname"),
    "failure": ("failure", "error"),
    "sub_state": ("substate", "sub"),
    "tries": ("try", "tries"),
}


@once
def spans_of(boot: Boot, *kinds: str, keys: tuple[str, ...] = ()) -> pl.DataFrame:
    """The spans of some kinds in order of time, those without a start last.

    Every row has a grade: what an older bundle does not say follows from its mode.

    :param kinds: as the format of the bundle has them.
    :param keys: attributes that become columns of text; null where a span lacks them.

    >>> import firstlight
    >>> spans_of(firstlight.open(bundle), "initcall", keys=("module",))["module"].null_count()
    33
    """
    between = pl.col("end_ns") - pl.col("start_ns")
    ended = pl.col("end_ns").is_not_null() & pl.col("start_ns").is_not_null()
    usual = "exact" if boot.manifest.mode == RecordMode.EXACT else "good"
    frame = (
        boot.spans()
        .filter(pl.col("kind").is_in(kinds))
        .with_columns(
            pl.coalesce(pl.col("duration_ns"), pl.when(pl.col("grade").is_null()).then(between)),
            pl.coalesce(pl.col("grade"), pl.when(ended).then(pl.lit(usual)).otherwise(pl.lit("unknown"))),
        )
        .sort("start_ns", "end_ns", "span", nulls_last=True)
    )
    return frame.with_columns(attributes(frame, *keys)) if keys else frame


def ancestors(span: int | None, parents: Mapping[int, int | None]) -> Iterator[int]:
    """A span and those around it, the innermost first.

    >>> list(ancestors(3, {3: 2, 2: 0, 0: None}))
    [3, 2, 0]
    """
    for _ in range(64):  # a damaged table may have a ring of parents
        if span is None:
            return
        yield span
        span = parents.get(span)


def attributes(frame: pl.DataFrame, *keys: str) -> list[pl.Series]:
    """Attributes of spans as columns of text.

    >>> frame = pl.DataFrame({"attributes": ['{"try":"2"}', None, "[damaged"]})
    >>> attributes(frame, "tries")[0].to_list()
    ['2', None, None]
    """
    # Many spans have none, and many have the same: each text is parsed once.
    texts = frame["attributes"].drop_nulls().unique()
    rows = [_parsed(text) for text in texts.to_list()]
    found = {key: [_first(row, _KEYS.get(key, (key,))) for row in rows] for key in keys}
    known = pl.DataFrame(
        {"attributes": texts, **found}, schema={"attributes": pl.String, **dict.fromkeys(keys, pl.String)}
    )
    return (
        frame.select("attributes")
        .join(known, on="attributes", how="left", maintain_order="left")
        .select(keys)
        .get_columns()
    )


#: Records in which an initcall may end without a word on what it returned; in logs of the kernel none means 0.
_SILENT = frozenset({FormatName.FUNCTION_GRAPH, FormatName.TRACE_EVENTS, "hist"})


def returned(boot: Boot, frame: pl.DataFrame) -> pl.Series:
    """What initcalls or probes returned, by their attribute `returned`; null where it is unknown.

    Readers of the kernel's logs give it only where it is not 0. Where a log has no times, a length shows that a call
    ended.
    """
    formats: dict[str, set[str | None]] = {}
    for source in boot.manifest.sources:
        formats.setdefault(source.file, set()).add(source.format)
    logs = {file for file, names in formats.items() if not names & _SILENT}
    said = frame.select(whole_number("returned"))["returned"].to_list()
    no_times = pl.all_horizontal(pl.col("start_ns", "end_ns").is_null())
    measured = no_times & pl.col("duration_ns").is_not_null() & (pl.col("grade") != Grade.BOUNDED)
    ended = frame.select(pl.col("end_ns").is_not_null() | measured).to_series().to_list()
    sources = [set((text or "").split(" and ")) for text in frame["source"].to_list()]
    values = [
        0 if value is None and end and not records.isdisjoint(logs) else value
        for value, end, records in zip(said, ended, sources, strict=True)
    ]
    return pl.Series("returned", values, dtype=pl.Int64)


def whole_number(key: str) -> pl.Expr:
    """A column of text as whole numbers; null where it is none."""
    return pl.col(key).str.strip_chars().cast(pl.Int64, strict=False)


def _parsed(text: str | None) -> dict[str, object]:
    if not text:
        return {}
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _first(row: dict[str, object], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            # Halves of characters cannot be stored.
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(value, int):
            return str(value)
    return None
