"""A record in the making: what a console delivers, and lines that know which message of which boot they show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """What is printed at some time: a message of the kernel, or a line of a boot loader or of userspace."""

    text: str
    stamp_us: int | None
    host_us: int = 0
    """By the host's clock, since the kernel's clock began."""
    message: int | None = None
    """Its number among the messages of the boot; none where it does not belong to the kernel's boot."""
    boot: int = 0
    is_kernel: bool = True
    """Whether it is in the kernel's ring."""


@dataclass(frozen=True)
class Line:
    """A line of a record."""

    text: bytes
    message: int | None = None
    """The message of the boot that the line shows; none for any other line."""
    boot: int = 0
    end: bytes = b"\n"
    host_us: int = 0
    """By the host's clock, as of the event."""
    is_intact: bool = True
    """Whether the line still shows its message as it was."""


def as_bytes(lines: Iterable[Line]) -> bytes:
    r"""The record's content.

    >>> as_bytes([Line(b"one", 0), Line(b"two", 1, end=b"\r\n")])
    b'one\ntwo\r\n'
    """
    return b"".join(line.text + line.end for line in lines)
