"""Records that hold several boots: which is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.errors import UsageError
from firstlight.ingest.files.limits import IngestError

#: A list of boots in a message has no more lines than this.
_MOST = 20

Outcome = dict[str, Any]


def several(outcomes: Sequence[Outcome]) -> int | None:
    """The first record that holds more than one boot."""
    return next((number for number, outcome in enumerate(outcomes) if len(outcome["boots"]) > 1), None)


def boot_text(place: int, boot: dict[str, Any]) -> str:
    """One boot of a record in a line.

    >>> boot_text(1, {"first_line": 812, "release": "6.1.0", "length_ns": 2_500_000_000, "parsed": 640})
    '1: from line 812, Linux 6.1.0, 2.500 s, 640 lines'
    """
    parts = [f"from line {boot['first_line']}"]
    if boot["release"]:
        parts.append(f"Linux {boot['release']}")
    if boot["length_ns"] is not None:
        parts.append(f"{boot['length_ns'] / 1e9:.3f} s")
    parts.append(f"{boot['parsed']:,} lines")
    return f"{place}: " + ", ".join(parts)


def chosen(outcomes: Sequence[Outcome], boot: int | None, *, split: bool) -> list[tuple[int, int]]:
    """The boots to import, each by the number of its record and by its own.

    :param boot: the one that is meant, from 1; from the end when negative.
    :param split: all of them.
    :raises UsageError: when there is no such boot.
    :raises IngestError: when there are several and none was chosen; it lists them.
    """
    record = several(outcomes)
    if record is None:
        record = next(number for number, outcome in enumerate(outcomes) if outcome["boots"])
    boots = outcomes[record]["boots"]
    where = outcomes[record]["file"]
    if split:
        return [(record, one["number"]) for one in boots]
    if boot is not None:
        if boot == 0 or not -len(boots) <= boot <= len(boots):
            have = "one boot" if len(boots) == 1 else f"{len(boots)} boots"
            hint = "the first is 1, the last is -1"
            raise UsageError(f"there is no boot {boot}: the record holds {have}", where=where, hint=hint)
        return [(record, boots[boot - 1 if boot > 0 else boot]["number"])]
    if len(boots) > 1:
        lines = [boot_text(place, one) for place, one in enumerate(boots[:_MOST], 1)]
        if len(boots) > _MOST:
            lines.append(f"... and {len(boots) - _MOST} more")
        hint = "`--boot N` takes one, `--boot -1` the last; `--split` writes a bundle of each"
        raise IngestError(f"it holds {len(boots)} boots\n" + "\n".join(lines), where=where, hint=hint)
    return [(record, boots[0]["number"])]
