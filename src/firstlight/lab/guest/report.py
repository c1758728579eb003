"""The guest's report: the data of the second serial port, and the facts in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from firstlight.lab.guest.facts import config_text, console_facts, kernel_facts, single_facts, system_facts
from firstlight.lab.guest.state import state_facts

_HEAD = re.compile(rb"firstlight-report (\d{1,9})\n")
_RECORD = re.compile(rb"([a-z0-9._-]{1,64}) (\d{1,12})\n")
_VERSION = b"1"


@dataclass
class Report:
    """The records by name, whether the report came to its end, and what was wrong with it."""

    records: dict[str, bytes] = field(default_factory=dict)
    complete: bool = False
    problems: list[str] = field(default_factory=list)

    def kept(self) -> dict[str, bytes]:
        """What the guest's own programs left in ``/run/firstlight/export``, by the files' names.

        >>> Report({"kept.walk.txt": b"4971", "kept...": b"no file's name", "memory": b""}).kept()
        {'walk.txt': b'4971'}
        """
        found = {name.removeprefix("kept."): content for name, content in self.records.items() if name[:5] == "kept."}
        return {name: content for name, content in found.items() if name.strip(".")}

    def text(self, name: str) -> str | None:
        """A record as text, invalid UTF-8 replaced; None when it did not come."""
        content = self.records.get(name)
        return None if content is None else content.decode("utf-8", "replace")


def read_report(data: bytes, *, behind_firmware: bool = False) -> Report:
    """Read a report as ``docs/reference/formats/guest-report.md`` describes it; what came whole counts.

    :param behind_firmware: whether firmware of the user's choice runs before the guest, which may write to the port.

    Never raises: the bytes come from a guest, and a guest may send anything.

    >>> report = read_report(b"firstlight-report 1\\nkernel.release 5\\n6.1.0\\nmemory 100\\nMemT")
    >>> report.records, report.complete
    ({'kernel.release': b'6.1.0'}, False)
    >>> report.problems
    ['record `memory` is truncated: 4 of 100 bytes']
    """
    report = Report()
    head = _HEAD.search(data)
    if head is None:
        report.problems.append(f"no report in {len(data)} bytes" if data else "the guest sent no report")
        return report
    if head.start() > 0 and not behind_firmware:
        report.problems.append(f"{head.start()} bytes came before the report")
    if head[1] != _VERSION:
        report.problems.append(f"the report is of version {int(head[1])}, this Firstlight reads {int(_VERSION)}")
        return report
    _read_records(data, head.end(), report)
    return report


def _read_records(data: bytes, position: int, report: Report) -> None:
    while (head := _RECORD.match(data, position)) is not None:
        name, start, length = head[1].decode(), head.end(), int(head[2])
        end = start + length
        if end >= len(data):
            report.problems.append(f"record `{name}` is truncated: {min(len(data) - start, length)} of {length} bytes")
            return
        if data[end : end + 1] != b"\n":
            report.problems.append(f"record `{name}` does not end where its header says")
            return
        position = end + 1
        if name == "end":
            report.complete = True
            if position < len(data):
                report.problems.append(f"{len(data) - position} bytes came after the report")
            return
        if name in report.records:
            report.problems.append(f"record `{name}` occurs twice; the first counts")
        report.records.setdefault(name, data[start:end])
    rest = len(data) - position
    what = f"{rest} bytes are not a record" if rest else "it was truncated between two records"
    report.problems.append(f"the report has no end: {what}")


def facts_from_report(report: Report, console_text: str) -> list[tuple[str, str]]:
    """The facts of a boot, as ``docs/reference/formats/boot-bundle.md`` names them: sorted, each name once.

    What the report does not say is taken from the console, as far as it stands there.

    :param report: the guest's report, perhaps partial or empty.
    :param console_text: what the first serial port printed, decoded.

    >>> facts_from_report(Report(), "[    0.000000] Linux version 6.1.0-56-cloud-amd64 (a@b) #1 SMP")
    [('kernel.release', '6.1.0-56-cloud-amd64'), ('kernel.warnings', '0')]
    """
    facts = dict(console_facts(console_text))
    if (log := report.text("kmsg")) is not None:
        facts = {name: value for name, value in facts.items() if not name.startswith("kernel.warning")}
        facts.update(kernel_facts(log))
    facts.update(single_facts(report.text))
    facts.update(system_facts(report.text))
    facts.update(state_facts(report.text))
    if (config := config_text(report.records.get("kernel.config", b""))) is not None:
        facts["kernel.config"] = config
    return sorted(facts.items())
