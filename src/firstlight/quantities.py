"""Quantities: how times, counts, sizes and shares are written, and how durations and sizes are read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from firstlight.errors import UsageError

Kind = Literal[
    "text", "time", "change", "count", "count_change", "bytes", "share", "percent", "share_change", "ratio", "number",
    "seconds", "picture",
]  # fmt: skip
"""What a value is: `time` and `change` (signed) are nanoseconds, `count` and `count_change` (signed) whole numbers,
`share` lies from 0 to 1, `percent` and, to a thousandth of a percent, `share_change` are signed relative changes (0.08
is +8 %), `ratio` is a factor, `seconds` a plain number of seconds. A `picture` is drawn, in a terminal only."""

Figure = int | float | Fraction

_STEPS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))
_DURATIONS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_DURATION = re.compile(r"([+-]?)(\d{1,12}(?:\.\d{1,9})?)\s*(ns|us|µs|ms|s)")
_SIZES = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LARGEST_SIZE = 1 << 46
"""Bytes; an emulated processor addresses no more."""


def quantity_text(value: Figure | None, kind: Kind) -> str:
    """A value as people read it; ``-`` where unknown.

    >>> quantity_text(1_500_000, "time"), quantity_text(-250, "change"), quantity_text(Fraction(7, 2), "time")
    ('1.500 ms', '-250 ns', '4 ns')
    >>> quantity_text(4_096, "count"), quantity_text(3, "count_change"), quantity_text(4_096, "bytes")
    ('4,096', '+3', '4 KiB')
    >>> quantity_text(0.5, "share"), quantity_text(0.08, "percent"), quantity_text(-0.0005, "share_change")
    ('50.0 %', '+8.0 %', '-0.050 %')
    >>> quantity_text(1.97, "ratio"), quantity_text(25.86, "seconds"), quantity_text(None, "time")
    ('1.97', '25.86', '-')
    """
    if value is None:
        return "-"
    match kind:
        case "time":
            return time_text(round(value))
        case "change":
            return signed_time(round(value))
        case "count_change":
            return signed_count(round(value))
        case "bytes":
            return size_text(value)
        case "share":
            return ratio_text(float(value))
        case "percent":
            return _percent(f"{float(value):+.1%}")
        case "share_change":
            return signed_ratio(float(value))
        case "ratio" | "number" | "seconds":
            return f"{value:,}" if isinstance(value, int) else _number_text(float(value))
        case _:
            return count_text(value) if isinstance(value, int) else f"{float(value):,.1f}"


def _percent(text: str) -> str:
    return text.replace("%", " %")


def _number_text(value: float) -> str:
    """A number with the digits that it was given, and no more than six of a fraction."""
    text = f"{value:,.6f}".rstrip("0")
    return text + "00"[: max(0, 2 - len(text.partition(".")[2]))]


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


def host_time_text(seconds: float) -> str:
    """A time of the host in seconds, minutes or hours, rounded up.

    >>> host_time_text(8.2), host_time_text(130), host_time_text(7500)
    ('9 s', '2 min 10 s', '2 h 5 min')
    """
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def count_text(count: int | None) -> str:
    """A whole number with its thousands apart; ``-`` where unknown.

    >>> count_text(705881580), count_text(None)
    ('705,881,580', '-')
    """
    return "-" if count is None else f"{count:,}"


def counted(number: int, what: str, several: str | None = None) -> str:
    """A number of things.

    :param several: what several are called; by default with an `s`.

    >>> counted(1, "span"), counted(1200, "span"), counted(2, "entry", "entries")
    ('1 span', '1,200 spans', '2 entries')
    """
    return f"{number:,} {what if number == 1 else several or what + 's'}"


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
    return "-" if value is None else ratio_text(value)


def ratio_text(value: float) -> str:
    """A share from 0 to 1 in percent; what is less than a tenth is not nothing.

    >>> ratio_text(1 / 3), ratio_text(0.00001), ratio_text(0.0)
    ('33.3 %', '<0.1 %', '0.0 %')
    """
    return "<0.1 %" if 0 < value < 0.0005 else _percent(f"{value:.1%}")


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
    return "-" if value is None else signed_ratio(value)


def signed_ratio(value: float) -> str:
    """A relative change in percent, to a thousandth of a percent.

    >>> signed_ratio(-0.0005), signed_ratio(0.0)
    ('-0.050 %', '0.000 %')
    """
    if 0 < abs(value) < 0.000005:
        return f"{'+' if value > 0 else '-'}<0.001 %"
    return _percent(f"{value:+.3%}") if value else "0.000 %"


def percent_text(value: float | None) -> str:
    """A change that is in percent already, to a hundredth; what is less has one digit that counts.

    >>> percent_text(0.412), percent_text(-0.00004), percent_text(0.0), percent_text(None)
    ('+0.41 %', '-0.00004 %', '0 %', '-')
    >>> percent_text(1 / 1_534_728_384 * 100), percent_text(-2e-16)
    ('+0.00000007 %', '0 %')
    """
    if value is None:
        return "-"
    # One nanosecond of a day is more: what is less is of the arithmetic.
    if abs(value) < 1e-12:
        return "0 %"
    return f"{value:+.2f} %" if abs(value) >= 0.01 else f"{Decimal(f'{value:.0e}'):+f} %"


def exact_seconds(ns: int) -> str:
    """Nanoseconds as seconds without any rounding; tools that compare texts see the same for the same.

    >>> exact_seconds(1_568_411_682), exact_seconds(-5), exact_seconds(0)
    ('1.568411682', '-0.000000005', '0.000000000')
    """
    return f"{'-' if ns < 0 else ''}{abs(ns) // 10**9}.{abs(ns) % 10**9:09d}"


def signed_ns(ns: int) -> str:
    """A change in whole nanoseconds.

    >>> signed_ns(1_500_000), signed_ns(0)
    ('+1,500,000 ns', '0 ns')
    """
    return f"{ns:+,} ns" if ns else "0 ns"


def signed_half(doubled: int) -> str:
    """Half of a whole number of nanoseconds, with its sign.

    >>> signed_half(3), signed_half(-2_000_001), signed_half(4)
    ('+1.5 ns', '-1.000 ms', '+2 ns')
    """
    if doubled % 2 and abs(doubled) < 2_000:
        return f"{doubled / 2:+.1f} ns"
    # A half is below what the larger units show.
    return signed_time(doubled // 2 if doubled > 0 else -(-doubled // 2))


def duration_ns(text: str, where: str) -> int:
    """A duration such as `-100ms`, `1.5s` or `250us` in nanoseconds.

    :param where: the option that it was given to, for the message.
    :raises UsageError: when it is none.

    >>> duration_ns("-1.5ms", "--what-if"), duration_ns("2s", "--what-if")
    (-1500000, 2000000000)
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"`{text}` is not a duration", where=where, hint="write a number and ns, us, ms or s: `-100ms`"
        )
    sign, figure, unit = match.groups()
    whole, _, part = figure.partition(".")
    scaled = int(whole) * _DURATIONS[unit] + (int(part) * _DURATIONS[unit] // int("1" + "0" * len(part)) if part else 0)
    return -scaled if sign == "-" else scaled


def parse_size(text: str, *, option: str = "--memory") -> int:
    """Read a size in bytes from `512M`, `2G`, `1.5G`; the units are powers of 1024. A bare number is MiB, as for QEMU.

    :param option: the option that the text was given to, for the message.
    :raises UsageError: when it is not a size.

    >>> parse_size("512M"), parse_size("1.5g"), parse_size("2GiB")
    (536870912, 1610612736, 2147483648)
    >>> parse_size("512"), parse_size("536870912B")
    (536870912, 536870912)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*(?:([KMGT])(?:i?B)?|(B))?\s*", text, re.IGNORECASE | re.ASCII)
    size = int(float(match[1]) * _SIZES[(match[2] or match[3] or "M").upper()]) if match else 0
    if match and size > _LARGEST_SIZE and not (match[2] or match[3]):
        raise UsageError(
            f"`{text}` is too much: a bare number is MiB, as for QEMU", where=option, hint=f"`{text}B` is bytes"
        )
    if size <= 0:
        raise UsageError(f"`{text}` is not a size", where=option, hint="write for example `512M` or `2G`")
    return size


def size_text(size: Figure) -> str:
    """A size in bytes.

    >>> size_text(536870912), size_text(1500), size_text(0)
    ('512 MiB', '1.5 KiB', '0 B')
    """
    value, units = float(size), ["TiB", "GiB", "MiB", "KiB"]
    unit = "B"
    while units and value >= 1024:
        value, unit = value / 1024, units.pop()
    return f"{value:.0f} {unit}" if value == int(value) else f"{value:.1f} {unit}"


def joined(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first names, and how many more there are.

    >>> joined(["a", "b", "c"], 2), joined(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return separator.join(names[:most]) + more
