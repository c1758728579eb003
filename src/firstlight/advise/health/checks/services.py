"""The boot as a whole: whether it came up, its units, open ports, the login, the power-off."""

from __future__ import annotations

import re
from collections.abc import Set

import polars as pl

from firstlight.advise.health.check import Found, NoEvidenceError, both, both_reported, check
from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.differences import lost
from firstlight.advise.health.evidence import Evidence
from firstlight.advise.health.result import Difference
from firstlight.analysis.units import units
from firstlight.lab.rootfs.commands import COMMANDS_UNIT
from firstlight.quantities import counted, time_text
from firstlight.schema.marks import LAYER_OF, Layer, Mark

_LOGINS = re.compile(
    r"^(?:(?:serial-|console-|container-)?getty(?:@.*)?|sshd?|gdm3?|sddm|lightdm)\.(?:service|socket)$"
)
_PROMPT = re.compile(r"(?:^|\s)login: ?$")
_OFF = re.compile(r"reboot: (?:Power down|Restarting|System halted)")
_OFF_FAILED = re.compile(r"cannot power off|Power off not available")
#: Marks that only a boot with userspace reaches; those that begin and end a record say nothing.
_USERSPACE_MARKS = frozenset(
    mark for mark, layer in LAYER_OF.items() if layer in (Layer.INITRAMFS, Layer.USERSPACE)
) - {Mark.RECORD_START, Mark.RECORD_END}
#: Units that are active while they have work only; whether they are at an instant says nothing.
_PASSING = re.compile(r"\.(?:device|scope|slice|timer|swap)$|@|^firstlight-|^run-|^init\.scope$|^sys-|^dev-")


@check(CheckId.BOOT, "boot")
def came_up(boot: Evidence, baseline: Evidence | None) -> Found:
    """The boot reached its end, and the guest reported no error.

    A record that ends before userspace, or does not show it, says nothing of whether the boot came up.
    """
    found = []
    if (failure := boot.manifest.failure) is not None:
        found.append(Difference(f"the boot failed ({failure.reason})", None, failure.detail))
    if error := boot.facts.get("error"):
        found.append(Difference("the guest reported an error", None, error))
    came, reached = not found, set(boot.boot.marks()["mark"].to_list())
    if came and not _has_userspace(boot, reached):
        raise NoEvidenceError("the evidence shows no userspace")
    detail = "came up" if came else "did not come up"
    if baseline is not None and _profiled(boot) == _profiled(baseline):
        missing = [mark for mark in baseline.boot.marks()["mark"].to_list() if mark not in reached]
        found += [Difference(f"mark {mark}", "reached", None) for mark in missing]
        if came and missing:
            detail += f", without {counted(len(missing), 'mark')} of the baseline"
    return found, detail


def _has_userspace(boot: Evidence, reached: Set[str]) -> bool:
    """Whether the evidence shows that userspace ran; a recording that is complete ends there."""
    if boot.manifest.mode != "imported":
        return True
    return not _USERSPACE_MARKS.isdisjoint(reached) or bool(boot.unit_states) or boot.reported


def _profiled(evidence: Evidence) -> bool:
    """Whether the boot has a profile: without one a recording has fewer marks."""
    chosen = evidence.manifest.chosen
    return chosen is None or chosen.profile


@check(CheckId.UNITS, "failed units")
def failed_units(boot: Evidence, baseline: Evidence | None) -> Found:
    """No unit failed that did not fail in the baseline."""
    if (failed := boot.failed_units) is None:
        raise NoEvidenceError("the evidence has no units")
    before = set() if baseline is None else set(baseline.failed_units or ())
    # The command that the plan runs before the boot counts as ready is no unit of the system.
    found = [Difference(name, None, "failed") for name in failed if name not in before or name == COMMANDS_UNIT]
    return found, f"{counted(len(boot.unit_states), 'unit')}, {len(failed)} failed"


@check(CheckId.ACTIVE, "active units")
def active_units(boot: Evidence, baseline: Evidence | None) -> Found:
    """Every unit that was up in the baseline is up."""
    now, before = both(lambda each: _active(each) or None, boot, baseline, "has no units", "with units")
    return lost(before, now), f"{counted(len(now), 'unit')} up"


def _active(evidence: Evidence) -> dict[str, str]:
    states = evidence.unit_states.items()
    return {name: "" for name, state in states if state == "active" and not _PASSING.search(name)}


@check(CheckId.PORTS, "open ports")
def ports(boot: Evidence, baseline: Evidence | None) -> Found:
    """Every socket of the network that waited for others in the baseline does."""
    boot, baseline = both_reported(boot, baseline)
    now = boot.group("socket.")
    return lost(baseline.group("socket."), now, "socket."), f"{len(now)} open"


@check(CheckId.LOGIN, "first login")
def login(boot: Evidence, baseline: Evidence | None) -> Found:
    """A login is possible, as in the baseline; the detail says when it was first."""
    now, before = _login(boot), None if baseline is None else _login(baseline)
    if now is None and before is None:
        raise NoEvidenceError("the evidence shows no login: no getty, no SSH server, no prompt")
    if now is None:
        assert before is not None
        found = [Difference(f"login by {before[0]}", time_text(before[1]), None)]
        return found, "no getty, no SSH server, no prompt"
    then = "" if before is None else f" ({time_text(before[1])} in the baseline)"
    return [], f"{now[0]} at {time_text(now[1])}{then}"


def _login(evidence: Evidence) -> tuple[str, int] | None:
    """What lets a user in first, and when, in nanoseconds."""
    found = []
    rows = units(evidence.boot).filter(pl.col("state") == "active").select("unit", "start_ns", "end_ns")
    for unit, start, end in rows.iter_rows():
        if _LOGINS.match(unit) and (at := end if end is not None else start) is not None:
            found.append((unit, at))
    lines = evidence.boot.log().select("text", "time_ns").drop_nulls()
    found += [("a prompt", at) for text, at in lines.iter_rows() if _PROMPT.search(text)]
    return min(found, key=lambda each: each[1], default=None)


@check(CheckId.POWEROFF, "power-off")
def power_off(boot: Evidence, baseline: Evidence | None) -> Found:
    """The guest powered off when it was asked to, after the recorded boot."""
    console = boot.console if boot.manifest.mode != "imported" else None
    if console is None or boot.manifest.failure is not None:
        raise NoEvidenceError("the record ends before")
    if _OFF_FAILED.search(console) or "System halted" in console:
        return [Difference("power-off", None, "the guest halted")], ""
    if _OFF.search(console):
        return [], "powered off"
    # `loglevel` may hide the line; the recorder ends a guest that stays.
    raise NoEvidenceError("the console does not show it")
