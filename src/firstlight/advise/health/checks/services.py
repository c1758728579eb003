"""The boot as a whole: whether it came up, its units, open ports, the login, the power-off."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

import polars as pl

from firstlight.advise.health.check import Found, NoEvidenceError, both, both_reported, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.differences import lost
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import HealthDifference
from firstlight.analysis.units import units
from firstlight.lab.rootfs.commands import COMMANDS_UNIT
from firstlight.quantities import counted, time_text
from firstlight.recipe.mode import RecordMode
from firstlight.schema.marks import LAYER_OF, Layer, Mark

_LOGINS = re.compile(
    r"^(?:(?:serial-|console-|container-)?getty(?:@.*)?|sshd?|gdm3?|sddm|lightdm)\.(?:service|socket)$"
)
_PROMPT = re.compile(r"(?:^|\s)login: ?$")
_OFF = re.compile(r"reboot: (?:Power down|Restarting|System halted)")
_OFF_FAILED = re.compile(r"cannot power off|Power off not available")
#: Marks that begin and end a record say nothing of the boot.
_OF_RECORDS = frozenset({Mark.RECORD_START, Mark.RECORD_END})
#: Marks that only a boot with userspace reaches.
_USERSPACE_MARKS = (
    frozenset(mark for mark, layer in LAYER_OF.items() if layer in (Layer.INITRAMFS, Layer.USERSPACE)) - _OF_RECORDS
)
#: Units that are active while they have work only; whether they are at an instant says nothing.
_PASSING = re.compile(r"\.(?:device|scope|slice|timer|swap)$|@|^firstlight-|^run-|^init\.scope$|^sys-|^dev-")


@check(CheckId.BOOT, "boot")
def came_up(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The boot reached its end, and the guest reported no error.

    A record that ends before userspace, or does not show it, says nothing of whether the boot came up.
    """
    found = []
    if (failure := boot.manifest.failure) is not None:
        found.append(HealthDifference(f"the boot failed ({failure.reason})", None, failure.detail))
    if error := boot.facts.get("error"):
        found.append(HealthDifference("the guest reported an error", None, error))
    came, reached = not found, set(boot.boot.marks()["mark"].to_list())
    if came and not _has_userspace(boot, reached):
        raise NoEvidenceError("the evidence shows no userspace")
    detail = "came up" if came else "did not come up"
    if baseline is not None and _profiled(boot) == _profiled(baseline):
        missing = [mark for mark in _instants(baseline) if mark not in reached]
        before = _before_all(reached) if boot.lost_head else frozenset()
        shown = [mark for mark in missing if mark not in before and boot.can_show(_instants(baseline)[mark])]
        found += [HealthDifference(f"mark {mark}", "reached", None) for mark in shown]
        if came and shown:
            detail += f", without {counted(len(shown), 'mark')} of the baseline"
        elif came and missing:
            number = counted(len(missing), "mark")
            raise NoEvidenceError(f"came up; the evidence has no record that would show {number} of the baseline")
    return found, detail


def _instants(evidence: HealthEvidence) -> dict[str, frozenset[str]]:
    """The marks of the system with the formats that show them; where a record begins and ends says nothing of it."""
    rows = evidence.boot.marks().select("mark", "source").iter_rows()
    return {mark: evidence.origins_of(source) for mark, source in rows if mark not in _OF_RECORDS}


def _before_all(reached: Set[str]) -> frozenset[str]:
    """The marks that come before all that a record shows."""
    marks = list(Mark)
    first = min((place for place, mark in enumerate(marks) if mark in reached - _OF_RECORDS), default=len(marks))
    return frozenset(marks[:first])


def _has_userspace(boot: HealthEvidence, reached: Set[str]) -> bool:
    """Whether the evidence shows that userspace ran; a recording that is complete ends there."""
    if boot.manifest.mode != RecordMode.IMPORTED:
        return True
    return not _USERSPACE_MARKS.isdisjoint(reached) or bool(boot.unit_states) or boot.reported


def _profiled(evidence: HealthEvidence) -> bool:
    """Whether the boot has a profile: without one a recording has fewer marks."""
    chosen = evidence.manifest.chosen
    return chosen is None or chosen.profile


@check(CheckId.UNITS, "failed units")
def failed_units(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """No unit failed that did not fail in the baseline."""
    if (failed := boot.failed_units) is None:
        raise NoEvidenceError("the evidence has no units")
    before = set() if baseline is None else set(baseline.failed_units or ())
    # The command that the plan runs before the boot counts as ready is not a unit of the system.
    found = [HealthDifference(name, None, "failed") for name in failed if name not in before or name == COMMANDS_UNIT]
    return found, f"{counted(len(boot.unit_states), 'unit')}, {len(failed)} failed"


@check(CheckId.ACTIVE, "active units")
def active_units(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Every unit that was up in the baseline is up."""
    now, before = both(_active, boot, baseline, "has no units", "with units")
    assert baseline is not None
    gone = lost(before, now)
    found = [each for each in gone if boot.shows_unit(each.subject, baseline)]
    up = f"{counted(len(now), 'unit')} up"
    if gone and not found:
        number = counted(len(gone), "unit")
        raise NoEvidenceError(f"{up}; the evidence does not show the state of {number} of the baseline")
    return found, up


def _active(evidence: HealthEvidence) -> dict[str, str] | None:
    if not evidence.unit_states:
        return None
    states = evidence.unit_states.items()
    return {name: "" for name, state in states if state == "active" and not _PASSING.search(name)}


@check(CheckId.PORTS, "open ports")
def ports(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """Every socket of the network that waited for others in the baseline does."""
    boot, baseline = both_reported(boot, baseline)
    now = boot.group("socket.")
    return lost(baseline.group("socket."), now, "socket."), f"{len(now)} open"


@check(CheckId.LOGIN, "first login")
def login(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """A login is possible, as in the baseline; the detail says when it was first."""
    now, before = _login(boot), None if baseline is None else _login(baseline)
    if now is None and before is None:
        raise NoEvidenceError("the evidence shows no login: no getty, no SSH server, no prompt")
    if now is None:
        assert before is not None
        assert baseline is not None
        if not (boot.shows_unit(before.by, baseline) if before.is_unit else boot.can_show(before.origins)):
            raise NoEvidenceError(f"the evidence has no record that would show a login by {before.by}")
        found = [HealthDifference(f"login by {before.by}", time_text(before.at_ns), None)]
        return found, "no getty, no SSH server, no prompt"
    then = "" if before is None else f" ({time_text(before.at_ns)} in the baseline)"
    return [], f"{now.by} at {time_text(now.at_ns)}{then}"


@dataclass(frozen=True)
class _Login:
    """What lets a user in first."""

    at_ns: int
    by: str
    is_unit: bool
    origins: frozenset[str]
    """The formats of the records that show it."""


def _login(evidence: HealthEvidence) -> _Login | None:
    found = []
    rows = units(evidence.boot).filter(pl.col("state") == "active").select("unit", "start_ns", "end_ns", "source")
    for unit, start, end, source in rows.iter_rows():
        if _LOGINS.match(unit) and (at := end if end is not None else start) is not None:
            found.append(_Login(at, unit, True, evidence.origins_of(source)))
    lines = evidence.boot.log().filter(pl.col("text").is_not_null() & pl.col("time_ns").is_not_null())
    for text, at, source in lines.select("text", "time_ns", "source").iter_rows():
        if _PROMPT.search(text):
            found.append(_Login(at, "a prompt", False, evidence.origins_of(source)))
    return min(found, key=lambda each: each.at_ns, default=None)


@check(CheckId.POWEROFF, "power-off")
def power_off(boot: HealthEvidence, baseline: HealthEvidence | None) -> Found:
    """The guest powered off when it was asked to, after the recorded boot."""
    console = boot.console if boot.manifest.mode != RecordMode.IMPORTED else None
    if console is None or boot.manifest.failure is not None:
        raise NoEvidenceError("the record ends before")
    if _OFF_FAILED.search(console) or "System halted" in console:
        return [HealthDifference("power-off", None, "the guest halted")], ""
    if _OFF.search(console):
        return [], "powered off"
    # `loglevel` may hide the line; the recorder ends a guest that stays.
    raise NoEvidenceError("the console does not show it")
