"""Figures as continuous integration takes them: decimal, exact, the same text for the same figure."""

from __future__ import annotations

from firstlight.gate.bridge import Bridge
from firstlight.quantities import signed_time


def bridge_text(bridge: Bridge) -> str:
    """Why the rules and the tables of boots with noise have different figures.

    >>> bridge_text(Bridge(9_000_000, 7_500_000, -1_500_000)).rpartition("; ")[2]
    'bridge -1.500 ms'
    """
    if bridge.headline_ns is None or bridge.bridge_ns is None:
        return f"Rules have medians; the tables are means and add up to {signed_time(bridge.mean_ns)}"
    return (
        f"Rules have medians and the Hodges-Lehmann change, of the total {signed_time(bridge.headline_ns)}; the tables "
        f"are means and add up to {signed_time(bridge.mean_ns)}; bridge {signed_time(bridge.bridge_ns)}"
    )


def seconds(ns: int) -> str:
    """Nanoseconds as seconds without any rounding; tools that compare texts see the same for the same.

    >>> seconds(1_568_411_682), seconds(-5), seconds(0)
    ('1.568411682', '-0.000000005', '0.000000000')
    """
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 10**9}.{abs(ns) % 10**9:09d}"


def percent_text(value: float | None) -> str:
    """A change in percent.

    >>> percent_text(0.412), percent_text(-0.00004), percent_text(0.0), percent_text(None)
    ('+0.41 %', '-0.00004 %', '0 %', '-')
    """
    if value is None:
        return "-"
    if value == 0:
        return "0 %"
    return f"{value:+.2f} %" if abs(value) >= 0.01 else f"{value:+.1g} %" if abs(value) >= 1e-4 else f"{value:+.5f} %"
