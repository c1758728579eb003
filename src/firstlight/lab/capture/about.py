"""What a capture states of itself: an import turns it into facts of the boot."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from firstlight.lab.capture.self_test import StampError


def about_capture(
    source: str, baud: int | None, priority: int | None, error: StampError | None, *, awake: bool
) -> dict[str, object]:
    """The settings of a capture.

    :param source: the console's name.
    :param baud: its rate, in bits per second.
    :param priority: the reader's real-time priority.
    :param error: the measured error of stamps.
    :param awake: whether the processors of this machine are kept awake.

    >>> about_capture("-", None, 49, None, awake=False)["priority"]
    'SCHED_FIFO 49'
    """
    return {
        "source": source,
        "baud": baud,
        "clock": "CLOCK_MONOTONIC_RAW",
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "priority": "normal" if priority is None else f"SCHED_FIFO {priority}",
        "processors": "awake" if awake else None,
        **stamp_settings(error),
        "latency_timer_ms": _latency_timer(source),
    }


def stamp_settings(error: StampError | None) -> dict[str, object]:
    """The settings that state the measured error of stamps; nothing where it is not known."""
    return {} if error is None else {"stamp_error_p99_ns": error.p99_ns, "stamp_error_max_ns": error.max_ns}


def _latency_timer(port: str) -> str | None:
    """The latency timer of an FTDI adapter, in milliseconds."""
    name = Path(port).resolve().name
    try:
        return Path("/sys/bus/usb-serial/devices", name, "latency_timer").read_text().strip()
    except OSError:
        return None
