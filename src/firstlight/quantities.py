"""Figures as a person reads them."""

from __future__ import annotations

_STEPS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))


def time_text(ns: int | None) -> str:
    """Nanoseconds in the unit that leaves at most four digits before the point; ``-`` where unknown.

    >>> time_text(829_882_107), time_text(1_234_567_890), time_text(12), time_text(None)
    ('829.882 ms', '1.234568 s', '12 ns', '-')
    """
    if ns is None:
        return "-"
    for size, unit in _STEPS:
        if abs(ns) >= size:
            return f"{ns / size:.{6 if unit == 's' else 3}f} {unit}"
    return f"{ns} ns"


def count_text(count: int | None) -> str:
    """A whole number with its thousands apart; ``-`` where unknown.

    >>> count_text(705881580), count_text(None)
    ('705,881,580', '-')
    """
    return "-" if count is None else f"{count:,}"


def share(part: int | None, whole: int | None) -> float | None:
    """A part of a whole, from 0 to 1; none where either is unknown or the whole is nothing.

    >>> share(1, 4), share(1, 0), share(None, 4)
    (0.25, None, None)
    """
    return None if part is None or not whole else part / whole


def share_text(part: int | None, whole: int | None) -> str:
    """A part of a whole in percent.

    >>> share_text(1, 3), share_text(1, 100_000), share_text(0, 7), share_text(1, None)
    ('33.3 %', '<0.1 %', '0.0 %', '-')
    """
    value = share(part, whole)
    if value is None:
        return "-"
    if 0 < value < 0.0005:
        return "<0.1 %"
    return f"{value:.1%}".replace("%", " %")


def small_share_text(value: float) -> str:
    """A share from 0 to 1 in percent, to a hundredth; what is less than that is neither nothing nor all.

    >>> small_share_text(0.0), small_share_text(0.00009), small_share_text(0.000123), small_share_text(0.25)
    ('0 %', '<0.01 %', '0.01 %', '25 %')
    >>> small_share_text(1 / 3), small_share_text(0.9996), small_share_text(0.99999), small_share_text(1.0)
    ('33.33 %', '99.96 %', '>99.99 %', '100 %')
    """
    if 0 < value < 0.0001:
        return "<0.01 %"
    if 0.9999 < value < 1:
        return ">99.99 %"
    return f"{value * 100:.2f}".rstrip("0").rstrip(".") + " %"


def signed_time(ns: int | None) -> str:
    """A change of time with its sign; ``-`` where unknown.

    >>> signed_time(-1_500_000), signed_time(12), signed_time(0)
    ('-1.500 ms', '+12 ns', '0 ns')
    """
    return "-" if ns is None else f"{'+' if ns > 0 else ''}{time_text(ns)}"


def signed_count(count: int | None) -> str:
    """A change of a whole number with its sign; ``-`` where unknown.

    >>> signed_count(-20890), signed_count(3), signed_count(0)
    ('-20,890', '+3', '0')
    """
    return "-" if count is None else f"{count:+,}" if count else "0"


def signed_share(change: int | None, whole: int | None) -> str:
    """A change in percent of a whole, to a thousandth of a percent.

    >>> signed_share(-5, 10_000), signed_share(1, 100_000_000), signed_share(0, 5), signed_share(1, 0)
    ('-0.050 %', '+<0.001 %', '0.000 %', '-')
    """
    value = share(change, whole)
    if value is None:
        return "-"
    if 0 < abs(value) < 0.000005:
        return f"{'+' if value > 0 else '-'}<0.001 %"
    return f"{value:{'+' if value else ''}.3%}".replace("%", " %")


def signed_half(doubled: int) -> str:
    """Half of a whole number of nanoseconds, with its sign.

    >>> signed_half(3), signed_half(-2_000_001), signed_half(4)
    ('+1.5 ns', '-1.000 ms', '+2 ns')
    """
    if doubled % 2 and abs(doubled) < 2_000:
        return f"{doubled / 2:+.1f} ns"
    # A half is below what the larger units show.
    return signed_time(doubled // 2 if doubled > 0 else -(-doubled // 2))
