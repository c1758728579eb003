"""Records that hold several boots: which is meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight._core import Records
from firstlight.errors import UsageError
from firstlight.ingest.files.limits import IngestError
from firstlight.quantities import time_text

#: A list of boots in a message has no more lines than this.
_MOST = 20

Outcome = dict[str, Any]


class SeveralBootsError(IngestError):
    """A record holds several boots, and none was chosen."""


def several(outcomes: Sequence[Outcome]) -> int | None:
    """The first record that holds more than one boot."""
    return next((number for number, outcome in enumerate(outcomes) if len(outcome["boots"]) > 1), None)


def boot_text(place: int, boot: dict[str, Any]) -> str:
    """One boot of a record in a line.

    >>> boot_text(1, {"first_line": 812, "release": "6.1.0", "length_ns": 2_500_000_000, "parsed": 640})
    '1: from line 812, Linux 6.1.0, 2.500000 s, 640 lines'
    """
    parts = [f"from line {boot['first_line']}"]
    if boot["release"]:
        parts.append(f"Linux {boot['release']}")
    if boot["length_ns"] is not None:
        parts.append(time_text(boot["length_ns"]))
    parts.append(f"{boot['parsed']:,} line{'' if boot['parsed'] == 1 else 's'}")
    return f"{place}: " + ", ".join(parts)


def chosen(outcomes: Sequence[Outcome], boot: int | None, *, split: bool) -> list[tuple[int, int]]:
    """The boots to import, each by the number of its record and by its own.

    :param boot: the one that is meant, from 1; from the end when negative.
    :param split: all of them.
    :raises UsageError: when there is no such boot.
    :raises SeveralBootsError: when there are several and none was chosen; it lists them.
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
        hint = "`--boot N` imports one, `--boot -1` the last; `--split` writes a bundle for each"
        raise SeveralBootsError(f"it holds {len(boots)} boots\n" + "\n".join(lines), where=where, hint=hint)
    return [(record, boots[0]["number"])]


def boot_at_line(outcomes: Sequence[Outcome], line: int) -> int | None:
    """The boot that has a line of the record, from 1; none where the record holds one boot.

    >>> boot_at_line([{"boots": [{"first_line": 3}, {"first_line": 641}]}], 640)
    1
    """
    record = several(outcomes)
    if record is None:
        return None
    before = [boot for boot in outcomes[record]["boots"] if boot["first_line"] <= line]
    return max(1, len(before))


def left_out_boots(outcomes: Sequence[Outcome], record: int, boot: int) -> list[str]:
    """What the choice of one boot leaves out of a record that holds several: it is not in the tables.

    >>> one = {"first_line": 1, "release": "6.1.0", "length_ns": 2_500_000_000, "parsed": 640, "number": 0}
    >>> left_out_boots([{"file": "raw/a.log", "boots": [one, one | {"number": 1, "first_line": 641}]}], 0, 0)
    ['raw/a.log: 1 of its 2 boots is left out (2: from line 641, Linux 6.1.0, 2.500000 s, 640 lines)']
    """
    boots = outcomes[record]["boots"]
    others = [boot_text(place, one) for place, one in enumerate(boots, 1) if one["number"] != boot]
    if not others:
        return []
    verb = "is" if len(others) == 1 else "are"
    listed = "; ".join(others[:_MOST]) + (f"; and {len(others) - _MOST} more" if len(others) > _MOST else "")
    return [f"{outcomes[record]['file']}: {len(others)} of its {len(boots)} boots {verb} left out ({listed})"]


def check_machines(records: Records, boots: Sequence[tuple[int, int]]) -> None:
    """Reject records of several machines.

    :raises IngestError: when two records name another machine, architecture or host.
    """
    for record, boot in boots:
        conflicts = records.machine_conflicts(record, boot)
        if conflicts:
            lines = [f"{other}: `{fact}` is {theirs}, in {one} {ours}" for fact, one, ours, other, theirs in conflicts]
            hint = "import the records of each machine separately; `--any-machine` merges them and reports the conflict"
            raise IngestError("the records are of several machines\n" + "\n".join(lines[:_MOST]), hint=hint)
