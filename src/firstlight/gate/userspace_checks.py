"""The rules about what user mode executed: processes by program, services, system calls, packages, functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
        for name, limits in named.items():
            if limits.soft is not None and None not in known:
                _check_name(kind, name, list(names), where)
        for name in dict.fromkeys([*named, *(names if every != GateLimits() else ())]):
            limits = named.get(name, every)
            if (missing := next((s.boot for s in (*baseline, *measured) if kind not in s.userspace), None)) is not None:
                checks.append(Check("soft", _what(kind, name), "inconclusive",
                                    f"not checked: `{missing}` has no {_MISSING.get(kind, 'processes')}"))  # fmt: skip
                continue
            before, after = ([s.userspace[kind].get(name, 0) for s in side] for side in (baseline, measured))
            reach = 0 if band is None else _reach(band, kind, name)
            checks += _checks(_what(kind, name), before, after, limits, reach, exact, fail_within_band)
    return checks


def _checks(
    what: str, before: Sequence[int], after: Sequence[int], limits: GateLimits, band_ns: int, exact: bool, within: bool
) -> Iterator[Check]:
    if limits.soft is not None:
        yield soft_check(what, before, after, limits.soft, limits.floor, exact=exact, band_ns=band_ns,
                         fail_within_band=within)  # fmt: skip
    if limits.hard is not None:
        yield limit_check("hard", what, after, limits.hard, exact=exact)


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
