"""Sizes of memory as a person writes them."""

from __future__ import annotations

import re

from firstlight.errors import UsageError

_UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LARGEST = 1 << 46
"""Bytes; an emulated processor addresses no more."""


def parse_size(text: str, *, option: str = "--memory") -> int:
    """Read a size in bytes from `512M`, `2G`, `1.5G`; the units are powers of 1024. A bare number is MiB, as for QEMU.

    :param option: the option that the text was given to, for the message.
    :raises UsageError: when it is no size.

    >>> parse_size("512M"), parse_size("1.5g"), parse_size("2GiB")
    (536870912, 1610612736, 2147483648)
    >>> parse_size("512"), parse_size("536870912B")
    (536870912, 536870912)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*(?:([KMGT])(?:i?B)?|(B))?\s*", text, re.IGNORECASE | re.ASCII)
    size = int(float(match[1]) * _UNITS[(match[2] or match[3] or "M").upper()]) if match else 0
    if match and size > _LARGEST and not (match[2] or match[3]):
        raise UsageError(
            f"`{text}` is too much: a bare number is MiB, as for QEMU", where=option, hint=f"`{text}B` is bytes"
        )
    if size <= 0:
        raise UsageError(f"`{text}` is no size", where=option, hint="write for example `512M` or `2G`")
    return size


def format_size(size: int) -> str:
    """Write a size in bytes for a person.

    >>> format_size(536870912), format_size(1500)
    ('512 MiB', '1.5 KiB')
    """
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if value == int(value) else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
