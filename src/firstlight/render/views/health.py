"""Health checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firstlight.advise.health.result import Health, HealthCheck, HealthDifference, HealthOutcome
from firstlight.bundle.boot import Boot
from firstlight.escape import printable
from firstlight.render.model.report import BLANK, Block, Line
from firstlight.render.model.table import Column, table

_STYLES = {HealthOutcome.FAIL: "bold red", HealthOutcome.CHANGED: "yellow"}


def health_report(boot: Boot, health: Health, most: int | None = 3) -> Iterator[Block]:
    """Every check, what differs, and the verdict.

    :param most: how many differences of each check are shown.
    """
    against = "without a baseline" if health.baseline is None else f"against `{printable(health.baseline, 200)}`"
    yield Line(f"Health of `{printable(str(boot.directory), 200)}`, {against}", "bold", wrap=False)
    yield BLANK
    yield table(
        "",
        [
            Column("Check", value="id", style="cyan", fixed=True),
            Column("Result", value=lambda check: check.outcome.value, name="outcome", style="bold", fixed=True),
            Column("What", value="title", fixed=True),
            Column("Detail", value=lambda check: printable(check.detail, 200), wide=60),
        ],
        health.checks,
    )
    for check in health.checks:
        if check.differences:
            yield from _differences(check, most)
    yield BLANK
    yield _verdict(health)


def _differences(check: HealthCheck, most: int | None) -> Iterator[Block]:
    yield BLANK
    yield Line(f"{check.id} {check.title}: {check.outcome}", _STYLES.get(check.outcome, ""))
    shown = check.differences if most is None else check.differences[:most]
    for each in shown:
        yield Line(printable(each.text, 300) + (" (expected)" if each.expected else ""), head="  ", indent=4)
    if more := len(check.differences) - len(shown):
        yield Line(f"and {more} more (`--all` shows them)", "dim", head="  ")


def _verdict(health: Health) -> Line:
    unknown = f"; {len(health.unknown)} unknown" if health.unknown else ""
    known = len(health.checks) - len(health.unknown)
    if not known:
        return Line(f"Unknown: none of {len(health.checks)} checks has evidence.", "yellow")
    if health.healthy:
        return Line(f"Healthy: none of {known} checks failed{unknown}.", "bold green")
    names = ", ".join(check.id for check in health.failed)
    return Line(f"Unhealthy: {len(health.failed)} of {known} checks failed ({names}){unknown}.", "bold red")


def health_data(health: Health) -> dict[str, Any]:
    """The same as data."""
    return {
        "healthy": health.healthy,
        "baseline": health.baseline,
        "checks": [
            {
                "id": check.id,
                "title": check.title,
                "outcome": check.outcome.value,
                "detail": check.detail,
                "differences": [_difference(each) for each in check.differences],
            }
            for check in health.checks
        ],
    }


def _difference(each: HealthDifference) -> dict[str, Any]:
    return {
        "subject": each.subject,
        "before": each.before,
        "after": each.after,
        "expected": each.expected,
        "unit_bytes": each.unit_bytes,
    }
