"""Captures of `firstlight capture` in which there is no boot: what to say of them."""

from __future__ import annotations

import re
from pathlib import Path

_MAGIC = b"firstlight capture 1\n"
_DATA = re.compile(rb"^data \d+ [1-9]", re.MULTILINE)
_MOST_BYTES = 1 << 20


def why_no_boot(path: Path) -> tuple[str, str] | None:
    """Why a capture has no boot, and what to do; none where the file is not a capture.

    :raises OSError: when it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_MOST_BYTES)
    if not head.startswith(_MAGIC):
        return None
    if _DATA.search(head) is None:
        return "the capture ended before the board printed a byte", "check the cable and the power, and capture again"
    return (
        "the board printed no line that is known from boots of Linux",
        "it hung before the kernel, or the baud rate is wrong; the file contains all bytes as received",
    )
