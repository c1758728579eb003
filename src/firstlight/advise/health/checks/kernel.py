"""What the kernel says of itself: warnings, taint, its command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.advise.health.check import Found, NoEvidenceError, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.evidence import HealthEvidence, masked, message_of
from firstlight.advise.health.result import HealthDifference
from firstlight.bundle.command_line import FACT, UNREAD, read_words
from firstlight.lab.kernel.command_line.account import words_said_unknown
from firstlight.quantities import counted

_WARNING = 4
_SEVERE = re.compile(
    r"^(?:WARNING: |BUG: |Oops|general protection fault|Kernel panic)|Call Trace:|soft lockup|hung_task"
    r"|rcu: INFO:.*stall"
)
#: Bits of `/proc/sys/kernel/tainted` that say that something went wrong, with their letters.
_GRAVE_TAINT = {4: "M", 5: "B", 7: "D", 9: "W", 14: "L"}
#: The letters stand before the kernel's release in the head of a call trace (`print_tainted` in `kernel/panic.c`).
_TAINTED = re.compile(r"\bTainted: ([A-Z ]+?) +\d")


@check(CheckId.DMESG, "kernel warnings")
def warnings(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """No kernel message of the level of a warning or worse is new, numbers masked."""
    if (now := _warnings(boot)) is None:
        raise NoEvidenceError("the evidence has no levels of kernel messages")
    before = (None if baseline is None else _warnings(baseline)) or []
    known = {masked(text) for text in before}
    new = {masked(text): text for text in now if masked(text) not in known}
    if baseline is None or not _has_levels(baseline):
        # Only what a message says of itself is comparable: the baseline has no levels.
        found = [HealthDifference(text, None, "") for text in new.values() if _SEVERE.search(text)]
        if new and not found:
            raise NoEvidenceError(f"{counted(len(now), 'warning')}; needs a baseline to say which are new")
        return found, counted(len(now), "warning")
    found = [HealthDifference(text, None, "") for text in new.values()]
    return found, f"{counted(len(now), 'warning')}, {len(before)} in the baseline"


def _warnings(evidence: HealthEvidence) -> list[str] | None:
    """The messages of the level of a warning or worse; nothing where the levels are not known."""
    frame = evidence.kernel_log
    leveled = frame.filter((frame["level"] <= _WARNING).fill_null(False))["text"].drop_nulls().to_list()
    facts = [value for name, value in evidence.facts.items() if name.startswith("kernel.warning.")]
    severe = [text for text in map(message_of, frame["text"].drop_nulls()) if _SEVERE.search(text)]
    if not severe and not _has_levels(evidence):
        return None
    return list(dict.fromkeys([*map(message_of, [*facts, *leveled]), *severe]))


def _has_levels(evidence: HealthEvidence) -> bool:
    frame = evidence.kernel_log
    return "kernel.warnings" in evidence.facts or frame["level"].null_count() < frame.height


@check(CheckId.TAINT, "taint")
def taint(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The kernel is not tainted more than in the baseline; without one, not by a warning, a crash or a lock-up."""
    if (now := boot.number("kernel.tainted")) is None:
        return _taint_of_log(boot, baseline)
    before = None if baseline is None else baseline.number("kernel.tainted")
    if before is None:
        letters = "".join(letter for bit, letter in _GRAVE_TAINT.items() if now >> bit & 1)
        found = [HealthDifference("kernel.tainted", "0", f"{now} ({letters})")] if letters else []
    else:
        found = [HealthDifference("kernel.tainted", str(before), str(now))] if now & ~before else []
    return found, f"{now}"


def _taint_of_log(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The grave letters in the call traces of a log. A log without them says nothing of taint."""
    letters, before = _letters(boot), set() if baseline is None else _letters(baseline)
    if not letters:
        raise NoEvidenceError("the evidence has no taint")
    shown = "".join(sorted(letters))
    return [HealthDifference("kernel.tainted", None, letter) for letter in sorted(letters - before)], shown


def _letters(evidence: HealthEvidence) -> set[str]:
    found = {letter for text in evidence.messages for match in _TAINTED.finditer(text) for letter in match[1]}
    return found & set(_GRAVE_TAINT.values())


@check(CheckId.CMDLINE, "command line")
def command_line(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Something read every argument of the kernel's command line: what nothing reads has no effect.

    A log names the arguments that the kernel handed to userspace. It does not say whether a program there read them.
    """
    if (lost := boot.facts.get(UNREAD)) is None:
        if FACT in boot.facts:
            return [], "every argument was read"
        return _handed_on(boot, baseline)
    words = lost.split()
    if baseline is not None and FACT not in baseline.facts and UNREAD not in baseline.facts:
        # An argument that both boots have is not a difference, and the baseline does not say who read it there.
        same = [word for word in words if word in baseline.facts.get("kernel.command_line", "").split()]
        if same and len(same) == len(words):
            raise NoEvidenceError(f"nothing read {_listed(same)}; the baseline does not say who read the arguments")
    known = set() if baseline is None else set(baseline.facts.get(UNREAD, "").split())
    return [HealthDifference(word, None, "nothing read it") for word in words if word not in known], ""


def _handed_on(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The arguments that a kernel said it did not know, against those of the baseline."""
    if (handed := words_said_unknown("\n".join(boot.messages))) is None:
        raise NoEvidenceError("the evidence does not say who read the arguments")
    said = None if baseline is None else words_said_unknown("\n".join(baseline.messages))
    accounted = set() if baseline is None else {word.text for word in read_words(baseline.facts.get(FACT, ""))}
    new = sorted(handed - (said or frozenset()) - accounted)
    if new and (said is None or accounted):
        raise NoEvidenceError(f"the kernel handed {_listed(new)} to userspace; the log does not say what read it there")
    found = [HealthDifference(word, None, "handed to userspace") for word in new]
    return found, f"the kernel handed {_listed(sorted(handed))} to userspace, as in the baseline" if not found else ""


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
