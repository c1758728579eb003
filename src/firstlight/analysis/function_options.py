"""What the user may choose about a table of functions."""

from __future__ import annotations

from typing import Literal

Unit = Literal["time", "instructions"]
"""Nanoseconds of the boot's clock, or instructions."""

Order = Literal["self", "total", "count"]
"""What rows are ordered by, the largest first."""
