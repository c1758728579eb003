"""The timeline of a boot as the report page carries it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from firstlight.analysis.path.critical import CriticalPath
from firstlight.analysis.window import Window, window
from firstlight.bundle.boot import Boot
from firstlight.render.page.parts import gzipped
from firstlight.render.page.timeline.columns import encoded
from firstlight.render.page.timeline.lanes import Track
from firstlight.render.page.timeline.spans import phases_track, span_tracks
from firstlight.render.page.timeline.udev import WORKERS, udev_tracks
from firstlight.render.page.timeline.work import idle_track, load_tracks, path_track, process_tracks
from firstlight.schema.spans import SpanKind

#: A page has about this many spans; of more, the shortest are left out, and counted on their tracks.
MOST_SPANS = 200_000
#: A page has place for so many of them, whatever else it holds.
LEAST_BYTES = 150_000
#: Of what has place, so much is tried next where the bars before had none.
_CLOSER = 0.95
#: Groups of tracks from the top.
GROUPS = ("Boot", "Kernel", "Services", "udev", "Processes", "Threads")

Json = dict[str, Any]


def page_timeline(boot: Boot, path: CriticalPath, most_bytes: int | None = None) -> tuple[Json, bytes]:
    """The tracks of a boot, and the columns of their bars as bytes; `docs/design/report-page.md` is the specification.

    :param most_bytes: the size that both have as gzip, at most; the shortest bars are left out until they fit. No less
        than :data:`LEAST_BYTES` counts.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> opened = firstlight.open(bundle)
    >>> described, columns = page_timeline(opened, opened.path())
    >>> [track["label"] for track in described["tracks"]][:3]
    ['Phases', 'Critical path', 'Idle']
    """
    most = MOST_SPANS
    while True:
        first, last, tracks = timeline_tracks(boot, path, most)
        described, columns = encoded(tracks, first)
        size = 0 if most_bytes is None else compressed(described) + compressed(columns)
        bars = sum(len(lane) for track in tracks for lane in track.lanes)
        if most_bytes is None or size <= max(most_bytes, LEAST_BYTES) or most <= 1:
            break
        # What does not fit is cut by the share that is too much; what few long bars there are stays.
        most = max(1, int(min(most, bars) * _CLOSER * max(most_bytes, LEAST_BYTES) / size))
    sizes = {"spans": bars, "bytes": len(columns)}
    return {"first_ns": first, "last_ns": last, "end_ns": window(boot).last_ns, **sizes, **described}, columns


def compressed(data: Json | bytes) -> int:
    """How many bytes data have as gzip, in the form in which a page holds them.

    >>> compressed(b"") < compressed(b"a bar") < compressed({"bars": ["a bar"]})
    True
    """
    text = data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode("ascii")
    return len(gzipped(text))


def timeline_tracks(boot: Boot, path: CriticalPath, most: int = MOST_SPANS) -> tuple[int, int, list[Track]]:
    """The first and the last instant of a timeline, and its tracks from the top.

    :param most: about so many bars, the longest ones.
    :raises BundleError: when a table of the bundle cannot be read.

    >>> import firstlight
    >>> opened = firstlight.open(bundle)
    >>> first, last, tracks = timeline_tracks(opened, opened.path())
    >>> first, last, tracks[0].label
    (0, 829882107, 'Phases')
    """
    whole = window(boot)
    tracks = sorted(_tracks(boot, path, whole, _least(boot, whole, most)), key=lambda track: GROUPS.index(track.group))
    bars = [bar for track in tracks for lane in track.lanes for bar in lane]
    first = min([whole.first_ns, *(bar.start_ns for bar in bars)])
    return first, max([whole.last_ns, *(bar.end_ns for bar in bars)]), tracks


def _tracks(boot: Boot, path: CriticalPath, whole: Window, least: int) -> Iterator[Track]:
    if not boot.phases().is_empty():
        yield phases_track(boot, whole)
    yield from filter(None, (path_track(boot, path), idle_track(boot)))
    yield from load_tracks(boot)
    processes = list(process_tracks(boot, whole, least))
    without = {SpanKind.PHASE} | ({SpanKind.PROCESS} if processes else set())
    queue = list(udev_tracks(boot, whole, least))
    if any(track.label == WORKERS for track in queue):
        without.add(SpanKind.UEVENT_SERVICE)
    yield from queue
    yield from span_tracks(boot, path, whole, least, without)
    yield from processes


def _least(boot: Boot, whole: Window, most: int) -> int:
    """The length from which a span has a place in the page: 0 where all have."""
    last = pl.lit(whole.last_ns, pl.Int64)
    lengths = [
        table.select(
            (pl.col("end_ns").fill_null(last) - pl.col("start_ns").fill_null(pl.col("end_ns"))).alias("length")
        )
        for table in (boot.spans(), boot.runs(), boot.table("system_calls"))
    ]
    every = pl.concat(lengths)["length"].drop_nulls()
    if every.len() <= most:
        return 0
    shortest = every.top_k(most).min()
    return max(1, int(shortest)) + 1 if isinstance(shortest, int) else 1
