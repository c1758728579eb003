"""What the kernel says of itself: warnings, taint, its command line."""

from __future__ import annotations

import re

from firstlight.advise.health.check import Found, NoEvidenceError, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.evidence import Evidence, masked, message_of
from firstlight.advise.health.result import Difference
from firstlight.quantities import counted

_WARNING = 4
_SEVERE = re.compile(
    r"^(?:WARNING: |BUG: |Oops|general protection fault|Kernel panic)|Call Trace:|soft lockup|hung_task"
    r"|rcu: INFO:.*stall"
)
#: Bits of `/proc/sys/kernel/tainted` that say that something went wrong, with their letters.
_GRAVE_TAINT = {4: "M", 5: "B", 7: "D", 9: "W", 14: "L"}


@check(CheckId.DMESG, "kernel warnings")
def warnings(boot: Evidence, baseline: Evidence | None) -> Found:
    """No kernel message of the level of a warning or worse is new, numbers masked."""
    if (now := _warnings(boot)) is None:
        raise NoEvidenceError("the evidence has no levels of kernel messages")
    severe = [Difference(text, None, "") for text in now if _SEVERE.search(text)]
    if baseline is None or (before := _warnings(baseline)) is None:
        if now and not severe:
            raise NoEvidenceError(f"{counted(len(now), 'warning')}; needs a baseline to say which are new")
        return severe, counted(len(now), "warning")
    known = {masked(text) for text in before}
    new = {masked(text): text for text in now if masked(text) not in known}
    found = [Difference(text, None, "") for text in new.values()]
    return found, f"{counted(len(now), 'warning')}, {len(before)} in the baseline"


def _warnings(evidence: Evidence) -> list[str] | None:
    """The messages of the level of a warning or worse; nothing where the levels are not known."""
    frame = evidence.boot.log()
    leveled = frame.filter((frame["level"] <= _WARNING).fill_null(False))["text"].drop_nulls().to_list()
    facts = [value for name, value in evidence.facts.items() if name.startswith("kernel.warning.")]
    severe = [text for text in evidence.messages if _SEVERE.search(text)]
    if "kernel.warnings" not in evidence.facts and frame["level"].null_count() == frame.height and not severe:
        return None
    return list(dict.fromkeys([*map(message_of, [*facts, *leveled]), *severe]))


@check(CheckId.TAINT, "taint")
def taint(boot: Evidence, baseline: Evidence | None) -> Found:
    """The kernel is not tainted more than in the baseline; without one, not by a warning, a crash or a lock-up."""
    if (now := boot.number("kernel.tainted")) is None:
        raise NoEvidenceError("the evidence has no taint")
    before = None if baseline is None else baseline.number("kernel.tainted")
    if before is None:
        letters = "".join(letter for bit, letter in _GRAVE_TAINT.items() if now >> bit & 1)
        found = [Difference("kernel.tainted", "0", f"{now} ({letters})")] if letters else []
    else:
        found = [Difference("kernel.tainted", str(before), str(now))] if now & ~before else []
    return found, f"{now}"


@check(CheckId.CMDLINE, "command line")
def command_line(boot: Evidence, baseline: Evidence | None) -> Found:
    """Something read every argument of the kernel's command line: what nothing reads has no effect."""
    if (lost := boot.facts.get("kernel.command_line.unread")) is None:
        if "kernel.command_line.words" in boot.facts:
            return [], "every argument was read"
        lines = [text for text in boot.messages if text.startswith("Unknown kernel command line parameters")]
        if not lines:
            raise NoEvidenceError("the evidence does not say who read the arguments")
        return [Difference(lines[0], None, "")], ""
    known = set() if baseline is None else set(baseline.facts.get("kernel.command_line.unread", "").split())
    found = [Difference(word, None, "nothing read it") for word in lost.split() if word not in known]
    return found, ""
