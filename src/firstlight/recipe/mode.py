"""How a boot is recorded."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class RecordMode(StrEnum):
    """How a boot is recorded."""

    EXACT = "exact"
    """On the virtual clock of an emulator: equal inputs give equal times."""
    LIVE = "live"
    """On the host's clock."""
    IMPORTED = "imported"
    """By somebody else: read from logs."""


PlanMode = Literal[RecordMode.EXACT, RecordMode.LIVE]
"""The modes in which an experiment can boot."""
