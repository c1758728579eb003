"""Units of systemd: waiting against working, stages, what failed and what did not finish."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import polars as pl

from firstlight.analysis.spans import spans_of, whole_number
from firstlight.bundle.boot import Boot
from firstlight.bundle.once import once
from firstlight.bundle.tables import columns
from firstlight.schema.marks import Mark, Stage

#: What reports units.
HINT = "import what `systemctl show '*'` or `systemd-analyze plot --json=short` print, or `journalctl -o json -b`"

#: The stages of a start, as systemd names them, in their order.
STAGES = (Stage.FIRMWARE, Stage.LOADER, Stage.KERNEL, Stage.INITRD, Stage.USERSPACE, Stage.SOFT_REBOOT)

#: With these results of its job a start failed. Others called it off, or found nothing to do.
FAILURES = ("failed", "timeout", "dependency", "assert")

#: Instants of two records may lie so far apart: what begins sooner after the end of the start belongs to it.
_SLACK_NS = 10_000_000
#: Why a start has no waiting.
LATER = "it began after the start-up had finished: it is not part of it, and waited for nothing in it"

_SCHEMA = columns(
    "span:int unit type wanted_ns:int start_ns:int end_ns:int duration_ns:int waiting_ns:int ordered_ns:int "
    "held_ns:int working_ns:int hardware_ns:int main_ns:int waited_for state grade reason source"
)


@once
def units(boot: Boot) -> pl.DataFrame:
    """One row for every start of a unit, in order of time.

    systemd keeps no instant at which a unit's start was asked for, so that waiting is defined by what there is:

    - `wanted_ns`: the start of the stage (initrd, userspace) that the unit began to start in.
    - `waiting_ns` = `start_ns` - `wanted_ns`. It has two parts: `ordered_ns`, until the last of the units that it is
      ordered after was up (`waited_for`), and `held_ns`, from then until it began to start: nothing recorded held it
      (a job that came later, a socket, a timer, the manager at other work).
    - `duration_ns`: from activating to active, what `systemd-analyze blame` sorts by. It is `working_ns`; `main_ns` of
      it is its main process's. A `.device` does no work: its `hardware_ns` is all the time from when nothing recorded
      held it to active, in which the hardware had not shown up; it has no `held_ns`.

    So `ordered_ns` + `held_ns` + `working_ns`, or `ordered_ns` + `hardware_ns`, is the time from wanted to active.

    A start that began after `startup_finished` is not part of the boot: it waited for nothing that is known, and its
    `reason` says so.

    `state` is how this start ended: `active`, `failed`, `unfinished` (it began and did not become active) or what the
    record says (`canceled`, `skipped`, ...). Null is not known. Grade `bounded` where the record cut times to the end
    of the boot.

    >>> import firstlight
    >>> units(firstlight.open(bundle)).height
    0
    """
    keys = ("main_ns", "active_state", "result")
    frame = spans_of(boot, "unit", keys=keys)
    ends = _ends(frame)
    after = _links(boot, "after")
    begins = _stage_starts(boot)
    failed = set(failed_units(boot))
    latest = _latest(frame)
    finished = boot.marks().filter(pl.col("mark") == Mark.STARTUP_FINISHED)["time_ns"].drop_nulls().max()
    rows = []
    for row in frame.with_columns(whole_number("main_ns")).iter_rows(named=True):
        name, start = row["name"], row["start_ns"]
        later = start is not None and isinstance(finished, int) and start > finished + _SLACK_NS
        wanted = None if later else _wanted(start, begins)
        ready, waited_for = (None, None) if later else _last_before(after.get(name, ()), ends, start)
        waiting = None if wanted is None or start is None else max(0, start - wanted)
        ordered = None
        if waiting is not None and wanted is not None:
            ordered = min(waiting, max(0, ready - wanted)) if ready is not None else 0
        held = None if waiting is None or ordered is None else waiting - ordered
        hardware = name.endswith(".device")
        rows.append(
            {
                "span": row["span"],
                "unit": name,
                "type": name.rpartition(".")[2],
                "wanted_ns": wanted,
                "waiting_ns": waiting,
                "ordered_ns": ordered,
                "held_ns": None if hardware else held,
                "working_ns": None if hardware else row["duration_ns"],
                "hardware_ns": None if not hardware or row["duration_ns"] is None else row["duration_ns"] + (held or 0),
                "waited_for": waited_for,
                "state": _state(row, name in failed and row["span"] == latest[name]),
                "reason": "; ".join(filter(None, (LATER if later else None, row["reason"]))) or None,
                **{key: row[key] for key in ("start_ns", "end_ns", "duration_ns", "main_ns", "grade", "source")},
            }
        )  # fmt: skip
    return pl.DataFrame(rows, schema=_SCHEMA)


def stages(boot: Boot) -> pl.DataFrame:
    """The stages of the start as systemd has them, in order of time; parts of a stage have its name as `part_of`.

    Columns: `stage`, `part_of`, `start_ns`, `end_ns`, `duration_ns`, `grade`, `reason`, `source`.
    """
    frame = spans_of(boot, "stage")
    names = dict(frame.select("span", "name").iter_rows())
    part_of = pl.Series("part_of", [names.get(parent) for parent in frame["parent"].to_list()], dtype=pl.String)
    columns = ("start_ns", "end_ns", "duration_ns", "grade", "reason", "source")
    return frame.select(pl.col("name").alias("stage"), part_of, *columns)


def failed_units(boot: Boot) -> list[str]:
    """The failed units, in order of their names, as the facts have them."""
    facts = boot.facts().filter(pl.col("fact") == "systemd.failed")["value"].drop_nulls().to_list()
    return sorted({unit for value in facts for unit in value.split()})


def _state(row: dict[str, Any], failed: bool) -> str | None:
    """How a start ended, of which the facts may say that the unit is among the failed."""
    said: str | None = row["active_state"]
    result: str | None = row["result"]
    if failed or said == "failed" or result in FAILURES:
        return "failed"
    if said is None and result not in (None, "done"):
        return result
    if row["start_ns"] is not None and row["end_ns"] is None and said not in ("active", "inactive"):
        return "unfinished"
    return said or (None if row["end_ns"] is None else "active")


def _latest(frame: pl.DataFrame) -> dict[str, int]:
    """The last start of each unit: what a record says of the unit as it is now is of that one."""
    in_time = frame.sort(pl.coalesce("start_ns", "end_ns"), "span", nulls_last=False)
    return dict(in_time.select("name", "span").iter_rows())


def _ends(frame: pl.DataFrame) -> dict[str, list[int]]:
    """When each unit was up, in order."""
    ends: dict[str, list[int]] = {}
    for name, end in frame.select("name", "end_ns").drop_nulls().sort("end_ns").iter_rows():
        ends.setdefault(name, []).append(end)
    return ends


def _links(boot: Boot, kind: str) -> dict[str, list[str]]:
    links = boot.links().filter((pl.col("kind") == kind) & (pl.col("from_kind") == "unit"))
    found: dict[str, list[str]] = {}
    for unit, other in links.select("from_name", "to_name").drop_nulls().unique(maintain_order=True).iter_rows():
        found.setdefault(unit, []).append(other)
    return found


def _last_before(others: Iterable[str], ends: dict[str, list[int]], start: int | None) -> tuple[int | None, str | None]:
    """Of the others the one that was up last before *start*, and when that was."""
    best: tuple[int | None, str | None] = (None, None)
    if start is None:
        return best
    for other in others:
        known = ends.get(other, [])
        place = bisect_right(known, start)
        if place and (best[0] is None or known[place - 1] > best[0]):
            best = (known[place - 1], other)
    return best


def _stage_starts(boot: Boot) -> list[int]:
    """When the stages began in which systemd runs."""
    rows = spans_of(boot, "stage").filter(pl.col("name").is_in([Stage.INITRD, Stage.USERSPACE, Stage.SOFT_REBOOT]))
    return sorted(rows["start_ns"].drop_nulls().to_list())


def _wanted(start: int | None, begins: list[int]) -> int | None:
    place = bisect_right(begins, start) if start is not None else 0
    return begins[place - 1] if place else None
