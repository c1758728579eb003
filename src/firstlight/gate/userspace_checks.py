"""The rules about what user mode executed: processes by program, services, system calls, packages, functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from firstlight.analysis.processes.sums import STORED, UserspaceKind
from firstlight.comparison.boot_figures import Sample
from firstlight.comparison.noise_band import Band
from firstlight.errors import BundleError, UsageError
from firstlight.gate.checks import Check, limit_check, soft_check
from firstlight.gate.rules import GateLimits, Rules
from firstlight.suggest import unknown_name

_LEVELS = {
    UserspaceKind.PROCESS: "processes",
    UserspaceKind.SERVICE: "services",
    UserspaceKind.SYSTEM_CALL: "system_calls",
    UserspaceKind.PACKAGE: "packages",
    UserspaceKind.USER_FUNCTION: "user_functions",
}

#: What a boot lacks that has no figure of a kind, where it is not processes.
_MISSING = {UserspaceKind.PACKAGE: "packages", UserspaceKind.USER_FUNCTION: "user functions"}


def userspace_checks(
    baseline: Sequence[Sample],
    measured: Sequence[Sample],
    rules: Rules,
    where: str,
    *,
    exact: bool,
    band: Band | None = None,
    fail_within_band: bool = False,
) -> list[Check]:
    """Check every rule about user mode; what one side does not know is inconclusive.

    :param where: the rules' file, for messages.
    :param band: the noise band; what it does not have did not move by itself.
    :raises UsageError: for a rule about what no boot executed, with the nearest name.
    """
    checks: list[Check] = []
    for kind in STORED:
        every, named = rules.for_userspace(kind)
        known = [sample.userspace.get(kind) for sample in (*baseline, *measured)]
        names = dict.fromkeys(name for each in known for name in each or ())
        if None not in known:
            for name, limits in named.items():
                # A rule without limits exempts what `every_…` covers, and that need not run in each boot.
                if limits.soft is not None or limits.hard is not None:
                    _check_name(kind, name, list(names), where)
        for name in dict.fromkeys([*named, *(names if every != GateLimits() else ())]):
            limits = named.get(name, every)
            if limits.soft is not None:
                checks.append(
                    _unknown("soft", kind, name, [*baseline, *measured], names)
                    or soft_check(
                        _what(kind, name), _times(baseline, kind, name), _times(measured, kind, name), limits.soft,
                        limits.floor, exact=exact, band_ns=0 if band is None else _reach(band, kind, name),
                        fail_within_band=fail_within_band,
                    )
                )  # fmt: skip
            if limits.hard is not None:
                checks.append(
                    _unknown("hard", kind, name, measured, names)
                    or limit_check("hard", _what(kind, name), _times(measured, kind, name), limits.hard, exact=exact)
                )
    return checks


def _unknown(
    limit: Literal["soft", "hard"], kind: UserspaceKind, name: str, needed: Sequence[Sample], names: Collection[str]
) -> Check | None:
    """Why a rule is not checked: a boot does not know the kind, or no boot that knows it has the name.

    :param needed: the boots whose figures the rule needs.
    :param names: what any boot executed.
    """
    if (missing := next((sample.boot for sample in needed if kind not in sample.userspace), None)) is not None:
        text = f"not checked: `{missing}` has no {_MISSING.get(kind, 'processes')}"
    elif name not in names:
        text = f"not checked: the measured boots have no such {kind.replace('_', ' ')}, and the baseline stores none"
    else:
        return None
    return Check(limit, _what(kind, name), "inconclusive", text)


def _times(side: Sequence[Sample], kind: UserspaceKind, name: str) -> list[int]:
    """What each boot spent on a name; where it did not execute it, nothing."""
    return [sample.userspace[kind].get(name, 0) for sample in side]


def _what(kind: UserspaceKind, name: str) -> str:
    return f"{kind.replace('_', ' ')} {name}"


def _check_name(kind: UserspaceKind, name: str, known: list[str], where: str) -> None:
    try:
        unknown_name(kind.replace("_", " "), name, known, where, listed=None)
    except BundleError as error:
        raise UsageError(error.message, where=where, hint=error.hint) from error


def _reach(band: Band, kind: UserspaceKind, name: str) -> int:
    """How far a figure moves by itself: of a program, all of its processes together."""
    rows: Mapping[str, int] = {key.name: width for key, width in band.widths(_LEVELS[kind]).items()}
    if kind is not UserspaceKind.PROCESS:
        return rows.get(name, 0)
    return sum(width for row, width in rows.items() if row == name or row.startswith(f"{name} "))
