"""The probes of devices, their deferrals and their suppliers, as the kernel's own functions show them from outside.

The plugin records the calls of three functions (`drivers/base/dd.c` and `core.c`, `lib/kasprintf.c` of the kernel): the
probe of a device by a driver with its result, the text that the driver core makes of the reason of a deferral, which
fw_devlink or the driver gives, and the links of consumers and suppliers, which fw_devlink makes of the device tree.
Nothing in the guest changes, and nothing has to be logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.errors import LabError
from firstlight.lab.run.question import parse_question
from firstlight.schema.spans import Grade, LinkKind, SpanKind

if TYPE_CHECKING:
    import polars as pl

_PROBE = parse_question("really_probe(dev->kobj.name:string, drv->name:string, drv->bus->name:string)")
#: The reason of a deferral, as `device_set_deferred_probe_reason` makes it of what fw_devlink or the driver says.
_REASON = parse_question("kasprintf(fmt:string)")
_REASON_FORMAT = "%s: %pV"
_LINK = parse_question("device_link_add(consumer->kobj.name:string, supplier->kobj.name:string)")
_QUESTIONS = (_PROBE, _REASON, _LINK)
#: More calls are not recorded. A boot has some hundreds.
_MOST = 1_000_000
_SOURCE = "profile"
#: `EPROBE_DEFER` of the kernel.
_DEFERRED = 517
_SUPPLIER = re.compile(r"\bsupplier (\S+)")
_FIRST_PROCESS = 1
#: As the vocabulary has it for the code `recording_ended`.
_NOT_ENDED = "it had not ended when the recording did"


@dataclass
class Try:
    """One probe of a device by a driver."""

    device: str
    driver: str
    bus: str
    start_ns: int
    pid: int | None
    end_ns: int | None = None
    returned: int | None = None
    """0, or a negative error number."""
    reason: str = ""
    """Of a deferral, as the kernel says it."""

    @property
    def is_deferred(self) -> bool:
        """Whether the probe was deferred."""
        return self.returned == -_DEFERRED


@dataclass
class DriverCore:
    """What the driver core did in a boot."""

    tries: list[Try] = field(default_factory=list)
    links: dict[tuple[str, str], None] = field(default_factory=dict)
    """Consumer and supplier, in the order in which they were linked."""

    def still_deferred(self) -> dict[str, str]:
        """The devices whose last try was deferred, each with its reason.

        >>> first, last = (Try("a", "d", "platform", at, 1, at + 1, result) for at, result in ((0, -517), (5, 0)))
        >>> DriverCore([first]).still_deferred(), DriverCore([first, last]).still_deferred()
        ({'a': ''}, {})
        """
        last = {each.device: each for each in self.tries}
        return {device: each.reason for device, each in last.items() if each.is_deferred}


def device_questions(others: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the plugin has to record for this, as its configuration has it, after questions of others.

    >>> [each["function"] for each in device_questions()["questions"]]
    ['really_probe', 'kasprintf', 'device_link_add']
    """
    own = [
        {
            "function": question.function,
            "returns": question is not _LINK,
            **({"result": "string"} if question is _REASON else {}),
            "values": [{"path": list(value.path), "kind": value.kind} for value in question.values],
        }
        for question in _QUESTIONS
    ]
    return {"most": _MOST, "questions": [*(others or {"questions": ()})["questions"], *own]}


def check_functions(symbols: Path, kernel: str) -> None:
    """Check that a kernel has these functions under their own names.

    :param symbols: its symbols, as `/proc/kallsyms` has them.
    :param kernel: its file, for messages.
    :raises LabError: naming the first that it lacks.
    """
    with symbols.open(encoding="utf-8", errors="replace") as lines:
        known = {fields[2] for fields in map(str.split, lines) if len(fields) >= 3}
    for question in _QUESTIONS:
        if question.function not in known:
            raise LabError(
                f"the devices of this kernel cannot be followed: it has no function `{question.function}`",
                where=kernel,
                hint="the compiler inlined it: leave `--devices` out, and use `--append initcall_debug`",
            )


def read_driver_core(lines: Iterable[str], first: int = 0) -> DriverCore:
    """What the driver core did, from the plugin's answers.

    :param lines: of JSON (docs/reference/formats/plugin.md).
    :param first: how many questions of others came before.
    """
    core = DriverCore()
    calls: dict[int, Try] = {}
    running: dict[int | None, list[Try]] = {}
    reasons: dict[int, Try] = {}
    for line in lines:
        data = json.loads(line)
        if "end_ns" in data:
            if (one := calls.get(data["call"])) is not None:
                # Since Linux 5.11 an error of the driver itself is positive.
                one.end_ns, one.returned = data["end_ns"], -abs(data["result"])
                running[one.pid].remove(one)
            elif (one := reasons.get(data["call"])) is not None:
                one.reason = (data["result"] or "").strip()
        elif "question" in data:
            names = ["" if value is None else str(value) for value in data["values"]]
            question, pid = data["question"] - first, data["pid"]
            if question == 0:
                one = calls[data["call"]] = Try(names[0], names[1], names[2], data["start_ns"], pid)
                running.setdefault(pid, []).append(one)
            elif question == 1 and names[0] == _REASON_FORMAT and running.get(pid):
                # A probe may run within another one: of the device of a bus in that of the bus.
                reasons[data["call"]] = running[pid][-1]
            elif question == 2:
                core.links[names[0], names[1]] = None
    core.tries = sorted(calls.values(), key=lambda each: each.start_ns)
    for one in core.tries:
        one.reason = one.reason if one.is_deferred else ""
        if (named := _SUPPLIER.search(one.reason)) is not None:
            core.links.setdefault((one.device, named[1]))
    return core


def tables_from_devices(answers: Path, bundle: Path, first: int = 0) -> list[tuple[str, str]]:
    """Add the probes to the spans, and the suppliers to the links; what the console says of probes is left out.

    :param answers: what the plugin wrote; a boot that failed before has none.
    :param first: how many questions of others came before.
    :returns: facts: the devices that are still deferred at the end, with the reason.
    :raises LabError: when the answers are damaged.
    """
    try:
        core = read_driver_core(answers.read_text(encoding="utf-8").splitlines(), first)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError("the plugin's answers are damaged", where=str(answers), hint="is the disk full?") from error
    from firstlight.bundle.tables import read_table  # late: see `firstlight.lab.run.record`
    from firstlight.bundle.writer import write_table

    spans = _with_probes(read_table(bundle, "spans"), core.tries)
    write_table("spans", spans.to_dict(as_series=False), bundle)
    links = read_table(bundle, "links")
    known = set(links.filter(kind=LinkKind.SUPPLIER).select("from_name", "to_name").iter_rows())
    added = [
        (LinkKind.SUPPLIER.value, SpanKind.PROBE.value, consumer, SpanKind.PROBE.value, supplier, _SOURCE)
        for consumer, supplier in core.links
        if (consumer, supplier) not in known
    ]
    write_table("links", _appended(links, added).to_dict(as_series=False), bundle)
    still = core.still_deferred()
    facts = [(f"kernel.deferred_probe.{device}", reason) for device, reason in still.items()]
    return [*facts, ("kernel.deferred_probes", " ".join(still))] if still else []


def _appended(table: pl.DataFrame, rows: Sequence[Sequence[object]]) -> pl.DataFrame:
    import polars as pl

    return pl.concat([table, pl.DataFrame(rows, schema=table.schema, orient="row")])


def _with_probes(spans: pl.DataFrame, tries: Sequence[Try]) -> pl.DataFrame:
    """The spans with the probes of a boot instead of those that the console has."""
    import polars as pl

    spans = spans.filter(pl.col("kind") != SpanKind.PROBE)
    kept = set(spans["span"])
    spans = spans.with_columns(pl.when(pl.col("parent").is_in(kept)).then("parent"))
    outer = [
        (row["start_ns"], row["end_ns"], row["span"], row["kind"])
        for row in spans.filter(pl.col("kind").is_in([SpanKind.PHASE, SpanKind.INITCALL])).iter_rows(named=True)
        if row["start_ns"] is not None and row["end_ns"] is not None
    ]
    number = max(kept, default=-1) + 1
    counted: dict[str, int] = {}
    rows = []
    for place, one in enumerate(tries):
        counted[one.device] = counted.get(one.device, 0) + 1
        named = {"returned": one.returned, "driver": one.driver, "bus": one.bus, "tries": counted[one.device]}
        if one.reason:
            named["deferred_for"] = one.reason
        ended = one.end_ns is not None
        values: dict[str, object] = {
            "span": number + place,
            "parent": _parent(one, outer),
            "kind": SpanKind.PROBE.value,
            "name": one.device,
            "track": "" if one.pid is None else f"task {one.pid}",
            "start_ns": one.start_ns,
            "end_ns": one.end_ns,
            "duration_ns": None if one.end_ns is None else one.end_ns - one.start_ns,
            "grade": (Grade.EXACT if ended else Grade.UNKNOWN).value,
            "reason": None if ended else _NOT_ENDED,
            "source": _SOURCE,
            "attributes": json.dumps({key: str(value) for key, value in named.items() if value not in (None, "")}),
        }
        rows.append([values.get(column) for column in spans.columns])
    return _appended(spans, rows)


def _parent(one: Try, outer: Sequence[tuple[int, int, int, str]]) -> int | None:
    """The initcall of the kernel's first process that a probe ran in, or else the phase."""
    end = one.start_ns if one.end_ns is None else one.end_ns
    kinds = (SpanKind.INITCALL, SpanKind.PHASE) if one.pid == _FIRST_PROCESS else (SpanKind.PHASE,)
    for kind in kinds:
        around = [
            (until - since, span)
            for since, until, span, of in outer
            if of == kind and since <= one.start_ns and end <= until
        ]
        if around:
            return min(around)[1]
    return None
