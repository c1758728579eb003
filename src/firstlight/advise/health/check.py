"""What a health check is: it finds differences, or says what it lacks evidence of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from firstlight.advise.health.check_id import CheckId
from firstlight.advise.health.evidence import HealthEvidence
from firstlight.advise.health.result import HealthCheck, HealthDifference, HealthOutcome, check_of

_T = TypeVar("_T")
_Facts = dict[str, str]

Found = tuple[Sequence[HealthDifference], str]
"""The differences, and what was checked."""
Check = Callable[[HealthEvidence, HealthEvidence | None, Sequence[str]], HealthCheck]
"""Takes the evidence of a boot and of its baseline, and the expected differences."""


class NoEvidenceError(Exception):
    """A check has no evidence; the message says of what."""


def check(id: CheckId, title: str) -> Callable[[Callable[[HealthEvidence, HealthEvidence | None], Found]], Check]:
    """Make a check of a function that finds differences; it is unknown where the function has no evidence.

    >>> import firstlight
    >>> seen = HealthEvidence(firstlight.open(bundle))
    >>> check(CheckId.BOOT, "mode")(lambda boot, baseline: ([], boot.manifest.mode))(seen, None, ()).outcome.value
    'pass'
    """

    def made(find: Callable[[HealthEvidence, HealthEvidence | None], Found]) -> Check:
        @wraps(find)
        def checked(boot: HealthEvidence, baseline: HealthEvidence | None, expected: Sequence[str]) -> HealthCheck:
            try:
                differences, detail = find(boot, baseline)
            except NoEvidenceError as error:
                return HealthCheck(id, title, HealthOutcome.UNKNOWN, str(error))
            return check_of(id, title, differences, detail, expected)

        return checked

    return made


def both(
    read: Callable[[HealthEvidence], _T | None],
    boot: HealthEvidence,
    baseline: HealthEvidence | None,
    lacks: str,
    needed: str,
) -> tuple[_T, _T]:
    """What the evidence of a boot and that of its baseline have of one thing.

    :param read: gives it; nothing where an evidence lacks it.
    :param lacks: what is said of a boot without it, behind `the evidence`.
    :param needed: what is said of a baseline without it, or of none, behind `needs a baseline`.
    :raises NoEvidenceError: when one of them lacks it.

    >>> import firstlight
    >>> seen = HealthEvidence(firstlight.open(bundle))
    >>> both(lambda each: each.manifest.mode.value, seen, seen, "has no mode", "with a mode")
    ('exact', 'exact')
    """
    if (now := read(boot)) is None:
        raise NoEvidenceError(f"the evidence {lacks}")
    if baseline is None or (before := read(baseline)) is None:
        raise NoEvidenceError(f"needs a baseline {needed}")
    return now, before


def both_reported(boot: HealthEvidence, baseline: HealthEvidence | None) -> tuple[HealthEvidence, HealthEvidence]:
    """The evidence of a boot and of its baseline, each with a report of the guest.

    :raises NoEvidenceError: when one of them has none.
    """
    lacks, needed = "has no report of the guest", "with a report of the guest"
    return both(lambda each: each if each.reported else None, boot, baseline, lacks, needed)


def both_listed(boot: HealthEvidence, baseline: HealthEvidence | None, prefix: str, what: str) -> tuple[_Facts, _Facts]:
    """The facts of a group, of a boot and of its baseline.

    :raises NoEvidenceError: when one of them has none.
    """
    lacks, needed = f"lists no {what}", f"that lists {what}"
    return both(lambda each: each.group(prefix) or None, boot, baseline, lacks, needed)
