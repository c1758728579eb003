"""Whether a booted system works."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.advise.health.result import Health
from firstlight.bundle.boot import Boot
from firstlight.errors import UsageError

__all__ = ["Health", "health"]


def health(boot: str | Path | Boot, baseline: str | Path | Boot | None = None, expected: Sequence[str] = ()) -> Health:
    """Check that a booted system works: devices, mounts, units, clocks, files, protections, ….

    :param baseline: a boot of the same system that is known to work. Many checks need it, and are unknown without it.
    :param expected: differences that do not fail a check, as patterns of `CHECK SUBJECT`: `HC-DEV device.pnp/*`.
    :raises UsageError: when a pattern names no check.
    :raises BundleError: when a boot cannot be read.

    >>> import firstlight
    >>> firstlight.health(bundle, bundle).failed
    []
    """
    from firstlight.advise.health.check_id import difference_pattern
    from firstlight.advise.health.health import check_health
    from firstlight.bundle.open import open

    try:
        for pattern in expected:
            difference_pattern(pattern)
    except ValueError as error:
        raise UsageError(str(error), where="expected differences", hint="such as `HC-DEV device.pnp/*`") from error
    opened = boot if isinstance(boot, Boot) else open(boot)
    if baseline is None or isinstance(baseline, Boot):
        return check_health(opened, baseline, expected)
    return check_health(opened, open(baseline), expected)
