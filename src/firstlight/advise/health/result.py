"""Results of health checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from firstlight.advise.health.check_id import CheckId
from firstlight.quantities import size_text


class HealthOutcome(StrEnum):
    """The outcome of a check."""

    PASS = "pass"
    CHANGED = "changed"
    """All differences are stated by the remedy."""
    FAIL = "fail"
    UNKNOWN = "unknown"
    """There is no evidence."""


@dataclass(frozen=True)
class HealthDifference:
    """A difference from the baseline, or from a healthy system."""

    subject: str
    """What differs: `device.pci/0000:00:1f.2`, a unit, a message."""
    before: str | None
    """The value in the baseline; none where it has none."""
    after: str | None
    expected: bool = False
    """Whether a remedy states it."""
    unit_bytes: int | None = None
    """The values are sizes in units of so many bytes: 1, or 512 for sectors."""

    @property
    def text(self) -> str:
        """In one line.

        >>> HealthDifference("mount./data", "/dev/vdb ext4 rw", None).text
        'mount./data: gone (was /dev/vdb ext4 rw)'
        >>> HealthDifference("cpu.count", "4", "1").text, HealthDifference("usb 1-1: device timeout", None, "").text
        ('cpu.count: 1 (was 4)', 'usb 1-1: device timeout')
        >>> HealthDifference("block.vda", "8192", "2048", unit_bytes=512).text
        'block.vda: 1 MiB (was 4 MiB)'
        """
        before, after = self._texts()
        if after is None:
            return f"{self.subject}: gone" + (f" (was {before})" if before else "")
        if before is None:
            return self.subject + (f": {after}" if after else "")
        return f"{self.subject}: {after or 'none'} (was {before or 'none'})"

    def _texts(self) -> tuple[str | None, str | None]:
        """Both values as people read them."""
        sizes = [self._size(value) for value in (self.before, self.after)]
        before, after = (None if size is None else size_text(size) for size in sizes)
        if before == after:
            # What differs by less than the text shows is given to the byte.
            before, after = (None if size is None else f"{size:,} bytes" for size in sizes)
        return (before or self.before, after or self.after)

    def _size(self, value: str | None) -> int | None:
        known = self.unit_bytes is not None and value is not None and value.isascii() and value.isdecimal()
        return int(value or 0) * (self.unit_bytes or 1) if known else None


@dataclass(frozen=True)
class HealthCheck:
    """One check and its result."""

    id: CheckId
    title: str
    outcome: HealthOutcome
    detail: str
    """What was checked, or why it is unknown."""
    differences: tuple[HealthDifference, ...] = ()


@dataclass(frozen=True)
class Health:
    """All checks of a boot."""

    checks: tuple[HealthCheck, ...]
    baseline: str | None = None
    """The boot it was compared with."""

    @property
    def failed(self) -> list[HealthCheck]:
        """The failed checks."""
        return [check for check in self.checks if check.outcome is HealthOutcome.FAIL]

    @property
    def unknown(self) -> list[HealthCheck]:
        """The checks without evidence."""
        return [check for check in self.checks if check.outcome is HealthOutcome.UNKNOWN]

    @property
    def healthy(self) -> bool:
        """Whether no check failed. A check without evidence does not fail; it is unknown."""
        return not self.failed


def check_of(
    id: CheckId,
    title: str,
    differences: Sequence[HealthDifference],
    detail: str,
    expected: Sequence[str] = (),
) -> HealthCheck:
    """A check with evidence: it fails with any unexpected difference.

    :param expected: patterns of `CHECK SUBJECT`, as of the shell: `HC-DEV device.platform/pcspkr`.

    >>> less = [HealthDifference("memory.total_bytes", "2", "1")]
    >>> check_of(CheckId.MEM, "memory", less, "").outcome.value
    'fail'
    >>> check_of(CheckId.MEM, "memory", less, "", ["HC-MEM *"]).outcome.value
    'changed'
    """
    seen = tuple(replace(each, expected=is_expected(id, each.subject, expected)) for each in differences)
    outcome = HealthOutcome.PASS
    if seen:
        outcome = HealthOutcome.CHANGED if all(each.expected for each in seen) else HealthOutcome.FAIL
    return HealthCheck(id, title, outcome, detail, seen)


def is_expected(id: CheckId, subject: str, expected: Sequence[str]) -> bool:
    """Whether one of the patterns of `CHECK SUBJECT` matches a difference."""
    return any(fnmatchcase(f"{id} {subject}", pattern) for pattern in expected)
