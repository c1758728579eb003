"""Tracks as a description for JSON and one string of bytes for the columns of their lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from firstlight.render.page.text import shortened
from firstlight.render.page.timeline.lanes import Track

#: Characters of a name.
NAME = 300
#: Of the names that a process had before, so many are stored: the last ones.
MOST_NAMES = 20

Json = dict[str, Any]


def varints(values: Iterable[int]) -> bytes:
    """Numbers from 0 on, seven bits a byte, the lowest first; the highest bit says that more follow.

    >>> varints([1, 127, 128, 300]).hex()
    '017f8001ac02'
    """
    out = bytearray()
    for value in values:
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def encoded(tracks: Sequence[Track], first_ns: int) -> tuple[Json, bytes]:
    """What describes the tracks, and the columns of all their lanes, one lane after the other.

    A lane has four columns: the start as the distance from the start before (that of the first bar from *first_ns*),
    the length, the number of the name, all as varints, and the look, a byte each.

    :param first_ns: no bar starts earlier.

    >>> from firstlight.render.page.timeline.lanes import Bar
    >>> described, columns = encoded([Track("Boot", "Phases", [[Bar(5, 9, "firmware", 0)]])], 0)
    >>> described["names"], described["tracks"][0]["lanes"], columns.hex()
    (['firmware'], [1], '05040000')
    """
    numbers: dict[str, int] = {}
    out = bytearray()
    described: list[Json] = []
    places = {(track.group, track.label): place for place, track in enumerate(tracks) if track.parent is None}
    for track in tracks:
        for lane in track.lanes:
            starts = [bar.start_ns for bar in lane]
            out += varints(start - before for start, before in zip(starts, [first_ns, *starts], strict=False))
            out += varints(bar.end_ns - bar.start_ns for bar in lane)
            out += varints(numbers.setdefault(bar.name, len(numbers)) for bar in lane)
            out += bytes(bar.look for bar in lane)
        described.append(
            {
                "group": track.group,
                "label": shortened(track.label, NAME),
                "role": track.role,
                "parent": -1 if track.parent is None else places.get((track.group, track.parent), -1),
                "note": track.note,
                "beside": track.beside,
                "left_out": track.left_out,
                "left_out_ns": track.left_out_ns,
                "heights": track.heights,
                "unsure": track.unsure,
                "earlier": [[time, shortened(name, NAME)] for time, name in track.earlier[-MOST_NAMES:]],
                "lanes": [len(lane) for lane in track.lanes],
            }
        )
    return {"names": [shortened(name, NAME) for name in numbers], "tracks": described}, bytes(out)
